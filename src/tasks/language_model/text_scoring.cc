#include "tasks/language_model/text_scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "attend/error.h"
#include "tasks/batches.h"
#include "tasks/checks.h"

namespace attend {
namespace {

struct Item {
  size_t text = 0;
  TextWindow window;
};

// Tokens that the model sees at once.
int64_t WindowSize(const StackConfig& decoder, const TextScoreOptions& options) {
  const int64_t most = MaxTokens(decoder);
  const bool bound = most < std::numeric_limits<int64_t>::max();
  if (bound && options.window > most + 1) {
    throw Error(ErrorKind::kUsage,
                fmt::format("window is {}, expected at most {}, the model's learned positions",
                            options.window, most + 1));
  }
  if (options.window > 0) return options.window;
  return bound ? most + 1 : most;
}

int64_t Stride(int64_t window, const TextScoreOptions& options) {
  const int64_t stride = options.stride > 0 ? options.stride : std::max<int64_t>(1, window / 2);
  if (stride > window) {
    throw Error(ErrorKind::kUsage,
                fmt::format("stride is {}, above the window of {} tokens that the model sees at "
                            "once; some tokens would not be scored; lower stride",
                            stride, window));
  }
  return stride;
}

}  // namespace

std::vector<TextWindow> WindowsOf(int64_t tokens, int64_t window, int64_t stride) {
  std::vector<TextWindow> windows;
  for (int64_t begin = 0, scored = 1; scored < tokens; begin += stride) {
    const int64_t end = std::min(tokens - 1, begin + window) + 1;
    windows.push_back({begin, end, scored - 1 - begin});
    scored = end;
  }
  return windows;
}

std::vector<TextScore> ScoreTexts(const Weights& weights,
                                  std::span<const std::vector<int32_t>> texts,
                                  const TextScoreOptions& options, TaskThreads* threads) {
  const SpecialIds& special = weights.config().special_ids;
  const int64_t window = WindowSize(*weights.config().decoder, options);
  const int64_t stride = Stride(window, options);
  std::vector<std::vector<int32_t>> read(texts.size());
  std::vector<TextScore> scores(texts.size());
  std::vector<Item> items;
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < texts.size(); ++i) {
    read[i].push_back(static_cast<int32_t>(special.bos));
    read[i].insert(read[i].end(), texts[i].begin(), texts[i].end());
    if (options.end) read[i].push_back(static_cast<int32_t>(special.eos));
    scores[i].token_log_probabilities.resize(read[i].size() - 1);
    for (const TextWindow& each : WindowsOf(std::ssize(read[i]), window, stride)) {
      items.push_back({i, each});
      lengths.push_back(each.end - each.begin);
    }
  }
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  // Few items still give every thread something to do.
  const Batches batches(lengths, std::min(options.batch_tokens, total / threads->pool.size() + 1));
  threads->pool.ParallelFor(batches.size(), [&](int64_t batch, int worker) {
    CheckNotStopped(options.stop);
    ForcedDecoding& decoding = threads->forced[worker];
    const std::span<const int64_t> taken = batches[batch];
    decoding.Start(weights, std::vector<EncoderItem>(taken.size()), {});
    for (size_t source = 0; source < taken.size(); ++source) {
      const auto& [text, part] = items[taken[source]];
      std::vector<int32_t> ids(read[text].begin() + part.begin, read[text].begin() + part.end);
      ids[0] = static_cast<int32_t>(special.bos);  // as in training, where contexts begin with it
      decoding.Add(static_cast<int32_t>(source), ids, part.context);
    }
    const Candidate* answer = decoding.Run(weights, {}).data();
    for (const int64_t item : taken) {
      const auto& [text, part] = items[item];
      for (int64_t t = part.begin + part.context; t + 1 < part.end; ++t) {
        scores[text].token_log_probabilities[t] = (answer++)->log_probability;
      }
    }
  });
  for (TextScore& score : scores) {
    for (const double each : score.token_log_probabilities) score.log_probability += each;
  }
  return scores;
}

}  // namespace attend
