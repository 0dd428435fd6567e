// What a run asks of translation around its training.
#include <fmt/format.h>

#include "attend/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "metrics/tokenizer_choice.h"
#include "model/config_file.h"
#include "train/tasks/text_files.h"
#include "train/tasks/translation/text_checks.h"
#include "train/tasks/translation/translation.h"
#include "train/tasks/translation/translation_export.h"
#include "train/tasks/translation/translation_task.h"

namespace attend {

namespace {

// As AddDigests; files from `pair_files` on, the same in each column, are the plain text.
void AddPairDigests(const std::string& name, const Corpus& corpus, int64_t pair_files,
                    Json* digests) {
  const auto files = std::ssize(corpus.columns()[0].files);
  for (int64_t i = 0; i < std::ssize(corpus.digests()); ++i) {
    const FileDigest& file = corpus.digests()[i];
    const int64_t number = i % files - pair_files + 1;  // of plain text, from 1
    const std::string file_name = number > 0 ? fmt::format("text file {}", number) : file.name;
    (*digests)[fmt::format("{}_{}", name, file_name)] = file.sha256;
  }
}

}  // namespace

const TaskInfo& TranslationTask::info() const { return TrainableTranslation().info; }

Json TranslationTask::Digests() const {
  Json digests = Json::object();
  AddPairDigests("train", *train_, std::ssize(own_.corpus.train_source), &digests);
  if (valid_ != nullptr) AddDigests("valid", valid_.get(), &digests);
  if (valid_plain_ != nullptr) AddPairDigests("valid", *valid_plain_, 0, &digests);
  digests["source vocabulary"] = Sha256(vocabularies_.source->bytes());
  digests["target vocabulary"] = Sha256(vocabularies_.target->bytes());
  if (teacher_ != nullptr) digests["teacher"] = teacher_->digest();
  return digests;
}

Json TranslationTask::ForExport() const {
  return {{"tokenization", DescribeTokenization(options_, vocabularies_)},
          {"sample_sources", SampleSources(sample_lines_)},
          {"training_text", TrainingTextToJson(training_text_)}};
}

void TranslationTask::SaveFiles(const std::filesystem::path& directory) const {
  SaveVocabularies(vocabularies_, directory);
}

// How BLEU cuts the references, said once, and whether they look tokenized.
void TranslationTask::DescribeReferences(const Log& log) const {
  std::string said;
  const auto report = [&](const char* what, const std::vector<std::string>& references) {
    const BleuOptions bleu = BleuOf(options_, references);
    const std::string note = TokenizerNote(bleu, references);
    const bool is_auto = bleu.tokenize == BleuTokenizer::kAuto;
    if (!note.empty() && note != said) log(is_auto ? LogLevel::kInfo : LogLevel::kWarning, note);
    said = note;
    if (bleu.tokenize == BleuTokenizer::kNone) return;
    const std::string warning = TokenizedTextWarning({what, &references});
    if (!warning.empty()) log(LogLevel::kWarning, warning);
  };
  if (bleu_ != nullptr) report("validation text", valid_text_.target);
  if (test_) report("test text", test_->target);
}

void TranslationTask::Describe(const Log& log) const {
  DescribeReferences(log);
  log(LogLevel::kInfo, fmt::format("training text: {}", train_->Summary()));
  if (valid_ != nullptr)
    log(LogLevel::kInfo, fmt::format("validation text: {}", valid_->Summary()));
  if (valid_plain_ != nullptr)
    log(LogLevel::kInfo, fmt::format("plain validation text: {}", valid_plain_->Summary()));
}

Json TranslationTask::CheckData(const Log& log) const {
  return CheckTexts(options_, vocabularies_, threads_, log);
}

Json TranslationTask::Plan(const CorpusReport& read) const {
  CorpusReport lines = train_->report();
  lines.Add(read);
  Json plan = Json::object();
  plan["train"] = train_->Summary();
  plan["train_lines"] = ToJson(lines);
  if (valid_ != nullptr) plan["valid"] = valid_->Summary();
  if (valid_plain_ != nullptr) plan["valid_text"] = valid_plain_->Summary();
  if (test_) plan["test"] = fmt::format("{} lines", test_->source.size());
  plan["source_vocabulary"] = options_.model.source_vocab_size;
  plan["target_vocabulary"] = options_.model.target_vocab_size;
  return plan;
}

// The outputs are kept, too.
Json TranslationTask::Test(const TestSetting& setting) {
  if (!test_) return Json();
  const auto tell = [&](size_t lines) {
    setting.tell(
        fmt::format("translated {} of {} lines of the test text", lines, test_->source.size()));
  };
  const Outputs found =
      TranslateLines(ToRun(setting.model, nullptr), test_->source, own_, threads_, tell);
  std::string text;
  for (const std::string& output : found.lines) text += output + "\n";
  WriteFileAtomically(setting.output / "test_output.txt", text);
  Json scores = ScoreTranslations(found.lines, test_->target, BleuOf(options_, test_->target));
  scores["cut"] = found.cut;
  if (found.cut > 0) {
    log_(LogLevel::kWarning,
         fmt::format("{} of {} translations of the test text were cut at the maximum length",
                     found.cut, found.lines.size()));
  }
  return scores;
}

}  // namespace attend
