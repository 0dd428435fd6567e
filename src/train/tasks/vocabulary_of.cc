#include <fmt/format.h>

#include <filesystem>

#include "attend/error.h"
#include "base/sha256.h"
#include "model/config_file.h"
#include "text/tokenizer.h"
#include "train/export.h"
#include "train/set_up.h"
#include "train/tasks/given_vocabulary.h"
#include "train/tasks/vocabulary_choice.h"

namespace attend {
namespace {

std::shared_ptr<const Vocabulary> OwnVocabulary(const TaskSetup& setup,
                                                const VocabularyChoice& choice,
                                                const std::function<std::string()>& make) {
  const TrainOptions& options = *setup.options;
  if (setup.init != nullptr) {
    const Model& init = *setup.init;
    const std::string& bytes =
        init.config.decoder ? init.target_vocabulary : init.source_vocabulary;
    if (bytes.empty()) {
      throw Error(ErrorKind::kInput,
                  fmt::format("the model in '{}' has no vocabulary, which training on text needs",
                              options.init));
    }
    return Vocabulary::FromBytes(bytes, options.init);
  }
  // What is given is read again, and compared with what the run began with.
  if (setup.goes_on && (choice.Makes(options) || !options.init.empty())) {
    return Vocabulary::Load(std::filesystem::path(options.output) / kJointVocabularyFile);
  }
  if (!choice.vocab.empty()) return Vocabulary::Load(choice.vocab);
  setup.log(LogLevel::kInfo, fmt::format("making a vocabulary of {} tokens", choice.made.size));
  return Vocabulary::FromBytes(make(), "vocabulary made from the training text");
}

}  // namespace

std::shared_ptr<const Vocabulary> VocabularyOf(const TaskSetup& setup, VocabularyChoice* choice,
                                               const std::function<std::string()>& make) {
  const TrainOptions& options = *setup.options;
  const bool given = !choice->Makes(options);
  if (given) CheckMakingOptions(options, *setup.settings, options.init.empty() ? "vocab" : "init");
  std::shared_ptr<const Vocabulary> vocabulary;
  if (setup.group->first()) vocabulary = OwnVocabulary(setup, *choice, make);
  const std::string bytes =
      setup.group->FromFirst(vocabulary != nullptr ? vocabulary->bytes() : "");
  if (vocabulary == nullptr) vocabulary = Vocabulary::FromBytes(bytes, "rank 0's vocabulary");
  if (given) CheckGivenVocabulary(*vocabulary, choice->made, *setup.settings);
  CheckGivenCase(*vocabulary, choice->made.letter_case, *setup.settings);
  choice->made.letter_case = vocabulary->tokenizer().letter_case();
  return vocabulary;
}

void CheckTrainedWith(const ExportedRun& run, const std::string& name,
                      const Vocabulary& vocabulary) {
  if (run.identity.data_digests.value(name, Json()) == Json(Sha256(vocabulary.bytes()))) return;
  throw Error(ErrorKind::kInput,
              fmt::format("the vocabulary in '{}' is not the one that '{}' was trained with",
                          run.directory().string(), run.checkpoint.string()));
}

std::shared_ptr<const Vocabulary> VocabularyOf(const ExportedRun& run) {
  auto vocabulary = Vocabulary::Load(run.directory() / kJointVocabularyFile);
  CheckTrainedWith(run, "vocabulary", *vocabulary);
  return vocabulary;
}

}  // namespace attend
