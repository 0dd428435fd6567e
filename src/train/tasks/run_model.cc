#include "train/tasks/run_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "base/excerpt.h"
#include "train/loop/parameters.h"

namespace attend {
namespace {

nn::Dropout DropoutOf(const OptimizationOptions& options) {
  return {options.dropout, options.dropout, options.attention_dropout, options.activation_dropout};
}

}  // namespace

void CheckShape(ModelConfig model) {
  int64_t last = std::max(
      {model.special_ids.pad, model.special_ids.unk, model.special_ids.bos, model.special_ids.eos});
  for (const auto* ids : {&model.source_begin, &model.source_end, &model.target_begin})
    for (const int64_t id : *ids) last = std::max(last, id);
  model.source_vocab_size = model.target_vocab_size = last + 1;
  CheckModelConfig(model);
}

nn::Transformer MakeTransformer(const TrainOptions& options, const torch::Device& device) {
  return std::dynamic_pointer_cast<nn::TransformerImpl>(MakeSequenceModel(options, device));
}

std::shared_ptr<nn::SequenceModelImpl> SequenceModelOf(const Model& model,
                                                       const torch::Device& device) {
  std::shared_ptr<nn::SequenceModelImpl> module = nn::MakeSequenceModel(model.config);
  ReadParameters(model.tensors, module.get());
  module->eval();
  module->to(device);
  return module;
}

std::shared_ptr<nn::SequenceModelImpl> MakeSequenceModel(const TrainOptions& options,
                                                         const torch::Device& device) {
  try {
    auto module = nn::MakeSequenceModel(options.model, DropoutOf(options.optimization),
                                        static_cast<uint64_t>(options.seed));
    module->to(device);
    return module;
  } catch (const c10::Error& error) {
    throw Error(ErrorKind::kRuntime, fmt::format("can't make a model of {} parameters: {}",
                                                 ParameterCount(options.model),
                                                 Excerpt(error.what_without_backtrace(), 240)));
  }
}

TensorTable CopyTensors(const torch::nn::Module& module, const std::string& prefix) {
  const torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> adapted;
  for (const auto& part : module.named_modules("", /*include_self=*/false)) {
    const auto* layer = part.value()->as<nn::LinearLayerImpl>();
    if (layer != nullptr && layer->adapted()) adapted[part.key() + ".weight"] = layer->Weight();
  }
  auto copies = std::make_shared<std::vector<torch::Tensor>>();
  TensorTable tensors(copies);
  for (const auto& parameter : module.named_parameters()) {
    if (nn::IsOfAdapter(parameter.key())) continue;
    const auto found = adapted.find(parameter.key());
    const torch::Tensor& now = found == adapted.end() ? parameter.value() : found->second;
    const torch::Tensor& copy = copies->emplace_back(now.detach().cpu().clone());
    tensors.Add({prefix + parameter.key(), TensorType::kF32, copy.sizes().vec(),
                 static_cast<const std::byte*>(copy.const_data_ptr())});
  }
  return tensors;
}

Model CopyModel(const nn::SequenceModelImpl& module) {
  Model model;
  model.config = module.config();
  model.tensors = CopyTensors(module);
  return model;
}

void AddStep(const torch::Tensor& logits_V, int32_t chosen, Sample* sample) {
  const auto [values, ids] = logits_V.topk(std::min<int64_t>(kSampleTopLogits, logits_V.numel()));
  TopLogits top{std::ssize(sample->target_ids), {}, {}};
  for (int64_t k = 0; k < values.numel(); ++k) {
    top.ids.push_back(static_cast<int32_t>(ids[k].item<int64_t>()));
    top.logits.push_back(values[k].item<double>());
  }
  sample->top_logits.push_back(std::move(top));
  sample->target_ids.push_back(chosen);
  sample->token_log_probabilities.push_back(logits_V.log_softmax(0)[chosen].item<double>());
  sample->score += sample->token_log_probabilities.back();
}

}  // namespace attend
