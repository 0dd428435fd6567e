#include "train/tasks/plain_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "model/config_file.h"
#include "train/set_up.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

// A file that can't be read is better known before a vocabulary is made, which may take long.
void CheckFilesOf(const PlainTextOptions& own) {
  for (const std::vector<std::string>* files : {&own.train_text, &own.valid_text, &own.test_text})
    CheckReadable(*files, FormatCheck::kSentences);
}

void CheckContext(const PlainTextOptions& own, const ModelConfig& model, int64_t beside) {
  const int64_t tokens = own.context.context_tokens;
  const int64_t longest = MaxTokens(model.last_stack());
  if (tokens + beside - 1 <= longest) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("context_tokens is {}, but the model's learned positions reach {} "
                          "tokens; set context_tokens to at most that, or a larger max_positions",
                          tokens, longest + 1 - beside));
}

std::shared_ptr<const DocumentCorpus> ReadDocuments(
    const std::vector<std::string>& files, const TaskSetup& setup, const ContextOptions& context,
    const std::shared_ptr<const Vocabulary>& vocabulary) {
  if (files.empty()) return nullptr;
  auto corpus =
      std::make_shared<DocumentCorpus>(files, vocabulary, context, setup.settings->threads);
  corpus->Shuffle(static_cast<uint64_t>(setup.options->seed));
  return corpus;
}

}  // namespace

PlainText SetUpPlainText(const TaskSetup& setup, const PlainTextOptions& own, int64_t beside) {
  TrainOptions& options = *setup.options;
  CheckFilesOf(own);
  CheckShape(options.model);
  CheckContext(own, options.model, beside);
  PlainText text;
  text.vocabulary = VocabularyOf(setup, own.vocabulary, [&] {
    return TrainVocabulary(own.train_text, own.vocabulary.made, static_cast<uint64_t>(options.seed),
                           setup.log);
  });
  options.model.source_vocab_size = options.model.target_vocab_size = text.vocabulary->size();
  options.model.special_ids = text.vocabulary->special_ids();
  CheckModelConfig(options.model);
  text.train = ReadDocuments(own.train_text, setup, own.context, text.vocabulary);
  text.valid = ReadDocuments(own.valid_text, setup, own.context, text.vocabulary);
  if (setup.group->first())
    text.test = ReadDocuments(own.test_text, setup, own.context, text.vocabulary);
  return text;
}

Json PlainText::Digests() const {
  Json digests = Json::object();
  AddDigests("train", train.get(), &digests);
  AddDigests("valid", valid.get(), &digests);
  digests["vocabulary"] = Sha256(vocabulary->bytes());
  return digests;
}

void PlainText::Describe(const Log& log) const {
  log(LogLevel::kInfo, fmt::format("training text: {}", train->Text()));
  if (valid != nullptr) log(LogLevel::kInfo, fmt::format("validation text: {}", valid->Text()));
}

Json PlainText::Check(const Log& log) const {
  constexpr double kMany = 0.01;
  const auto unk = static_cast<int32_t>(vocabulary->special_ids().unk);
  Json counts = Json::object();
  const auto check = [&](const char* name, const DocumentCorpus* corpus) {
    if (corpus == nullptr) return;
    int64_t unknown = 0;
    for (int64_t i = 0; i < corpus->text_size().documents; ++i)
      unknown += std::ranges::count(corpus->Document(i), unk);
    const double share =
        static_cast<double>(unknown) / static_cast<double>(corpus->text_size().tokens);
    counts[name] = {{"unknown_tokens", unknown}, {"tokens", corpus->text_size().tokens}};
    if (share < kMany) return;
    log(LogLevel::kWarning,
        fmt::format("{:.1f} % of the tokens of the {} text are unknown to the vocabulary",
                    100 * share, name));
  };
  check("training", train.get());
  check("validation", valid.get());
  check("test", test.get());
  return counts;
}

Json PlainText::Plan() const {
  Json plan = Json::object();
  plan["train"] = train->Text();
  plan["train_lines"] = ToJson(train->report());
  if (valid != nullptr) plan["valid"] = valid->Text();
  if (test != nullptr) plan["test"] = test->Text();
  plan["vocabulary"] = vocabulary->size();
  return plan;
}

void PlainText::Save(const std::filesystem::path& directory) const {
  WriteFileAtomically(directory / kJointVocabularyFile, vocabulary->bytes());
}

}  // namespace attend
