#include "tasks/label_logits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attend/error.h"
#include "base/thread_pool.h"
#include "engine/forward.h"
#include "tasks/batches.h"
#include "tasks/task_names.h"
#include "text/word_ids.h"

namespace attend {

int64_t MaxLabelledTokens(const ModelConfig& config) {
  constexpr int64_t kMost = int64_t{1} << 30;
  return std::clamp<int64_t>(MaxTokens(*config.encoder) - 1, 1, kMost);
}

std::vector<int32_t> ReadLabelled(const ModelConfig& config, const Vocabulary& vocabulary,
                                  const std::string& text) {
  const int64_t most = MaxLabelledTokens(config);
  if (config.pooling != Pooling::kTokens) return EncodeCut(vocabulary, text, most).ids;
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return EncodeWords(vocabulary, words, most)[0].ids;
}

LabelLogits::Threads::Threads(int threads)
    : pool(threads > 0 ? threads : DefaultThreads()), activations(pool.size()) {}

LabelLogits::LabelLogits(std::shared_ptr<const LoadedModel> loaded, int threads)
    : loaded_(std::move(loaded)),
      threads_([threads] { return std::make_unique<Threads>(threads); }) {
  const Weights& weights = loaded_->weights;
  if (!weights.encoder || weights.decoder) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the model's task is {}, expected a model of an encoder alone",
                            loaded_->config().task));
  }
  loaded_->source();  // throws
}

LabelLogits::LabelLogits(std::shared_ptr<const LoadedModel> loaded, const std::string& task,
                         int threads)
    : LabelLogits((CheckTask(loaded->config(), task), std::move(loaded)), threads) {
  if (!loaded_->weights.encoder_head) throw Error(ErrorKind::kUsage, "the model has no head");
}

std::vector<std::vector<float>> LabelLogits::RunAll(std::span<const LabelInput> inputs,
                                                    const Finish& finish) const {
  constexpr int64_t kBatchTokens = 2048;
  std::vector<int64_t> lengths;
  for (const LabelInput& input : inputs) lengths.push_back(std::ssize(input.ids));
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  Threads& threads = threads_.Get();
  // Few texts still give every thread something to do.
  const Batches batches(lengths, std::min(kBatchTokens, total / threads.pool.size() + 1));
  std::vector<std::vector<float>> found(inputs.size());
  threads.pool.ParallelFor(batches.size(), [&](int64_t b, int worker) {
    const std::span<const int64_t> batch = batches[b];
    std::vector<std::span<const int32_t>> texts;
    for (const int64_t item : batch) texts.emplace_back(inputs[item].ids);
    Activations* const activations = &threads.activations[worker];
    Encode(loaded_->weights, texts, {}, activations);
    const Rows rows = finish(batch, activations);
    const float* from = rows.found;
    for (size_t i = 0; i < batch.size(); ++i) {
      const float* const end = from + rows.counts[i] * rows.width;
      if (!std::all_of(from, end, [](float x) { return std::isfinite(x); })) {
        throw Error(ErrorKind::kRuntime,
                    "the model gives numbers that are not finite; `attend verify` finds bad "
                    "weights");
      }
      found[batch[i]].assign(from, end);
      from = end;
    }
  });
  return found;
}

std::vector<std::vector<float>> LabelLogits::Run(std::span<const LabelInput> inputs) const {
  return RunAll(inputs, [&](std::span<const int64_t> batch, Activations* activations) {
    return HeadOf(inputs, batch, activations);
  });
}

std::vector<std::vector<float>> LabelLogits::Vectors(std::span<const LabelInput> inputs,
                                                     Pooling pooling) const {
  return RunAll(inputs, [&](std::span<const int64_t> batch, Activations* activations) {
    std::vector<int64_t> lengths;
    for (const int64_t item : batch) lengths.push_back(std::ssize(inputs[item].ids));
    Pool(loaded_->weights, pooling, lengths, activations);
    return Rows{activations->memory_SD.Get(0), loaded_->config().encoder->d_model,
                std::vector<int64_t>(batch.size(), 1)};
  });
}

LabelLogits::Rows LabelLogits::HeadOf(std::span<const LabelInput> inputs,
                                      std::span<const int64_t> batch,
                                      Activations* activations) const {
  const Weights& weights = loaded_->weights;
  const bool whole_texts = weights.config().pooling != Pooling::kTokens;
  std::vector<int64_t> rows, lengths, counts;
  int64_t first = 0;
  for (const int64_t item : batch) {
    const LabelInput& input = inputs[item];
    lengths.push_back(std::ssize(input.ids));
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
