// Writes what small models compute, for the parity tests beside it to check against NumPy, PyTorch,
// BERT and GPT-2.
// usage: nn_cases FOLDER. For each model of test_models.h: NAME.json (its configuration) and
// NAME.safetensors (ids, weights, activations, attention weights, logits, gradients, the first ten
// losses); loss and gradients in f32 and, under f64., in f64, in which the first losses are, too.
// The language model is a model directory too.

#include <torch/nn/functional/loss.h>
#include <torch/optim/adam.h>

#include <cstdio>
#include <filesystem>
#include <functional>

#include "attend/nn/loss.h"
#include "attend/nn/schedule.h"
#include "attend/nn/torch.h"
#include "attend/nn/transformer.h"
#include "base/files.h"
#include "base/json.h"
#include "model/config_fields.h"
#include "model/model_directory.h"
#include "model/safetensors.h"
#include "nn/test_models.h"

namespace attend::nn {
namespace {

constexpr double kSmoothing = 0.1;

// Tensors by name, written to one file.
class CaseFile {
 public:
  void Add(const std::string& name, const torch::Tensor& tensor) {
    if (!tensor.defined()) return;
    const bool ids = tensor.scalar_type() == torch::kInt64;
    const torch::Tensor stored =
        tensor.detach().to(ids ? torch::kInt64 : torch::kFloat32).clone().contiguous();
    kept_.push_back(stored);
    table_.Add({name, ids ? TensorType::kI64 : TensorType::kF32, stored.sizes().vec(),
                static_cast<const std::byte*>(stored.data_ptr())});
  }
  void Add(const std::string& name, const StackTrace& trace) {
    Add(name + ".embedded", trace.embedded_BTD);
    for (size_t i = 0; i < trace.layers.size(); ++i) {
      const std::string layer = name + "." + std::to_string(i);
      Add(layer + ".self_attention", trace.layers[i].self_attention_BTD);
      Add(layer + ".cross_attention", trace.layers[i].cross_attention_BTD);
      Add(layer + ".feed_forward", trace.layers[i].feed_forward_BTD);
      Add(layer + ".self_weights", trace.layers[i].self_weights_BHTT);
      Add(layer + ".cross_weights", trace.layers[i].cross_weights_BHTS);
    }
    Add(name + ".output", trace.output_BTD);
  }
  void Save(const std::filesystem::path& path) const { SaveSafetensors(table_, path); }

 private:
  std::vector<torch::Tensor> kept_;
  TensorTable table_;
};

torch::Tensor Loss(Transformer& model, const torch::Tensor& source, const torch::Tensor& target) {
  LabelSmoothingLoss loss(kSmoothing, model->config().special_ids.pad);
  const torch::Tensor hidden = model->Hidden(source, target.slice(1, 0, -1));
  const LossSums sums =
      loss->FromHidden(hidden, model->OutputWeight(), model->OutputBias(), target.slice(1, 1));
  return sums.loss / sums.tokens;
}

using LossOf = std::function<torch::Tensor()>;

torch::Tensor FirstLosses(Transformer& model, const LossOf& loss_of) {
  constexpr int64_t kUpdates = 10, kWarmup = 40;
  torch::optim::Adam adam(model->parameters(),
                          torch::optim::AdamOptions().betas({0.9, 0.98}).eps(1e-9));
  std::vector<double> losses;
  for (int64_t step = 1; step <= kUpdates; ++step) {
    const double rate = NoamSchedule(step, model->config().last_stack().d_model, kWarmup);
    static_cast<torch::optim::AdamOptions&>(adam.param_groups()[0].options()).lr(rate);
    adam.zero_grad();
    const torch::Tensor loss = loss_of();
    loss.backward();
    adam.step();
    losses.push_back(loss.item<double>());
  }
  return torch::tensor(losses, torch::kFloat64);
}

// Loss and gradients in both precisions, then the first losses. Leaves other weights.
void AddTraining(Transformer& model, const LossOf& loss_of, CaseFile* file) {
  for (const bool f64 : {false, true}) {
    if (f64) model->to(torch::kFloat64);
    const std::string prefix = f64 ? "f64." : "";
    model->zero_grad();
    const torch::Tensor loss = loss_of();
    loss.backward();
    file->Add(prefix + "loss", loss);
    for (const auto& parameter : model->named_parameters())
      file->Add(prefix + "gradients." + parameter.key(), parameter.value().grad());
  }
  file->Add("first_losses", FirstLosses(model, loss_of));
}

// Norms and biases, those of distances too, away from 1 and 0, or mistakes in them would not show.
void Disturb(Transformer& model, CaseFile* file) {
  torch::manual_seed(2);
  const torch::NoGradGuard no_grad;
  for (const auto& parameter : model->named_parameters()) {
    if (parameter.value().dim() == 1 || parameter.key().ends_with("relative_bias.weight"))
      parameter.value().add_(torch::randn_like(parameter.value()), 0.2);
    file->Add("weights." + parameter.key(), parameter.value());
  }
}

void Save(const std::string& name, ModelConfig config, const CaseFile& file,
          const std::filesystem::path& folder) {
  file.Save(folder / (name + ".safetensors"));
  WriteFileSynced(folder / (name + ".json"), FieldsToJson(Fields(config)).dump(2));
}

// An encoder with a head, over sentences without padding: what it computes, and the gradients of
// the cross-entropy of row r's label r modulo the number of labels.
void WriteEncoderCase(const std::string& name, const ModelConfig& config,
                      const std::filesystem::path& folder) {
  CaseFile file;
  Transformer model(config, Dropout{0, 0}, 5);
  Disturb(model, &file);
  const PackedIds source = PackSentences(SmallIds(9, 1), 0, 3);
  file.Add("ids", source.ids_R);
  file.Add("offsets", source.offsets_B1);
  file.Add("hidden", model->PackedEncode(source));
  const auto logits = [&] {
    return model->Logits(model->Pool(model->PackedEncode(source), source));
  };
  const torch::Tensor first = logits();
  file.Add("logits", first);
  const torch::Tensor labels = torch::arange(first.size(0)).remainder(first.size(1));
  AddTraining(model, [&] { return torch::nn::functional::cross_entropy(logits(), labels); }, &file);
  Save(name, config, file, folder);
}

void WriteCase(const std::string& name, const ModelConfig& config,
               const std::filesystem::path& folder) {
  CaseFile file;
  Transformer model(config, Dropout{0, 0}, 5);
  const torch::Tensor source = SmallIds(9, 1);
  torch::Tensor target = SmallIds(8, 2);
  target.select(1, 0).fill_(config.special_ids.bos);
  source[1].zero_();  // an empty sentence: fully masked rows in both attentions
  file.Add("source", source);
  file.Add("target", target);
  Disturb(model, &file);
  Trace trace;
  if (config.decoder) {
    file.Add("logits", model(source, target.slice(1, 0, -1), &trace));
    AddTraining(model, [&] { return Loss(model, source, target); }, &file);
  } else {
    model->Encode(source, &trace.encoder);
  }
  if (config.encoder) file.Add("encoder", trace.encoder);
  if (config.decoder) file.Add("decoder", trace.decoder);
  Save(name, config, file, folder);
}

// As WriteCase, and a model directory NAME with the same weights.
void WriteLanguageModel(const std::string& name, const ModelConfig& config,
                        const std::filesystem::path& folder) {
  WriteCase(name, config, folder);
  CaseFile file;
  Transformer weights(config, Dropout{0, 0}, 5);
  Disturb(weights, &file);
  Model model;
  model.config = config;
  for (const auto& parameter : weights->named_parameters()) {
    model.tensors.Add({parameter.key(), TensorType::kF32, parameter.value().sizes().vec(),
                       static_cast<const std::byte*>(parameter.value().data_ptr())});
  }
  model.source_vocabulary = model.target_vocabulary =
      ReadFile(ATTEND_SOURCE_DIR "/tests/data/golden_language_model/vocab.spm");
  SaveModel(model, folder / name);
}

}  // namespace
}  // namespace attend::nn

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: nn_cases FOLDER\n");
    return 2;
  }
  torch::set_num_threads(1);
  std::map<std::string, attend::ModelConfig> models = attend::nn::SmallModels();
  models["tiny"] = attend::PresetConfig("tiny");
  models["tiny"].source_vocab_size = models["tiny"].target_vocab_size = 100;
  for (const auto& [name, config] : models) attend::nn::WriteCase(name, config, argv[1]);
  for (const auto& [name, config] : attend::nn::SmallEncoders())
    attend::nn::WriteEncoderCase(name, config, argv[1]);
  attend::nn::WriteLanguageModel("gpt", attend::nn::SmallGpt(), argv[1]);
  return 0;
}
