// The paper's attention, on its own: eight heads over a sentence of five vectors.
#include <attend/nn/attention.h>
#include <attend/nn/masks.h>

#include <iostream>

int main() {
  torch::manual_seed(1);
  attend::nn::MultiHeadAttention attention(attend::StackConfig{});
  const torch::Tensor x_BTD = torch::randn({1, 5, 512});
  torch::Tensor weights_BHTT;
  const torch::Tensor output_BTD =
      attention->forward(x_BTD, x_BTD, attend::nn::CausalMask(5, x_BTD.options()), &weights_BHTT);
  std::cout << output_BTD.sizes() << ' ' << weights_BHTT.sizes() << '\n';
  const bool rows_sum_to_1 = torch::allclose(weights_BHTT.sum(-1), torch::ones({1, 8, 5}));
  const bool causal = weights_BHTT[0][0][0][4].item<float>() == 0;
  return rows_sum_to_1 && causal ? 0 : 1;
}
