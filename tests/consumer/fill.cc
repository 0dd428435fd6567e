// Fills in what fits where [MASK] stands, and compares the vectors of two texts.
#include <attend/error.h>
#include <attend/text_encoder.h>

#include <iostream>
#include <numeric>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto encoder = attend::TextEncoder::Load(argv[1], {.threads = 1});
    std::vector<std::string> texts = {argv[2]};
    const attend::FilledText filled = encoder->Fill(texts, /*top=*/3)[0];
    for (const attend::FillingToken& token : filled.masks[0])
      std::cout << token.text << ' ' << token.probability << '\n';
    texts.push_back(filled.text);
    const auto vectors = encoder->Embed(texts, {.normalize = true});
    const auto &first = vectors[0].values_D, &second = vectors[1].values_D;
    const double cosine = std::inner_product(first.begin(), first.end(), second.begin(), 0.0);
    std::cout << filled.text << " (" << cosine << ")\n";
    return cosine <= 1.0001 ? 0 : 1;
  } catch (const attend::Error& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
