#include "train/checkpoint/train_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/error.h"
#include "model/config_fields.h"

namespace attend {
namespace {

bool IsBetter(const Measurement& measured, double than) {
  return measured.high_is_better ? measured.value > than : measured.value < than;
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

// As MemberOf.
int64_t CountOf(const Json& json, const char* name, const std::string& where) {
  const auto value = MemberOf<Json>(json, name, where);
  if (!value.is_number_integer() || value.get<int64_t>() < 0) RefuseMember(&value, name, where);
  return value.get<int64_t>();
}

DataPosition DataPositionFromJson(const Json& json, const std::string& where) {
  const auto count = [&](const char* name) { return CountOf(json, name, where); };
  return {
      count("epoch"),          count("batch_in_epoch"),
      count("sequence"),       {count("window"), MemberOf<Json>(json, "cursor", where)},
      count("batches_before"), CorpusReportFromJson(MemberOf<Json>(json, "report", where), where)};
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

TrainState TrainStateFromJson(const Json& json, const std::string& file) {
  const std::string where = file + ": not the state of a training run";
  const auto count = [&](const char* name) { return CountOf(json, name, where); };
  TrainState state;
  state.update = count("update");
  state.adam_steps = count("adam_steps");
  state.target_tokens = count("target_tokens");
  state.skipped_updates = count("skipped_updates");
  state.bad_in_a_row = count("bad_in_a_row");
  state.data = DataPositionFromJson(MemberOf<Json>(json, "data", where), where);
  state.recent = MemberOf<std::vector<int64_t>>(json, "recent", where);
  for (const Json& best : MemberOf<Json::array_t>(json, "best", where)) {
    state.best.push_back(
        {MemberOf<int64_t>(best, "update", where), MemberOf<double>(best, "metric", where)});
  }
  if (!MemberOf<Json>(json, "best_metric", where).is_null())
    state.best_metric = MemberOf<double>(json, "best_metric", where);
  state.validations_without_better = count("validations_without_better");
  state.changes = MemberOf<Json::array_t>(json, "changes", where);
  return state;
}

Json ToJson(const RunIdentity& run) {
  return {{"options", run.options},
          {"model", run.model},
          {"data_digests", run.data_digests},
          {"environment", run.environment},
          {"task", run.task}};
}

bool TrainsAdapter(const RunIdentity& run) { return run.options.contains("adapter"); }

RunIdentity RunOf(const Json& state, const std::string& where) {
  const Json run = state.value("run", Json());
  const auto member = [&](const char* name) {
    if (run.is_object() && run.contains(name) && run[name].is_object()) return run[name];
    throw Error(ErrorKind::kInput,
                fmt::format("{}: not the state of a training run: run.{} is missing", where, name));
  };
  return {member("options"), member("model"), member("data_digests"), member("environment"),
          member("task")};
}

ModelConfig ModelConfigOf(const Json& model, const std::string& where) {
  ModelConfig config;
  TakeParts(model, &config);
  try {
    FieldsFromJson(model, Fields(config), where);
  } catch (const Error& error) {
    throw Error(ErrorKind::kInput, error.what());
  }
  return config;
}

RunChanges CompareRuns(const RunIdentity& before, const RunIdentity& now) {
  // It would make a vocabulary, and the run has that of the model which it was fine-tuned from.
  if (before.data_digests.contains(kInitDigest) && now.options.contains("vocab_size"))
    return {.forbidden = {"init, the model to fine-tune, is not given any more"}, .applied = {}};
  RunChanges changes = CompareOptions(before.options, now.options);
  if (TrainsAdapter(before) && !TrainsAdapter(now))
    changes.forbidden.emplace_back("adapter.rank is not given any more");
  ModelConfig usual;
  const Json defaults = FieldsToJson(Fields(usual));
  if (WithDefaults(before.model, defaults) != WithDefaults(now.model, defaults))
    changes.forbidden.emplace_back("the model's configuration is another");
  for (const auto& [name, digest] : now.data_digests.items()) {
    if (before.data_digests.value(name, Json()) == digest) continue;
    changes.forbidden.push_back(name == kInitDigest
                                    ? "init, the model to fine-tune, is another or is new"
                                    : fmt::format("{} holds other text or is new", name));
  }
  for (const auto& [name, digest] : before.data_digests.items()) {
    // What a run was fine-tuned from is in its checkpoints.
    if (!now.data_digests.contains(name) && name != kInitDigest)
      changes.forbidden.push_back(fmt::format("{} is not there any more", name));
  }
  return changes;
}

bool RecordValidation(const RunOptions& options, const Measurement& measured, TrainState* state) {
  // Neither NaN nor infinity is anybody's best, and JSON has neither.
  const bool is_number = std::isfinite(measured.value);
  const bool better = is_number && (!state->best_metric || IsBetter(measured, *state->best_metric));
  if (better) state->best_metric = measured.value;
  state->validations_without_better = better ? 0 : state->validations_without_better + 1;
  if (!is_number) return false;
  auto place = state->best.begin();
  while (place != state->best.end() && !IsBetter(measured, place->metric)) ++place;
  state->best.insert(place, {state->update, measured.value});
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
