#include "train/tasks/parsing/parsing_export.h"

#include <limits>
#include <memory>
#include <utility>

#include "attend/nn/transformer.h"
#include "model/sample.h"
#include "tasks/parsing/parse_search.h"
#include "text/text_words.h"
#include "text/word_ids.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_export.h"

namespace attend {
namespace {

torch::Tensor Row(const std::vector<int32_t>& ids) {
  return torch::tensor(std::vector<int64_t>(ids.begin(), ids.end()), torch::kInt64).unsqueeze(0);
}

// The likeliest of the ids that the rules allow.
int32_t Choose(const torch::Tensor& logits_V, const OutputGuide& guide, int32_t state,
               int64_t eos) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  torch::Tensor allowed_V = logits_V.clone();
  for (const int32_t id : guide.Never(state)) allowed_V[id] = kNever;
  if (!guide.MayEnd(state)) allowed_V[eos] = kNever;
  return static_cast<int32_t>(allowed_V.argmax().item<int64_t>());
}

// The LibTorch model's greedy tree, with log-probabilities and the largest logits of each step.
Sample TreeSample(nn::Transformer& transformer, const SentenceIds& sentence,
                  const OutputRules& rules) {
  const torch::NoGradGuard no_grad;
  const ModelConfig& config = transformer->config();
  Sample sample;
  sample.source_ids = sentence.ids;
  nn::Memory memory = transformer->Encode(Row(sentence.ids));
  std::vector<int32_t> read = config.TargetFrame().begin, next_words;
  const std::unique_ptr<OutputGuide> guide = rules.Begin();
  const auto eos = static_cast<int32_t>(config.special_ids.eos);
  for (int32_t state = 0, next = -1; next != eos;) {
    next_words.push_back(guide->SourceRow(state));
    if (config.next_word_input) memory.next_words_BT = Row(next_words);
    const torch::Tensor hidden_BTD = transformer->Decode(Row(read), memory);
    const torch::Tensor logits_V =
        transformer->Logits(hidden_BTD.select(1, -1)).squeeze(0).to(torch::kFloat64);
    next = Choose(logits_V, *guide, state, eos);
    AddStep(logits_V, next, &sample);
    read.push_back(next);
    if (next != eos) state = guide->Next(state, next);
  }
  if (config.next_word_input) sample.next_words = std::move(next_words);
  return sample;
}

}  // namespace

void CompleteParsingModel(const ExportedRun& run, Model* model) {
  ExportedTextModel text = CompleteTextModel(run, model);
  const ModelConfig& config = model->config;
  const auto punctuation = PunctuationOf(run.identity.task, run.where);
  if (punctuation) AddPunctuation(*punctuation, &model->tokenization);
  const auto grammar = std::make_shared<const TreeGrammar>(SymbolsOf(config), punctuation);
  std::vector<Sample> samples;
  for (const auto& words : MemberOf<std::vector<std::vector<std::string>>>(
           run.identity.task, "sample_sentences", run.where)) {
    const SentenceIds sentence = EncodeSentence(*text.vocabulary, words, MaxSentenceTokens(config));
    const int64_t most =
        config.MaxOutput(2 * TreeRules::LeastLength(static_cast<int64_t>(words.size())) + 50);
    if (!sentence.whole) continue;
    samples.push_back(
        TreeSample(text.transformer, sentence, TreeRules(grammar, words, sentence.words, most)));
    Tree tree;
    std::vector<int32_t> symbols = samples.back().target_ids;
    symbols.pop_back();  // eos
    grammar->symbols().TreeOf(symbols, words, &tree);
    samples.back().source = JoinWords(words);
    samples.back().target = ToLine(tree);
  }
  model->samples = SamplesToJson(samples);
}

}  // namespace attend
