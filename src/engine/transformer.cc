#include "engine/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/error.h"
#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

constexpr int64_t kHeadBlock = 512;  // columns of logits that stand at once; panels divide it

void CheckModel(const Model& model) {
  if (!model.config.decoder || model.config.head != HeadKind::kVocabulary) {
    throw Error(ErrorKind::kUsage,
                "the model has no decoder with a vocabulary head, which translation needs");
  }
  CheckTensors(model.tensors, model.config, "model");
}

// Where an id stands among rising columns; -1: it does not.
int32_t ColumnOf(std::span<const int32_t> columns, int32_t id) {
  const auto at = std::ranges::lower_bound(columns, id);
  return at != columns.end() && *at == id ? static_cast<int32_t>(at - columns.begin()) : -1;
}

// What log-probabilities are counted from: the log-sum-exp of all entries, or the best one.
double LogSum(const TopK& top) {
  const auto max = static_cast<double>(top.max), sum = static_cast<double>(top.sum);
  const double best = top.count > 0 ? static_cast<double>(top.values[0]) : 0;
  const double log_sum = top.with_sum ? max + std::log(sum) : best + sum;
  if (std::isfinite(log_sum)) return log_sum;
  throw Error(ErrorKind::kRuntime,
              "the model gives numbers that are not finite; `attend verify` finds bad weights");
}

// The wanted token alone, where there is one; else those asked for besides, whose logits stand at
// `also`, and the best.
void WriteCandidates(const TopK& top, const NextToken& asked, float wanted_logit, const float* also,
                     Candidate* best) {
  const int32_t wanted = asked.wanted;
  const double log_sum = LogSum(top);
  const auto candidate = [&](int32_t id, float logit) {
    return Candidate{id, std::min(0.0, static_cast<double>(logit) - log_sum)};
  };
  if (wanted >= 0) {
    best[0] = candidate(wanted, top.with_sum ? wanted_logit : static_cast<float>(log_sum));
    return;
  }
  for (const int32_t id : asked.also) *best++ = candidate(id, *also++);
  for (int64_t i = 0; i < top.count; ++i) best[i] = candidate(top.ids[i], top.values[i]);
}

}  // namespace

Transformer::Transformer(std::shared_ptr<const Model> model, const std::string& instruction_set,
                         std::shared_ptr<const Shortlist> shortlist)
    : model_(std::move(model)),
      shortlist_(std::move(shortlist)),
      kernels_(SelectKernels(instruction_set)) {
  CheckModel(*model_);
  const ModelConfig& config = model_->config;
  const Weights weights{kernels_, model_->tensors, &packed_};
  if (config.encoder) encoder_.emplace(weights, *config.encoder);
  decoder_.emplace(weights, config);
  head_ = Linear(weights, {OutputWeightName(config)}, "head.bias");
  model_->tensors.ReleasePages();  // all but the embeddings is packed now
}

void Transformer::Reset(int64_t beam_size, Workspace* workspace) const {
  decoder_->Reset(beam_size, &workspace->state);
}

void Transformer::Start(std::span<const NewSentence> sentences, const Sinks& sinks,
                        Workspace* workspace) const {
  workspace->sources.clear();
  workspace->new_sources.clear();
  for (const NewSentence& sentence : sentences) {
    workspace->sources.push_back(sentence.source);
    workspace->new_sources.push_back({sentence.place, std::ssize(sentence.source)});
  }
  if (encoder_) {
    encoder_->Run(workspace->sources, &workspace->encoder_positions, &workspace->scratch, sinks,
                  &workspace->memory_SD);
  }
  workspace->scratch.timer.Book(&WorkSeconds::encoder);
  decoder_->Start(workspace->new_sources, workspace->memory_SD.Get(0), &workspace->scratch,
                  &workspace->state);
  workspace->scratch.timer.Book(&WorkSeconds::cross_attention);
}

void Transformer::SelectColumns(std::span<const NewSentence> sentences,
                                Workspace* workspace) const {
  if (shortlist_ == nullptr) return;
  for (const NewSentence& sentence : sentences) {
    if (std::ssize(workspace->short_heads) <= sentence.place) {
      workspace->short_heads.resize(sentence.place + 1);
    }
    SelectColumnsFor(sentence, &workspace->short_heads[sentence.place]);
  }
  workspace->scratch.timer.Book(&WorkSeconds::output);
}

void Transformer::StartAll(std::span<const std::vector<int32_t>> sources, const Sinks& sinks,
                           Workspace* workspace) const {
  std::vector<NewSentence> sentences;
  for (const std::vector<int32_t>& source : sources) {
    sentences.push_back({std::ssize(sentences), source});
  }
  Reset(1, workspace);
  Start(sentences, sinks, workspace);
}

void Transformer::SelectColumnsFor(const NewSentence& sentence, ShortHead* head) const {
  head->columns = shortlist_->Columns(sentence.source);
  const auto leave_in = [&](int32_t id) {
    const auto at = std::ranges::lower_bound(head->columns, id);
    if (at == head->columns.end() || *at != id) head->columns.insert(at, id);
  };
  leave_in(static_cast<int32_t>(config().special_ids.eos));
  for (const int32_t id : sentence.once) leave_in(id);
  head->memory.Clear();
  head->product = head_.Select(head->columns, &head->memory);
}

void Transformer::Decode(const Sinks& sinks, Workspace* workspace) const {
  decoder_->Run(workspace->rows, &workspace->state, &workspace->decoder_positions,
                &workspace->scratch, sinks, &workspace->hidden_RD);
}

void Transformer::Logits(Workspace* workspace, float* logits_RV) const {
  head_.Apply(workspace->hidden_RD.Get(0), std::ssize(workspace->rows), &workspace->scratch.linear,
              logits_RV);
}

Transformer::RowGroup Transformer::GroupAt(int64_t first, std::span<const NextToken> asked,
                                           const Workspace& workspace) const {
  const auto head = [&](int64_t row) -> const ShortHead* {
    if (shortlist_ == nullptr || asked[row].wanted >= 0) return nullptr;
    return &workspace.short_heads[workspace.rows[row].slot / workspace.state.beam_size()];
  };
  RowGroup group{first, 1, head(first)};
  while (first + group.count < std::ssize(asked) && head(first + group.count) == group.head) {
    ++group.count;
  }
  return group;
}

void Transformer::TakeLogits(std::span<const float> logits, int64_t first, const NextToken& asked,
                             const ShortHead* head, int64_t row, Workspace* workspace) const {
  std::span<const int32_t> forbidden = asked.forbidden;
  if (head != nullptr) {
    workspace->forbidden.clear();
    for (const int32_t id : asked.forbidden) {
      workspace->forbidden.push_back(ColumnOf(head->columns, id));
    }
    forbidden = workspace->forbidden;
  }
  const int64_t count = std::ssize(logits);
  for (int64_t i = 0; i < count; i += kHeadBlock) {
    kernels_.top_k(logits.data() + i, std::min(kHeadBlock, count - i),
                   static_cast<int32_t>(first + i), forbidden.data(), std::ssize(forbidden),
                   &workspace->top[row]);
  }
  const int64_t wanted = asked.wanted - first;
  if (wanted >= 0 && wanted < count) workspace->wanted[row] = logits[wanted];
  for (size_t i = 0; i < asked.also.size(); ++i) {
    const int32_t id = asked.also[i];
    const int64_t at = (head != nullptr ? ColumnOf(head->columns, id) : id) - first;
    if (at >= 0 && at < count) workspace->also[workspace->also_first[row] + i] = logits[at];
  }
}

void Transformer::PredictGroup(const RowGroup& group, const Linear::Input& hidden_RD,
                               std::span<const NextToken> asked, Workspace* workspace) const {
  const Linear& product = group.head != nullptr ? group.head->product : head_;
  const Linear::Input input = hidden_RD.Some(group.first, group.count);
  LinearScratch* scratch = &workspace->scratch.linear;
  // A team shares all columns at once; blocks are taken in the same order either way.
  const int64_t wide = scratch->team != nullptr ? product.columns() : kHeadBlock;
  float* logits = workspace->logits.Get(group.count * wide);
  for (int64_t first = 0; first < product.columns(); first += wide) {
    const int64_t columns = std::min(wide, product.columns() - first);
    product.ApplyColumns(input, first, first + columns, scratch, logits);
    for (int64_t r = 0; r < group.count; ++r) {
      const int64_t row = group.first + r;
      TakeLogits({logits + r * columns, static_cast<size_t>(columns)}, first, asked[row],
                 group.head, row, workspace);
    }
  }
  if (group.head == nullptr) return;
  for (int64_t r = group.first; r < group.first + group.count; ++r) {
    TopK& top = workspace->top[r];
    for (int64_t i = 0; i < top.count; ++i) top.ids[i] = group.head->columns[top.ids[i]];
  }
}

void Transformer::Predict(int64_t k, std::span<const NextToken> asked, Workspace* workspace,
                          Candidate* best) const {
  const int64_t rows = std::ssize(workspace->rows), stride = std::max<int64_t>(k, 1);
  workspace->top_values.resize(rows * stride);
  workspace->top_ids.resize(rows * stride);
  workspace->top.resize(rows);
  workspace->wanted.assign(rows, 0);
  workspace->also_first.assign(rows + 1, 0);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t also = std::ssize(asked[r].also);
    workspace->also_first[r + 1] = workspace->also_first[r] + also;
    workspace->top[r] = {workspace->top_values.data() + r * stride,
                         workspace->top_ids.data() + r * stride,
                         stride - also,
                         0,
                         -std::numeric_limits<float>::infinity(),
                         0,
                         asked[r].scored};
  }
  workspace->also.resize(workspace->also_first[rows]);
  const Linear::Input hidden_RD =
      head_.Read(workspace->hidden_RD.Get(0), rows, &workspace->scratch.linear);
  for (int64_t r = 0; r < rows;) {
    const RowGroup group = GroupAt(r, asked, *workspace);
    PredictGroup(group, hidden_RD, asked, workspace);
    r += group.count;
  }
  for (int64_t r = 0; r < rows; ++r) {
    WriteCandidates(workspace->top[r], asked[r], workspace->wanted[r],
                    workspace->also.data() + workspace->also_first[r], best + r * stride);
  }
}

TransformerStepper::TransformerStepper(const Transformer* transformer, Workspace* workspace)
    : transformer_(transformer), workspace_(workspace) {
  const SpecialIds& ids = transformer->config().special_ids;
  forbidden_ = {static_cast<int32_t>(ids.unk), static_cast<int32_t>(ids.pad),
                static_cast<int32_t>(ids.bos), static_cast<int32_t>(ids.eos)};
}

void TransformerStepper::Reset(int64_t beam_size) { transformer_->Reset(beam_size, workspace_); }

void TransformerStepper::Start(std::span<const NewSentence> sentences) {
  workspace_->scratch.timer.Book(&WorkSeconds::search);
  transformer_->Start(sentences, {}, workspace_);
  transformer_->SelectColumns(sentences, workspace_);
}

void TransformerStepper::Step(std::span<const StepRow> rows, int64_t k, Candidate* best) {
  workspace_->scratch.timer.Book(&WorkSeconds::search);
  workspace_->rows.clear();
  asked_.clear();
  never_.clear();
  never_.reserve(rows.size());
  const std::span<const int32_t> forbidden = forbidden_;
  for (const StepRow& row : rows) {
    workspace_->rows.push_back({row.slot, row.token});
    const size_t first = row.may_be_unknown ? 1 : 0;
    const size_t last = forbidden.size() - (row.may_end ? 1 : 0);
    std::span<const int32_t> never = forbidden.subspan(first, last - first);
    if (!row.never.empty()) {
      std::vector<int32_t>& own = never_.emplace_back(never.begin(), never.end());
      own.insert(own.end(), row.never.begin(), row.never.end());
      never = own;
    }
    asked_.push_back({row.forced, never, row.scored, row.also});
  }
  transformer_->Decode({}, workspace_);
  transformer_->Predict(k, asked_, workspace_, best);
  workspace_->scratch.timer.Book(&WorkSeconds::output);
}

void TransformerStepper::Reorder(int64_t place, std::span<const int32_t> parents) {
  workspace_->state.Reorder(place, parents);
}

}  // namespace attend
