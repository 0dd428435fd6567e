// What tasks share that find the class of examples: how they predict, what is measured of it, and
// what is planned.
#ifndef ATTEND_TRAIN_TASKS_CLASS_VALIDATION_H_
#define ATTEND_TRAIN_TASKS_CLASS_VALIDATION_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "media/picture_codec.h"
#include "media/resize.h"
#include "metrics/classes.h"
#include "train/tasks/validation.h"

namespace attend {

struct PredictedClasses {
  std::vector<std::string> names;  // of the likeliest label, by example
  double loss = 0;                 // of an example, without smoothing
};

struct ScoredExamples {
  torch::Tensor logits_BL;
  nn::LossSums loss;
};

// Of a corpus that is read in windows. `score` is called as MeasureBatches calls its function.
template <class Corpus>
PredictedClasses PredictClasses(const Corpus& corpus, const TrainOptions& options,
                                const torch::Device& device, int threads,
                                const std::function<ScoredExamples(const Examples&)>& score) {
  PredictedClasses found;
  found.names.resize(corpus.size());
  std::vector<nn::LossSums> losses;
  for (int64_t first = 0; first < corpus.size(); first += corpus.window_size()) {
    const int64_t end = std::min(corpus.size(), first + corpus.window_size());
    const ExampleTable table = corpus.Table(first, end);
    const auto measured = MeasureBatches<nn::LossSums>(
        table, options.optimization, device, threads, [&](std::span<const int64_t> rows) {
          const ScoredExamples scored = score(Examples(&table, rows));
          const torch::Tensor best_B = scored.logits_BL.argmax(-1).cpu();
          for (size_t i = 0; i < rows.size(); ++i) {
            found.names[first + rows[i]] =
                options.model.labels[best_B.const_data_ptr<int64_t>()[i]];
          }
          return scored.loss;
        });
    losses.insert(losses.end(), measured.begin(), measured.end());
  }
  found.loss = MeanLoss(losses);
  return found;
}

// Shrunk to the size that the report shows it in, as the URL of a PNG.
inline std::string ReportPicture(const Picture& picture) {
  constexpr int64_t kMostSide = 96;
  const int64_t longest = std::max(picture.width, picture.height);
  if (longest <= kMostSide) return PngDataUrl(picture);
  const auto side = [&](int64_t pixels) {
    return std::max<int64_t>(1, pixels * kMostSide / longest);
  };
  return PngDataUrl(
      Resize(picture, side(picture.width), side(picture.height), Interpolation::kBilinear));
}

// Figures of validation.
inline std::map<std::string, double> ClassMetrics(const PredictedClasses& found,
                                                  const std::vector<std::string>& expected) {
  const ClassScores scores = ScoreClasses(found.names, expected);
  return {{"loss", found.loss}, {"accuracy", scores.accuracy()}, {"macro_f1", scores.macro_f1()}};
}

// Of `corpora` with members train, valid and test, the last two of which may be null.
template <class Corpora>
Json ClassPlan(const Corpora& corpora, const std::vector<std::string>& labels) {
  Json plan = Json::object();
  plan["train"] = corpora.train->Summary();
  if (corpora.valid != nullptr) plan["valid"] = corpora.valid->Summary();
  if (corpora.test != nullptr) plan["test"] = corpora.test->Summary();
  plan["labels"] = labels;
  return plan;
}

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_CLASS_VALIDATION_H_
