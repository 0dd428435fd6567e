#include "engine/tasks/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/error.h"
#include "engine/kernels/dispatch.h"

namespace attend {
namespace {

constexpr int64_t kHeadBlock = 512;  // columns of logits that stand at once; panels divide it

void CheckModel(const Model& model) {
  if (!model.config.decoder || model.config.head != HeadKind::kVocabulary) {
    throw Error(ErrorKind::kUsage,
                "the model has no decoder with a vocabulary head, which translation needs");
  }
  CheckTensors(model.tensors, model.config, "model");
  for (const TensorView& tensor : model.tensors.tensors()) {
    if (tensor.type == TensorType::kF32) continue;
    throw Error(ErrorKind::kInput, fmt::format("tensor '{}' has type {}, expected F32", tensor.name,
                                               TensorTypeName(tensor.type)));
  }
}

}  // namespace

Transformer::Transformer(std::shared_ptr<const Model> model, const std::string& instruction_set)
    : model_(std::move(model)), kernels_(SelectKernels(instruction_set)) {
  CheckModel(*model_);
  const ModelConfig& config = model_->config;
  if (config.encoder) encoder_.emplace(kernels_, model_->tensors, *config.encoder);
  decoder_.emplace(kernels_, model_->tensors, config);
  head_ = Linear(kernels_, model_->tensors, {OutputWeightName(config)}, "head.bias");
}

void Transformer::Start(std::span<const std::vector<int32_t>> sources, int64_t beam_size,
                        const Sinks& sinks, Workspace* workspace) const {
  if (encoder_) {
    encoder_->Run(sources, &workspace->encoder_positions, &workspace->scratch, sinks,
                  &workspace->memory_SD);
  }
  workspace->scratch.timer.Book(&WorkSeconds::encoder);
  std::vector<DecoderState::Source> slots;
  int64_t rows = 0;
  for (const std::vector<int32_t>& source : sources) {
    const int64_t count = std::ssize(source);
    slots.insert(slots.end(), beam_size, {rows, count});
    rows += count;
  }
  decoder_->Start(std::move(slots), workspace->memory_SD.Get(0), rows, &workspace->state);
  workspace->scratch.timer.Book(&WorkSeconds::cross_attention);
}

void Transformer::Decode(const Sinks& sinks, Workspace* workspace) const {
  decoder_->Run(workspace->rows, &workspace->state, &workspace->decoder_positions,
                &workspace->scratch, sinks, &workspace->hidden_RD);
}

void Transformer::Logits(Workspace* workspace, float* logits_RV) const {
  head_.Apply(workspace->hidden_RD.Get(0), std::ssize(workspace->rows), logits_RV);
}

void Transformer::Predict(int64_t k, std::span<const NextToken> asked, Workspace* workspace,
                          Candidate* best) const {
  const int64_t rows = std::ssize(workspace->rows), stride = std::max<int64_t>(k, 1);
  workspace->top_values.resize(rows * stride);
  workspace->top_ids.resize(rows * stride);
  workspace->top.resize(rows);
  workspace->wanted.assign(rows, 0);
  for (int64_t r = 0; r < rows; ++r) {
    workspace->top[r] = {workspace->top_values.data() + r * stride,
                         workspace->top_ids.data() + r * stride,
                         stride,
                         0,
                         -std::numeric_limits<float>::infinity(),
                         0};
  }
  const float* hidden_RD = workspace->hidden_RD.Get(0);
  float* block = workspace->logits.Get(rows * kHeadBlock);
  for (int64_t first = 0; first < head_.columns(); first += kHeadBlock) {
    const int64_t columns = std::min(kHeadBlock, head_.columns() - first);
    head_.ApplyColumns(hidden_RD, rows, first, first + columns, block);
    for (int64_t r = 0; r < rows; ++r) {
      kernels_.top_k(block + r * columns, columns, static_cast<int32_t>(first),
                     asked[r].forbidden.data(), std::ssize(asked[r].forbidden), &workspace->top[r]);
      const int64_t at = asked[r].wanted - first;
      if (at >= 0 && at < columns) workspace->wanted[r] = block[r * columns + at];
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    const TopK& top = workspace->top[r];
    const double log_sum = static_cast<double>(top.max) + std::log(static_cast<double>(top.sum));
    if (!std::isfinite(log_sum)) {
      throw Error(ErrorKind::kRuntime,
                  "the model gives numbers that are not finite; `attend verify` finds bad weights");
    }
    const auto candidate = [&](int32_t id, float logit) {
      return Candidate{id, std::min(0.0, static_cast<double>(logit) - log_sum)};
    };
    if (asked[r].wanted >= 0) {
      best[r * stride] = candidate(asked[r].wanted, workspace->wanted[r]);
      continue;
    }
    for (int64_t i = 0; i < top.count; ++i) {
      best[r * stride + i] = candidate(top.ids[i], top.values[i]);
    }
  }
}

TransformerStepper::TransformerStepper(const Transformer* transformer,
                                       std::vector<int32_t> forbidden, Workspace* workspace)
    : transformer_(transformer), forbidden_(std::move(forbidden)), workspace_(workspace) {
  forbidden_.push_back(static_cast<int32_t>(transformer->config().special_ids.eos));
}

void TransformerStepper::Start(std::span<const std::vector<int32_t>> sources, int64_t beam_size) {
  transformer_->Start(sources, beam_size, {}, workspace_);
}

void TransformerStepper::Step(std::span<const StepRow> rows, int64_t k, Candidate* best) {
  workspace_->scratch.timer.Book(&WorkSeconds::search);
  workspace_->rows.clear();
  asked_.clear();
  const std::span<const int32_t> forbidden = forbidden_;
  for (const StepRow& row : rows) {
    workspace_->rows.push_back({row.slot, row.token});
    asked_.push_back({row.forced, forbidden.first(forbidden.size() - (row.may_end ? 1 : 0))});
  }
  transformer_->Decode({}, workspace_);
  transformer_->Predict(k, asked_, workspace_, best);
  workspace_->scratch.timer.Book(&WorkSeconds::output);
}

void TransformerStepper::Reorder(int64_t first, std::span<const int32_t> parents) {
  workspace_->state.Reorder(first, parents);
}

}  // namespace attend
