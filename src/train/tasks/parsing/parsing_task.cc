#include "train/tasks/parsing/parsing_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "metrics/brackets.h"
#include "tasks/parsing/parse_search.h"
#include "text/text_words.h"
#include "train/loop/training_speed.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/pair_batch.h"
#include "train/tasks/parsing/parsing.h"
#include "train/tasks/parsing/parsing_train_options.h"
#include "train/tasks/run_model.h"
#include "train/tasks/validation.h"

namespace attend {
namespace {

// For each target that the decoder reads, where its source's next word begins; with `packed` among
// the rows of all sources.
torch::Tensor NextWords(const Examples& examples, bool packed) {
  std::vector<int64_t> places;
  int64_t first = 0;
  for (const Example example : examples) {
    for (const int32_t place : example.Ids(2)) places.push_back(first + place);
    if (packed) first += example.Length(0);
  }
  return torch::tensor(places, torch::kInt64);
}

std::vector<std::string> LinesOf(const std::vector<TreebankItem>& items) {
  std::vector<std::string> lines;
  for (const TreebankItem& item : items) lines.push_back(ToLine(item.tree));
  return lines;
}

BracketCounts CountBrackets(const std::vector<ParsedText>& parsed,
                            const std::vector<std::string>& expected) {
  std::vector<std::string> found;
  for (const ParsedText& each : parsed) found.push_back(each.tree);
  return ScoreBrackets(found, expected).all;
}

}  // namespace

ParsingTask::ParsingTask(const TaskSetup& setup, Treebanks text)
    : TextTask(setup, text.texts()), text_(std::move(text)) {
  const double share = ParsingOf(options_).word_dropout;
  if (share > 0)
    dropped_.emplace(text_.train.get(), vocabulary(), share, static_cast<uint64_t>(options_.seed));
}

const TaskInfo& ParsingTask::info() const { return TrainableParsing().info; }

const ExampleSource& ParsingTask::examples() const {
  if (dropped_) return *dropped_;
  return *text_.train;
}

int64_t ParsingTask::CountTargets(const Examples& examples) const {
  int64_t targets = 0;
  for (const Example example : examples) targets += example.Length(1) - 1;
  return targets;
}

double ParsingTask::Work(const Example& example) const {
  return ProductOperations(config(), example.Length(0), example.Length(1) - 1);
}

nn::DropoutKey ParsingTask::KeyOf(const Shard& shard, uint64_t seed) const {
  return DropoutKeyOf(shard, seed);
}

ParsingTask::Hidden ParsingTask::HiddenOf(const Examples& examples,
                                          const std::optional<nn::DropoutKey>& dropout) {
  const bool next_words = config().next_word_input;
  if (device_.is_cpu()) {
    PackedPairs batch = MakePackedPairs(examples);
    if (next_words) batch.target_in.next_words_R = NextWords(examples, /*packed=*/true);
    return {transformer_->PackedHidden(batch.source, batch.target_in, dropout), batch.target_out_R};
  }
  const int64_t pad = config().special_ids.pad;
  const PaddedPairs batch = MakePaddedPairs(examples, pad);
  std::vector<torch::Tensor> here = {batch.source_BS, batch.target_in_BT, batch.target_rows_R,
                                     batch.target_out_R};
  if (next_words) {
    here.push_back(torch::zeros({batch.target_in_BT.numel()}, torch::kInt64)
                       .index_copy_(0, batch.target_rows_R, NextWords(examples, /*packed=*/false))
                       .view(batch.target_in_BT.sizes()));
  }
  const std::vector<torch::Tensor> there = uploader_.Upload(here);
  nn::Memory memory = transformer_->Encode(there[0], /*trace=*/nullptr, batch.source_padded);
  if (next_words) memory.next_words_BT = there[4];
  const torch::Tensor hidden_BTD = transformer_->Decode(there[1], memory);
  return {hidden_BTD.flatten(0, 1).index_select(0, there[2]), there[3]};
}

nn::LossSums ParsingTask::LossOf(const Examples& examples,
                                 const std::optional<nn::DropoutKey>& dropout) {
  const Hidden pass = HiddenOf(examples, dropout);
  return loss_->FromHidden(pass.hidden_RD, transformer_->OutputWeight(), transformer_->OutputBias(),
                           pass.targets_R);
}

double ParsingTask::ValidationLoss() {
  const ExampleTable& table = text_.valid->table();
  return MeanLoss(MeasureBatches<nn::LossSums>(
      table, options_.optimization, device_, threads_,
      [&](std::span<const int64_t> rows) { return LossOf(Examples(&table, rows), std::nullopt); }));
}

std::vector<ParsedText> ParsingTask::Parse(const std::shared_ptr<const Model>& model,
                                           const std::vector<TreebankItem>& items) const {
  std::vector<std::vector<std::string>> sentences;
  for (const TreebankItem& item : items) sentences.push_back(item.tree.Words());
  return Parser(model, {.threads = threads_}).ParseWords(sentences, ParsingOf(options_).search);
}

ValidationResult ParsingTask::Validate() {
  constexpr size_t kShown = 8;
  ValidationResult result;
  const double loss = ValidationLoss();
  auto model = std::make_shared<Model>(CopyModel(*transformer_));
  model->source_vocabulary = model->target_vocabulary = vocabulary().bytes();
  AddPunctuation(text_.punctuation, &model->tokenization);
  const std::vector<TreebankItem>& items = text_.valid->items();
  const std::vector<ParsedText> parsed = Parse(model, items);
  const std::vector<std::string> expected = LinesOf(items);
  const BracketCounts counts = CountBrackets(parsed, expected);
  result.metrics = {{"loss", loss},
                    {"f1", counts.f1()},
                    {"precision", counts.precision()},
                    {"recall", counts.recall()},
                    {"exact_match", counts.exact_match()},
                    {"errors", static_cast<double>(counts.errors + counts.skipped)}};
  if (ParsingOf(options_).TellsTagsApart())
    result.metrics["tagging_accuracy"] = counts.tagging_accuracy();
  for (size_t i = 0; i < std::min(kShown, parsed.size()); ++i)
    result.samples.push_back({JoinWords(parsed[i].words), expected[i], parsed[i].tree});
  return result;
}

// The words of short sentences that the exported model is to prove itself on.
Json ParsingTask::ForExport() const {
  constexpr size_t kMostWords = 16;
  const TreeCorpus& corpus = text_.valid != nullptr ? *text_.valid : *text_.train;
  Json sentences = Json::array();
  for (const TreebankItem& item : corpus.items()) {
    if (std::ssize(sentences) == kExportedSamples) break;
    if (const std::vector<std::string> words = item.tree.Words(); words.size() <= kMostWords)
      sentences.push_back(words);
  }
  Json task = {{"sample_sentences", sentences}};
  AddPunctuation(text_.punctuation, &task);
  return task;
}

void ParsingTask::Describe(const Log& log) const {
  TextTask::Describe(log);
  log(LogLevel::kInfo, fmt::format("{} labels of constituents, {} tags",
                                   config().constituents.size(), config().tags.size()));
}

Json ParsingTask::Plan(const CorpusReport& read) const {
  Json plan = TextTask::Plan(read);
  plan["constituents"] = config().constituents;
  plan["tags"] = config().tags;
  return plan;
}

// Keeps the trees, one a line, and what they are compared with.
Json ParsingTask::TestText(const TestSetting& setting) {
  setting.tell("parsing the test text: " + text_.test->Summary());
  const std::vector<std::string> expected = LinesOf(text_.test->items());
  const std::vector<ParsedText> parsed = Parse(setting.model, text_.test->items());
  std::string found, references;
  for (size_t i = 0; i < parsed.size(); ++i) {
    found += parsed[i].tree + "\n";
    references += expected[i] + "\n";
  }
  WriteFileAtomically(setting.output / "test_output.txt", found);
  WriteFileAtomically(setting.output / "test_reference.txt", references);
  const BracketCounts counts = CountBrackets(parsed, expected);
  Json scores = {{"f1", counts.f1()},
                 {"precision", counts.precision()},
                 {"recall", counts.recall()},
                 {"exact_match", counts.exact_match()}};
  if (ParsingOf(options_).TellsTagsApart()) scores["tagging_accuracy"] = counts.tagging_accuracy();
  scores["sentences"] = counts.sentences;
  scores["errors"] = counts.errors + counts.skipped;
  return scores;
}

}  // namespace attend
