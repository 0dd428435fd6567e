#include "train/tasks/translation/vocabularies.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "model/config_file.h"
#include "text/vocabulary_trainer.h"
#include "train/tasks/translation/translation_train_options.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

std::shared_ptr<const Vocabulary> Make(const std::vector<std::string>& files,
                                       const TrainOptions& options, const Log& log) {
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  VocabularyOptions making = corpus.vocabulary;
  if (corpus.Streams()) making.LimitSentences();
  std::string message = fmt::format("making a vocabulary of {} pieces", making.size);
  if (making.max_sentences > 0)
    message += fmt::format(", from a sample of at most {} lines", making.max_sentences);
  log(LogLevel::kInfo, message);
  const std::string bytes =
      TrainVocabulary(files, making, static_cast<uint64_t>(options.seed), log);
  return Vocabulary::FromBytes(bytes, "vocabulary made from the training text");
}

}  // namespace

Vocabularies MakeVocabularies(const TrainOptions& options, const Log& log) {
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  if (!corpus.vocab.empty()) {
    const auto vocabulary = Vocabulary::Load(corpus.vocab);
    return {vocabulary, vocabulary};
  }
  if (!corpus.source_vocab.empty())
    return {Vocabulary::Load(corpus.source_vocab), Vocabulary::Load(corpus.target_vocab)};
  if (!corpus.joint_vocab)
    return {Make(corpus.train_source, options, log), Make(corpus.train_target, options, log)};
  std::vector<std::string> files = corpus.train_source;
  for (const std::vector<std::string>* more : {&corpus.train_target, &corpus.train_text}) {
    for (const std::string& file : *more)
      if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
  const auto vocabulary = Make(files, options, log);
  return {vocabulary, vocabulary};
}

void SaveVocabularies(const Vocabularies& vocabularies, const fs::path& directory) {
  // What is left of a start with the other kind would be taken for this run's.
  if (vocabularies.joint()) {
    WriteFileAtomically(directory / kJointVocabularyFile, vocabularies.source->bytes());
    for (const char* other : {kSourceVocabularyFile, kTargetVocabularyFile})
      fs::remove(directory / other);
  } else {
    WriteFileAtomically(directory / kSourceVocabularyFile, vocabularies.source->bytes());
    WriteFileAtomically(directory / kTargetVocabularyFile, vocabularies.target->bytes());
    fs::remove(directory / kJointVocabularyFile);
  }
}

Vocabularies LoadVocabularies(const fs::path& directory) {
  if (fs::exists(directory / kSourceVocabularyFile)) {
    return {Vocabulary::Load(directory / kSourceVocabularyFile),
            Vocabulary::Load(directory / kTargetVocabularyFile)};
  }
  const auto vocabulary = Vocabulary::Load(directory / kJointVocabularyFile);
  return {vocabulary, vocabulary};
}

}  // namespace attend
