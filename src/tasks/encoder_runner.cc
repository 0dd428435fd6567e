#include "tasks/encoder_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attend/error.h"
#include "base/thread_pool.h"
#include "engine/forward.h"
#include "tasks/batches.h"
#include "tasks/checks.h"
#include "tasks/task_names.h"
#include "text/word_ids.h"

namespace attend {
namespace {

EncoderItem ItemOf(const EncoderInput& input) {
  EncoderItem item(input.ids);
  item.numbers = input.numbers;
  item.nodes = input.nodes;
  return item;
}

}  // namespace

int64_t MaxEncoderTokens(const ModelConfig& config) {
  constexpr int64_t kMostWithoutEnd = 8192;
  const StackConfig& stack = config.fusion ? config.fusion->text : *config.encoder;
  if (stack.positions != PositionKind::kLearned) return kMostWithoutEnd;
  return std::max<int64_t>(MaxTokens(stack) - 1, 1);
}

std::vector<int32_t> ReadLabelled(const ModelConfig& config, const Vocabulary& vocabulary,
                                  const std::string& text) {
  const int64_t most = MaxEncoderTokens(config);
  if (config.pooling != Pooling::kTokens) return EncodeCut(vocabulary, text, most).ids;
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return EncodeWords(vocabulary, words, most)[0].ids;
}

EncoderRunner::Threads::Threads(int threads) {
  if (threads <= 0) threads = DefaultThreads();
  if (threads == 1) return;
  pool_.emplace(threads);
  activations_ = std::vector<Activations>(threads);
}

void EncoderRunner::Threads::ForEach(int64_t tasks,
                                     const std::function<void(int64_t, Activations*)>& body) {
  if (pool_) {
    pool_->ParallelFor(tasks, [&](int64_t task, int worker) { body(task, &activations_[worker]); });
    return;
  }
  std::unique_ptr<Activations> own;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      own = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (own == nullptr) own = std::make_unique<Activations>();
  for (int64_t task = 0; task < tasks; ++task) body(task, own.get());
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(own));
}

EncoderRunner::EncoderRunner(std::shared_ptr<const LoadedModel> loaded, int threads)
    : loaded_(std::move(loaded)),
      threads_([threads] { return std::make_unique<Threads>(threads); }) {
  const Weights& weights = loaded_->weights;
  if (!weights.encoder || weights.decoder) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the model's task is {}, expected a model of an encoder alone{}",
                            loaded_->config().task, RightCommand(loaded_->config())));
  }
  if (!loaded_->config().ReadsTokens() || loaded_->config().special_ids.bos >= 0) return;
  throw Error(ErrorKind::kInput, "special_ids.bos is -1, expected an id: texts begin with it");
}

EncoderRunner::EncoderRunner(std::shared_ptr<const LoadedModel> loaded, const Purpose& purpose,
                             int threads)
    : EncoderRunner((CheckTask(loaded->config(), {purpose.task}), std::move(loaded)), threads) {
  CheckPurpose(loaded_->config(), purpose);
  if (loaded_->config().ReadsTokens()) loaded_->source();  // throws
}

void EncoderRunner::CheckPurpose(const ModelConfig& config, const Purpose& purpose) {
  CheckTask(config, {purpose.task});
  const bool of_tokens = config.pooling == Pooling::kTokens;
  if (config.head == purpose.head && of_tokens == purpose.of_tokens) return;
  throw Error(ErrorKind::kInput,
              fmt::format("the model's task is {}, but its head is not for {} of {}", purpose.task,
                          purpose.head == HeadKind::kLabels ? "labels" : "a vocabulary",
                          purpose.of_tokens ? "tokens" : "texts"));
}

void EncoderRunner::RunAll(std::span<const EncoderInput> inputs, const Answer& answer,
                           const TakeRow& take, const std::atomic<bool>* stop) const {
  constexpr int64_t kBatchTokens = 2048;
  const Weights& weights = loaded_->weights;
  std::vector<int64_t> lengths;
  for (const EncoderInput& input : inputs)
    lengths.push_back(weights.encoder->RowsOf(ItemOf(input)));
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  Threads& threads = threads_.Get();
  // Few texts still give every thread something to do.
  const Batches batches(lengths, std::min(kBatchTokens, total / threads.size() + 1));
  threads.ForEach(batches.size(), [&](int64_t b, Activations* activations) {
    CheckNotStopped(stop);
    const std::span<const int64_t> batch = batches[b];
    std::vector<EncoderItem> items;
    for (const int64_t item : batch) items.push_back(ItemOf(inputs[item]));
    const Rows rows = answer({batch, items}, activations);
    const float* next = rows.found;
    for (size_t i = 0; i < batch.size(); ++i) {
      for (int64_t row = 0; row < rows.counts[i]; ++row, next += rows.width) {
        const std::span<const float> found(next, rows.width);
        if (!std::ranges::all_of(found, [](float x) { return std::isfinite(x); })) {
          throw Error(ErrorKind::kRuntime,
                      "the model gives numbers that are not finite; `attend verify` finds bad "
                      "weights");
        }
        take(batch[i], found);
      }
    }
  });
}

void EncoderRunner::Run(std::span<const EncoderInput> inputs, const TakeRow& take,
                        const std::atomic<bool>* stop) const {
  const auto answer = [&](const Batch& batch, Activations* activations) {
    Encode(loaded_->weights, batch.items, {}, activations);
    return HeadOf(inputs, batch.inputs, activations);
  };
  RunAll(inputs, answer, take, stop);
}

void EncoderRunner::SharedVectors(std::span<const EncoderInput> inputs, FusedInput::Part part,
                                  const TakeRow& take, const std::atomic<bool>* stop) const {
  const auto answer = [&](const Batch& batch, Activations* activations) {
    return Rows{SharedVectorsOf(loaded_->weights, part, batch.items, activations),
                loaded_->config().fusion->shared_width,
                std::vector<int64_t>(batch.items.size(), 1)};
  };
  RunAll(inputs, answer, take, stop);
}

void EncoderRunner::Vectors(std::span<const EncoderInput> inputs, Pooling pooling,
                            const TakeRow& take, const std::atomic<bool>* stop) const {
  const auto answer = [&](const Batch& batch, Activations* activations) {
    Encode(loaded_->weights, batch.items, {}, activations);
    std::vector<int64_t> lengths;
    for (const EncoderItem& item : batch.items)
      lengths.push_back(loaded_->weights.encoder->RowsOf(item));
    Pool(loaded_->weights, pooling, lengths, activations);
    return Rows{activations->memory_SD.Get(0), loaded_->config().encoder->d_model,
                std::vector<int64_t>(batch.items.size(), 1)};
  };
  RunAll(inputs, answer, take, stop);
}

EncoderRunner::Rows EncoderRunner::HeadOf(std::span<const EncoderInput> inputs,
                                          std::span<const int64_t> batch,
                                          Activations* activations) const {
  const Weights& weights = loaded_->weights;
  const bool whole_texts = weights.config().pooling != Pooling::kTokens;
  std::vector<int64_t> rows, lengths, counts;
  int64_t first = 0;
  for (const int64_t item : batch) {
    const EncoderInput& input = inputs[item];
    lengths.push_back(weights.encoder->RowsOf(ItemOf(input)));
    for (const int32_t row : input.rows) rows.push_back(first + row);
    counts.push_back(whole_texts ? 1 : std::ssize(input.rows));
    first += lengths.back();
  }
  int64_t wanted = std::ssize(rows);
  if (whole_texts) {
    wanted = Pool(weights, weights.config().pooling, lengths, activations);
  } else {
    KeepEncoded(weights, rows, activations);
  }
  EncoderLogits(weights, wanted, activations);
  return {activations->logits.Get(0), weights.encoder_head->width(), std::move(counts)};
}

}  // namespace attend
