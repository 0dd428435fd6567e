#include "tasks/label_logits.h"

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

LabelLogits::LabelLogits(std::shared_ptr<const LoadedModel> loaded, const std::string& task,
                         int threads)
    : loaded_(std::move(loaded)),
      threads_([threads] { return std::make_unique<Threads>(threads); }) {
  CheckTask(loaded_->config(), task);
  if (loaded_->config().head != HeadKind::kLabels)
    throw Error(ErrorKind::kUsage, "the model has no head of labels");
  loaded_->source();  // throws
}

std::vector<std::vector<float>> LabelLogits::Run(std::span<const LabelInput> inputs) const {
  constexpr int64_t kBatchTokens = 2048;
  std::vector<int64_t> lengths;
  for (const LabelInput& input : inputs) lengths.push_back(std::ssize(input.ids));
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  Threads& threads = threads_.Get();
  // Few texts still give every thread something to do.
  const Batches batches(lengths, std::min(kBatchTokens, total / threads.pool.size() + 1));
  std::vector<std::vector<float>> logits(inputs.size());
  threads.pool.ParallelFor(batches.size(), [&](int64_t batch, int worker) {
    RunBatch(inputs, batches[batch], &threads.activations[worker], &logits);
  });
  return logits;
}

void LabelLogits::RunBatch(std::span<const LabelInput> inputs, std::span<const int64_t> batch,
                           Activations* activations,
                           std::vector<std::vector<float>>* logits) const {
  const Weights& weights = loaded_->weights;
  std::vector<std::span<const int32_t>> texts;
  std::vector<int64_t> rows, lengths, counts;  // counts: wanted rows of each text
  int64_t first = 0;
  for (const int64_t item : batch) {
    const LabelInput& input = inputs[item];
    texts.emplace_back(input.ids);
    lengths.push_back(std::ssize(input.ids));
    for (const int32_t row : input.rows) rows.push_back(first + row);
    counts.push_back(std::ssize(input.rows));
    first += lengths.back();
  }
  Encode(weights, texts, {}, activations);
  if (loaded_->config().pooling == Pooling::kTokens) {
    KeepEncoded(weights, rows, activations);
  } else {
    Pool(weights, lengths, activations);
    counts.assign(batch.size(), 1);
  }
  const int64_t width = weights.encoder_head->width();
  const int64_t wanted = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  EncoderLogits(weights, wanted, activations);
  const float* from = activations->logits.Get(0);
  if (!std::all_of(from, from + wanted * width, [](float x) { return std::isfinite(x); })) {
    throw Error(ErrorKind::kRuntime,
                "the model gives numbers that are not finite; `attend verify` finds bad weights");
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    (*logits)[batch[i]].assign(from, from + counts[i] * width);
    from += counts[i] * width;
  }
}

}  // namespace attend
