#include "train/logs/training_logs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attend {
namespace {

constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

// How much of the run is done, by the bound that will end it first.
double ShareDone(const RunOptions& options, const TrainState& state) {
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  const DataPosition& data = state.data;
  // Epochs have about as many batches each; how many is known after the first.
  const double epochs =
      static_cast<double>(data.epoch) +
      share(data.batch_in_epoch * data.epoch, data.sequence - data.batch_in_epoch);
  return std::max({share(state.update, options.max_updates),
                   share(state.target_tokens, options.max_target_tokens),
                   options.max_epochs > 0 ? epochs / static_cast<double>(options.max_epochs) : 0});
}

// JSON has no NaN.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

TrainingLogs::TrainingLogs(const std::filesystem::path& directory, const RunOptions& options,
                           const Json& recorded, const TrainState& state, TrainerEffects effects)
    : options_(options),
      effects_(std::move(effects)),
      metrics_(directory / "metrics.jsonl", state.update),
      timing_(directory / "timing.jsonl", kAll),
      samples_(directory / "samples.jsonl", state.update),
      tensorboard_(directory / "tensorboard", state.update, effects_.now(), recorded),
      window_start_(effects_.now()) {}

void TrainingLogs::LogUpdate(const TrainState& state, const UpdateRecord& record) {
  Json line = Json::object();
  line["update"] = state.update;
  line["epoch"] = state.data.epoch;
  line["loss"] = Number(record.loss);
  line["gradient_norm"] = Number(record.gradient_norm);
  line["learning_rate"] = record.learning_rate;
  line["target_tokens"] = state.target_tokens;
  if (record.skipped) line["skipped"] = true;
  metrics_.Append(line);
  if (!record.skipped) {
    window_loss_ += record.loss * static_cast<double>(record.targets);
    window_targets_ += record.targets;
    window_operations_ += record.operations;
  }
  ++window_updates_;
  learning_rate_ = record.learning_rate;
  if (state.update % options_.report_every == 0) Report(state, record.ranks);
}

void TrainingLogs::Report(const TrainState& state, const std::vector<RankWork>& ranks) {
  const double now = effects_.now(), seconds = now - window_start_;
  const double loss =
      window_targets_ > 0 ? window_loss_ / static_cast<double>(window_targets_) : std::nan("");
  const double speed = seconds > 0 ? static_cast<double>(window_targets_) / seconds : 0;
  const double flops = seconds > 0 ? window_operations_ / seconds : 0;
  const double left = seconds / static_cast<double>(window_updates_) *
                      static_cast<double>(state.update) *
                      std::max(1 / ShareDone(options_, state) - 1, 0.0);
  effects_.progress({state.update, options_.max_updates, state.data.epoch, loss, learning_rate_,
                     speed, flops, effects_.peak_flops, left});
  Json line = {{"update", state.update},
               {"time", now},
               {"seconds", seconds},
               {"target_tokens_per_s", speed},
               {"flops", flops}};
  if (effects_.peak_flops > 0) line["utilisation"] = flops / effects_.peak_flops;
  for (const RankWork& rank : ranks) {
    line["ranks"].push_back({{"target_tokens", rank.targets},
                             {"loss", Number(rank.loss)},
                             {"computing_seconds", rank.computing_seconds},
                             {"waiting_seconds", rank.waiting_seconds},
                             {"data_seconds", rank.data_seconds}});
  }
  timing_.Append(line);
  tensorboard_.Append(state.update, now,
                      {{"train/loss", static_cast<float>(loss)},
                       {"train/learning_rate", static_cast<float>(learning_rate_)},
                       {"train/target_tokens_per_s", static_cast<float>(speed)}});
  StartWindow(now);
}

void TrainingLogs::StartWindow(double now) {
  window_start_ = now;
  window_loss_ = window_operations_ = 0;
  window_targets_ = window_updates_ = 0;
}

void TrainingLogs::LogValidation(const TrainState& state, const ValidationResult& result) {
  Json line = {{"update", state.update}, {"validation", Json::object()}};
  std::vector<std::pair<std::string, float>> scalars;
  for (const auto& [name, value] : result.metrics) {
    line["validation"][name] = Number(value);
    scalars.emplace_back("valid/" + name, static_cast<float>(value));
  }
  metrics_.Append(line);
  Json samples = Json::array();
  for (const ValidationResult::Sample& sample : result.samples) {
    Json& shown = samples.emplace_back(
        Json{{"input", sample.input}, {"reference", sample.reference}, {"output", sample.output}});
    if (!sample.picture.empty()) shown["picture"] = sample.picture;
  }
  samples_.Append({{"update", state.update}, {"samples", std::move(samples)}});
  tensorboard_.Append(state.update, effects_.now(), scalars);
  // Validation is no part of the training speed.
  StartWindow(effects_.now());
}

void TrainingLogs::LogEnd(const TrainState& state, const Json& scores) {
  std::vector<std::pair<std::string, float>> scalars;
  for (const auto& [name, value] : scores.items()) {
    const Json score = value.is_object() ? value.value("score", Json()) : value;
    if (score.is_number()) scalars.emplace_back("test/" + name, score.get<float>());
  }
  tensorboard_.Finish(state.update, effects_.now(), scalars);
}

void TrainingLogs::Sync() {
  metrics_.Sync();
  samples_.Sync();
  timing_.Sync();
  tensorboard_.Sync();
}

}  // namespace attend
