#include "train/tasks/text_task.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "model/config_file.h"
#include "train/tasks/packed_batch.h"

namespace attend {

TextTask::TextTask(const TaskSetup& setup, TaskTexts texts)
    : ModelTask(setup), texts_(std::move(texts)) {}

nn::DropoutKey TextTask::KeyOf(const Shard& shard, uint64_t seed) const {
  // A decoder does not read an example's last token.
  const int64_t tokens = shard.tokens_before[0];
  return {seed, tokens, tokens - shard.examples_before};
}

torch::Tensor TextTask::HiddenOf(const nn::PackedIds& read,
                                 const std::optional<nn::DropoutKey>& dropout,
                                 std::initializer_list<torch::Tensor*> beside) {
  const bool decoder = config().decoder.has_value();
  if (device_.is_cpu()) {
    return decoder ? transformer_->PackedHidden({}, read, dropout)
                   : transformer_->PackedEncode(read, dropout);
  }
  std::vector<torch::Tensor> here = {PadIds(read, config().special_ids.pad), PaddedRows(read)};
  for (const torch::Tensor* each : beside) here.push_back(*each);
  const std::vector<torch::Tensor> there = uploader_.Upload(here);
  size_t next = 2;
  for (torch::Tensor* each : beside) *each = there[next++];
  const torch::Tensor hidden_BTD =
      decoder ? transformer_->Decode(there[0]) : transformer_->Encode(there[0]).hidden_BSD;
  return hidden_BTD.flatten(0, 1).index_select(0, there[1]);
}

Json TextTask::Digests() const {
  Json digests = Json::object();
  AddDigests("train", texts_.train.get(), &digests);
  AddDigests("valid", texts_.valid.get(), &digests);
  digests["vocabulary"] = Sha256(vocabulary().bytes());
  return digests;
}

void TextTask::SaveFiles(const std::filesystem::path& directory) const {
  WriteFileAtomically(directory / kJointVocabularyFile, vocabulary().bytes());
}

void TextTask::Describe(const Log& log) const {
  log(LogLevel::kInfo, fmt::format("training text: {}", texts_.train->Summary()));
  if (texts_.valid != nullptr)
    log(LogLevel::kInfo, fmt::format("validation text: {}", texts_.valid->Summary()));
}

Json TextTask::CheckData(const Log& log) const {
  constexpr double kMany = 0.01, kMistake = 0.5;
  Json counts = Json::object();
  const auto check = [&](const char* name, const TextCorpus* corpus) {
    if (corpus == nullptr) return;
    const CorpusReport& report = corpus->report();
    if (2 * report.malformed.count > report.lines) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{} of {} lines of the {} text are malformed UTF-8 ({}); convert it, "
                              "such as: iconv -f ISO-8859-1 -t UTF-8",
                              report.malformed.count, report.lines, name, report.malformed.Text()));
    }
    const int64_t tokens = corpus->tokens(), unknown = corpus->unknown_tokens();
    counts[name] = {{"unknown_tokens", unknown}, {"tokens", tokens}};
    const double share = static_cast<double>(unknown) / static_cast<double>(tokens);
    if (share < kMany) return;
    if (share >= kMistake) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{:.0f} % of the tokens of the {} text ({}) are unknown to the "
                              "vocabulary, expected less than {:.0f} %; make a vocabulary from "
                              "this text (vocab_size), or one that spells unknown characters by "
                              "their bytes (vocab_byte_fallback)",
                              100 * share, name, corpus->columns()[0].files[0], 100 * kMistake));
    }
    log(LogLevel::kWarning,
        fmt::format("{:.1f} % of the tokens of the {} text are unknown to the vocabulary",
                    100 * share, name));
  };
  check("training", texts_.train.get());
  check("validation", texts_.valid.get());
  check("test", texts_.test.get());
  return counts;
}

Json TextTask::Plan(const CorpusReport& read) const {
  CorpusReport lines = texts_.train->report();
  lines.Add(read);
  Json plan = Json::object();
  plan["train"] = texts_.train->Summary();
  plan["train_lines"] = ToJson(lines);
  if (texts_.valid != nullptr) plan["valid"] = texts_.valid->Summary();
  if (texts_.test != nullptr) plan["test"] = texts_.test->Summary();
  plan["vocabulary"] = vocabulary().size();
  return plan;
}

Json TextTask::Test(const TestSetting& setting) {
  return texts_.test == nullptr ? Json() : TestText(setting);
}

}  // namespace attend
