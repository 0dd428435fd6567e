#include "train/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "tasks/translation/translation_search.h"
#include "train/checkpoint/average.h"
#include "train/checkpoint/checkpoint_store.h"
#include "train/checkpoint/train_state.h"
#include "train/loop/parameters.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

torch::Tensor Row(const std::vector<int32_t>& ids) {
  return torch::tensor(std::vector<int64_t>(ids.begin(), ids.end()), torch::kInt64).unsqueeze(0);
}

TopLogits TopOf(const torch::Tensor& logits_V, int64_t position) {
  const auto [values, ids] = logits_V.topk(std::min<int64_t>(kSampleTopLogits, logits_V.numel()));
  TopLogits top{position, {}, {}};
  for (int64_t k = 0; k < values.numel(); ++k) {
    top.ids.push_back(static_cast<int32_t>(ids[k].item<int64_t>()));
    top.logits.push_back(values[k].item<double>());
  }
  return top;
}

// One step of greedy decoding; returns false after eos.
bool Step(nn::Transformer& transformer, const nn::Memory& memory, std::vector<int32_t>* prefix,
          Sample* sample) {
  const SpecialIds ids = transformer->config().special_ids;
  const torch::Tensor hidden_BTD = transformer->Decode(Row(*prefix), memory);
  const torch::Tensor logits_V =
      transformer->Logits(hidden_BTD.select(1, -1)).squeeze(0).to(torch::kFloat64);
  torch::Tensor allowed_V = logits_V.clone();
  allowed_V[ids.pad] = allowed_V[ids.bos] = allowed_V[ids.unk] =
      -std::numeric_limits<double>::infinity();
  const auto next = static_cast<int32_t>(allowed_V.argmax().item<int64_t>());
  sample->top_logits.push_back(TopOf(logits_V, static_cast<int64_t>(sample->target_ids.size())));
  sample->target_ids.push_back(next);
  sample->token_log_probabilities.push_back(logits_V.log_softmax(0)[next].item<double>());
  sample->score += sample->token_log_probabilities.back();
  prefix->push_back(next);
  return next != ids.eos;
}

// The checkpoint itself, or the newest one of a run's output directory.
StoredCheckpoint CheckpointAt(const fs::path& path, const Log& log) {
  if (fs::exists(path / kStateFile) || !fs::is_directory(path / "checkpoints"))
    return ReadCheckpointState(path);
  const auto newest = CheckpointStore(path / "checkpoints").FindNewest(log);
  if (!newest)
    throw Error(ErrorKind::kInput, fmt::format("'{}' holds no checkpoint", path.string()));
  return *newest;
}

// What a run's task leaves for its export.
struct TaskOfExport {
  Json tokenization;
  std::vector<std::string> sample_sources;
  std::optional<TrainingText> training_text;  // none in checkpoints of older versions
};

TaskOfExport TaskOf(const RunIdentity& run, const std::string& where) {
  TaskOfExport task{MemberOf<Json>(run.task, "tokenization", where),
                    MemberOf<std::vector<std::string>>(run.task, "sample_sources", where),
                    std::nullopt};
  const Json text = run.task.value("training_text", Json());
  if (!text.is_null()) FieldsFromJson(text, Fields(task.training_text.emplace()), where);
  return task;
}

// The vocabularies in the run's directory, which must be those the checkpoint was trained with.
Vocabularies VocabulariesOf(const StoredCheckpoint& checkpoint, const Json& digests) {
  const fs::path run =
      fs::absolute(checkpoint.directory).lexically_normal().parent_path().parent_path();
  Vocabularies vocabularies = LoadVocabularies(run);
  if (digests.value("source vocabulary", Json()) != Json(Sha256(vocabularies.source->bytes())) ||
      digests.value("target vocabulary", Json()) != Json(Sha256(vocabularies.target->bytes()))) {
    throw Error(ErrorKind::kInput,
                fmt::format("the vocabulary in '{}' is not the one that '{}' was trained with",
                            run.string(), checkpoint.directory.string()));
  }
  return vocabularies;
}

std::string StateFileOf(const StoredCheckpoint& checkpoint) {
  return (checkpoint.directory / kStateFile).string();
}

// The later one says that its run went on with other options after the earlier one.
bool TellsOfChanges(const StoredCheckpoint& earlier, const StoredCheckpoint& later) {
  const Json before = TrainStateFromJson(earlier.state, StateFileOf(earlier)).changes,
             after = TrainStateFromJson(later.state, StateFileOf(later)).changes;
  return after.size() > before.size() && std::equal(before.begin(), before.end(), after.begin());
}

// Weights of different runs have no useful mean, nor have they the same vocabulary.
void CheckOneRun(const StoredCheckpoint& checkpoint, const StoredCheckpoint& first) {
  const bool in_order = first.update <= checkpoint.update;
  const StoredCheckpoint& earlier = in_order ? first : checkpoint;
  const StoredCheckpoint& later = in_order ? checkpoint : first;
  RunChanges found = CompareRuns(RunOf(earlier.state, StateFileOf(earlier)),
                                 RunOf(later.state, StateFileOf(later)));
  std::vector<std::string> differences = std::move(found.forbidden);
  if (!TellsOfChanges(earlier, later))
    differences.insert(differences.end(), found.applied.begin(), found.applied.end());
  if (differences.empty()) return;
  throw Error(ErrorKind::kInput,
              fmt::format("checkpoint '{}' is of another run than '{}': {}; only checkpoints of "
                          "one run can be averaged",
                          later.directory.string(), earlier.directory.string(),
                          fmt::join(differences, "; ")));
}

Json ProvenanceOf(const StoredCheckpoint& last, const std::vector<StoredCheckpoint>& checkpoints,
                  const RunIdentity& run) {
  Json provenance = Json::object();
  provenance["command"] = "attend train";
  provenance["seed"] = run.options.value("seed", Json());
  provenance["data_digests"] = run.data_digests;
  provenance["environment"] = run.environment;
  provenance["averaged_updates"] = Json::array();
  for (const StoredCheckpoint& checkpoint : checkpoints)
    provenance["averaged_updates"].push_back(checkpoint.update);
  provenance["target_tokens"] = last.state.value("target_tokens", Json());
  provenance["metrics"] = {{"best", last.state.value("best", Json::array())}};
  return provenance;
}

}  // namespace

Sample MakeSample(nn::Transformer& transformer, const Vocabularies& vocabularies,
                  const std::string& source) {
  const torch::NoGradGuard no_grad;
  const SpecialIds ids = transformer->config().special_ids;
  Sample sample;
  sample.source = source;
  sample.source_ids = vocabularies.source->Encode(source);
  sample.source_ids.push_back(static_cast<int32_t>(ids.eos));
  const nn::Memory memory = transformer->Encode(Row(sample.source_ids));
  std::vector<int32_t> prefix{static_cast<int32_t>(ids.bos)};
  const int64_t limit =
      MaxOutput(*transformer->config().decoder, std::ssize(sample.source_ids) - 1 + kExtraLength);
  for (int64_t step = 0; step < limit && Step(transformer, memory, &prefix, &sample); ++step) {
  }
  sample.target = vocabularies.target->Decode(sample.target_ids);
  return sample;
}

std::vector<int64_t> ExportCheckpoints(const std::vector<fs::path>& checkpoints,
                                       const fs::path& output, const Log& log) {
  std::vector<StoredCheckpoint> stored;
  for (const fs::path& path : checkpoints) {
    stored.push_back(CheckpointAt(path, log));
    CheckOneRun(stored.back(), stored.front());
  }
  const TensorTable weights = AverageCheckpoints(stored);
  const StoredCheckpoint& last =
      *std::max_element(stored.begin(), stored.end(),
                        [](const auto& a, const auto& b) { return a.update < b.update; });
  const std::string where = StateFileOf(last);
  const RunIdentity run = RunOf(last.state, where);
  const Vocabularies vocabularies = VocabulariesOf(last, run.data_digests);
  const TaskOfExport task = TaskOf(run, where);

  Model model;
  model.config = ModelConfigOf(run.model, where);
  model.tensors = weights;
  model.source_vocabulary = vocabularies.source->bytes();
  model.target_vocabulary = vocabularies.target->bytes();
  model.tokenization = task.tokenization;
  model.training_text = task.training_text;
  model.provenance = ProvenanceOf(last, stored, run);
  nn::Transformer transformer(model.config);
  ReadParameters(weights, transformer.ptr().get());
  transformer->eval();
  std::vector<Sample> samples;
  for (const std::string& source : task.sample_sources)
    samples.push_back(MakeSample(transformer, vocabularies, source));
  model.samples = SamplesToJson(samples);
  SaveModel(model, output);
  log(LogLevel::kInfo, fmt::format("wrote {} (average of {} checkpoint{})", output.string(),
                                   stored.size(), stored.size() == 1 ? "" : "s"));
  return model.provenance.at("averaged_updates");
}

}  // namespace attend
