#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "tasks/parsing/parse_search.h"
#include "text/text_words.h"
#include "train/tasks/parsing/parsing_task.h"
#include "train/tasks/parsing/parsing_train_options.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

struct ReadTrees {
  std::vector<TreebankItem> train, valid, test;
};

ReadTrees Read(const ParsingTrainOptions& own) {
  for (const auto* files : {&own.train, &own.valid, &own.test})
    CheckReadable(*files, FormatCheck::kText);
  const auto read = [&](const std::vector<std::string>& files) {
    return files.empty() ? std::vector<TreebankItem>() : ReadTreebank(files, !own.TellsTagsApart());
  };
  return {read(own.train), read(own.valid), read(own.test)};
}

std::string MakeVocabulary(const TaskSetup& setup, const std::vector<TreebankItem>& items) {
  size_t item = 0;
  const NextLine next = [&](std::string* line) {
    if (item == items.size()) return false;
    *line = JoinWords(items[item++].tree.Words());
    return true;
  };
  return TrainVocabulary(next, ParsingOf(*setup.options).vocabulary.made,
                         static_cast<uint64_t>(setup.options->seed), setup.log);
}

// What does not hang on the vocabulary, or the model to fine-tune has it.
void CompleteShape(const TaskSetup& setup, const std::vector<TreebankItem>& train) {
  ModelConfig& model = setup.options->model;
  ParsingTrainOptions& own = ParsingOf(*setup.options);
  model.head = HeadKind::kVocabulary;
  if (!model.constituents.empty()) {
    if (setup.settings->is_given("next_word") && own.next_word != model.next_word_input) {
      throw Error(ErrorKind::kConfiguration,
                  "next_word is not as in the model to fine-tune; leave it out");
    }
    own.next_word = model.next_word_input;
    return;
  }
  if (setup.settings->is_given("tie_source_target") && model.tie_source_target) {
    throw Error(ErrorKind::kConfiguration,
                "tie_source_target is on, but a parser writes symbols and reads words; leave it "
                "out");
  }
  model.tie_source_target = false;
  model.source_eos = true;
  CheckShape(model);
  const std::set<std::string> constituents = ConstituentsIn(train), tags = TagsIn(train);
  model.constituents.assign(constituents.begin(), constituents.end());
  model.tags.assign(tags.begin(), tags.end());
  model.next_word_input = own.next_word;
  if (model.constituents.empty())
    throw Error(ErrorKind::kInput, "the training text has no constituents, only words");
}

}  // namespace

std::unique_ptr<TrainingTask> SetUpParsing(const TaskSetup& setup) {
  TrainOptions& options = *setup.options;
  ModelConfig& model = options.model;
  ParsingTrainOptions& own = ParsingOf(options);
  ReadTrees trees = Read(own);
  CompleteShape(setup, trees.train);
  Treebanks text;
  text.vocabulary =
      VocabularyOf(setup, &own.vocabulary, [&] { return MakeVocabulary(setup, trees.train); });
  model.special_ids = text.vocabulary->special_ids();
  model.source_begin = {model.special_ids.bos};
  model.source_vocab_size = text.vocabulary->size();
  const TreeSymbols symbols = SymbolsOf(model);
  model.target_vocab_size = symbols.size();
  CheckModelConfig(model);
  text.punctuation = PunctuationIn(trees.train);
  const auto encode = [&](const std::vector<std::string>& files, std::vector<TreebankItem>* items,
                          std::vector<double> weights = {}) {
    const TreeCorpusOptions corpus{MaxSentenceTokens(model), std::move(weights),
                                   static_cast<uint64_t>(options.seed)};
    return files.empty() ? nullptr
                         : std::make_shared<const TreeCorpus>(files, text.vocabulary,
                                                              std::move(*items), symbols, corpus);
  };
  text.train = encode(own.train, &trees.train, own.weights);
  text.valid = encode(own.valid, &trees.valid);
  if (setup.group->first()) text.test = encode(own.test, &trees.test);
  if (text.train->table().size() == 0)
    throw Error(ErrorKind::kInput, "no tree is left to train on: " + text.train->Summary());
  if (text.valid != nullptr && text.valid->table().size() == 0)
    throw Error(ErrorKind::kInput, "no tree is left to validate on: " + text.valid->Summary());
  return std::make_unique<ParsingTask>(setup, std::move(text));
}

}  // namespace attend
