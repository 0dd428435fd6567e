#include "train/train_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"

namespace attend {
namespace {

bool LowerIsBetter(EarlyStoppingMetric metric) { return metric == EarlyStoppingMetric::kLoss; }

bool IsBetter(EarlyStoppingMetric kind, double metric, double than) {
  return LowerIsBetter(kind) ? metric < than : metric > than;
}

// The last `count` of `recent`.
std::vector<int64_t> LastOf(const std::vector<int64_t>& recent, int64_t count) {
  return {recent.end() - std::min(static_cast<int64_t>(recent.size()), count), recent.end()};
}

std::vector<int64_t> BestOf(const std::vector<BestCheckpoint>& best, int64_t count) {
  std::vector<int64_t> updates;
  for (const BestCheckpoint& checkpoint : best) {
    if (static_cast<int64_t>(updates.size()) < count) updates.push_back(checkpoint.update);
  }
  return updates;
}

int64_t BestCount(const RunOptions& options) {
  return std::max(options.keep_best, options.average_best);
}

// Throws Json::exception.
int64_t CountOf(const Json& json, const char* name) {
  const Json& value = json.at(name);
  const auto count = value.get<int64_t>();
  if (!value.is_number_integer() || count < 0) {
    throw Json::other_error::create(501, fmt::format("{} is no count", name), &json);
  }
  return count;
}

}  // namespace

Json ToJson(const TrainState& state) {
  Json json = Json::object();
  json["update"] = state.update;
  json["adam_steps"] = state.adam_steps;
  json["target_tokens"] = state.target_tokens;
  json["skipped_updates"] = state.skipped_updates;
  json["bad_in_a_row"] = state.bad_in_a_row;
  json["data"] = {
      {"epoch", state.data.epoch},          {"batch_in_epoch", state.data.batch_in_epoch},
      {"sequence", state.data.sequence},    {"window", state.data.window.number},
      {"cursor", state.data.window.cursor}, {"batches_before", state.data.batches_before},
      {"report", ToJson(state.data.report)}};
  json["recent"] = state.recent;
  json["best"] = Json::array();
  for (const BestCheckpoint& best : state.best)
    json["best"].push_back({{"update", best.update}, {"metric", best.metric}});
  json["best_metric"] = state.best_metric ? Json(*state.best_metric) : Json();
  json["validations_without_better"] = state.validations_without_better;
  json["changes"] = state.changes;
  return json;
}

TrainState TrainStateFromJson(const Json& json, const std::string& where) {
  try {
    TrainState state;
    state.update = CountOf(json, "update");
    state.adam_steps = CountOf(json, "adam_steps");
    state.target_tokens = CountOf(json, "target_tokens");
    state.skipped_updates = CountOf(json, "skipped_updates");
    state.bad_in_a_row = CountOf(json, "bad_in_a_row");
    const Json& data = json.at("data");
    state.data = {CountOf(data, "epoch"),          CountOf(data, "batch_in_epoch"),
                  CountOf(data, "sequence"),       {CountOf(data, "window"), data.at("cursor")},
                  CountOf(data, "batches_before"), CorpusReportFromJson(data.at("report"))};
    state.recent = json.at("recent").get<std::vector<int64_t>>();
    for (const Json& best : json.at("best"))
      state.best.push_back({best.at("update"), best.at("metric")});
    if (!json.at("best_metric").is_null()) state.best_metric = json.at("best_metric").get<double>();
    state.validations_without_better = CountOf(json, "validations_without_better");
    state.changes = json.at("changes").get<Json::array_t>();
    return state;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: not the state of a training run: {}", where, error.what()));
  }
}

const Json& RunOf(const Json& state, const std::string& where) {
  for (const char* member : {"options", "model", "data_digests", "environment", "task"}) {
    if (state.contains("run") && state["run"].is_object() && state["run"].contains(member) &&
        state["run"][member].is_object()) {
      continue;
    }
    throw Error(
        ErrorKind::kInput,
        fmt::format("{}: not the state of a training run: run.{} is missing", where, member));
  }
  return state["run"];
}

bool RecordValidation(const RunOptions& options, double metric, TrainState* state) {
  const EarlyStoppingMetric kind = options.early_stopping_metric;
  const bool better =
      metric == metric && (!state->best_metric || IsBetter(kind, metric, *state->best_metric));
  if (better) state->best_metric = metric;
  state->validations_without_better = better ? 0 : state->validations_without_better + 1;
  if (metric != metric) return false;  // NaN is nobody's best
  auto place = state->best.begin();
  while (place != state->best.end() && !IsBetter(kind, metric, place->metric)) ++place;
  state->best.insert(place, {state->update, metric});
  if (static_cast<int64_t>(state->best.size()) > BestCount(options))
    state->best.resize(BestCount(options));
  return std::any_of(state->best.begin(), state->best.end(),
                     [&](const BestCheckpoint& best) { return best.update == state->update; });
}

void RecordCheckpoint(const RunOptions& options, TrainState* state) {
  if (state->recent.empty() || state->recent.back() != state->update)
    state->recent.push_back(state->update);
  state->recent = LastOf(state->recent, std::max(options.keep_last, options.average_last));
}

std::set<int64_t> WholeCheckpoints(const RunOptions& options, const TrainState& state) {
  const std::vector<int64_t> last = LastOf(state.recent, options.keep_last);
  std::set<int64_t> updates(last.begin(), last.end());
  updates.insert(state.update);
  return updates;
}

std::set<int64_t> WeightCheckpoints(const RunOptions& options, const TrainState& state) {
  const std::vector<int64_t> last = LastOf(state.recent, options.average_last);
  const std::vector<int64_t> best = BestOf(state.best, BestCount(options));
  std::set<int64_t> updates(last.begin(), last.end());
  updates.insert(best.begin(), best.end());
  return updates;
}

std::vector<int64_t> AveragedCheckpoints(const RunOptions& options, const TrainState& state) {
  std::vector<int64_t> updates = options.average_best > 0
                                     ? BestOf(state.best, options.average_best)
                                     : LastOf(state.recent, options.average_last);
  std::sort(updates.begin(), updates.end());
  return updates;
}

std::string StopReason(const RunOptions& options, const TrainState& state) {
  if (state.update >= options.max_updates)
    return fmt::format("max_updates ({}) reached", options.max_updates);
  if (options.max_epochs > 0 && state.data.epoch >= options.max_epochs)
    return fmt::format("max_epochs ({}) reached", options.max_epochs);
  if (options.early_stopping_patience > 0 &&
      state.validations_without_better >= options.early_stopping_patience) {
    return fmt::format("no better validation in {}", state.validations_without_better);
  }
  return "";
}

}  // namespace attend
