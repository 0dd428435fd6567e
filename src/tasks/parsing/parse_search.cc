#include "tasks/parsing/parse_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "tasks/parsing/parsing_options.h"
#include "tasks/task_names.h"
#include "text/utf8.h"
#include "text/word_ids.h"

namespace attend {
namespace {

// Members of Model::tokenization.
constexpr const char* kPunctuation = "punctuation";
constexpr const char* kMaybePunctuation = "maybe_punctuation";

}  // namespace

TreeSymbols SymbolsOf(const ModelConfig& config) {
  return TreeSymbols(config.constituents, config.tags, config.special_ids);
}

std::vector<std::string> TreebankWords(std::span<const std::string> words) {
  std::vector<std::string> read;
  for (const std::string& word : words) {
    std::string& own = read.emplace_back(RepairUtf8(word));
    while (Replace("(", "-LRB-", &own) || Replace(")", "-RRB-", &own)) continue;
    // What would end a word of the tree.
    std::ranges::replace_if(own, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }, '_');
  }
  return read;
}

int64_t MaxSentenceTokens(const ModelConfig& config) {
  return std::max<int64_t>(MaxTokens(*config.encoder) - 1, 1);
}

std::optional<PunctuationWords> PunctuationOf(const Json& tokenization, const std::string& where) {
  if (!tokenization.contains(kPunctuation)) return std::nullopt;
  PunctuationWords words;
  words.always = MemberOf<std::vector<std::string>>(tokenization, kPunctuation, where);
  if (tokenization.contains(kMaybePunctuation))
    words.sometimes = MemberOf<std::vector<std::string>>(tokenization, kMaybePunctuation, where);
  return words;
}

void AddPunctuation(const PunctuationWords& words, Json* tokenization) {
  (*tokenization)[kPunctuation] = words.always;
  (*tokenization)[kMaybePunctuation] = words.sometimes;
}

std::shared_ptr<const TreeGrammar> GrammarOf(const LoadedModel& loaded) {
  const ModelConfig& config = loaded.config();
  CheckTask(config, {"parsing"});
  if (!loaded.weights.vocabulary_head || !config.encoder || config.constituents.empty()) {
    throw Error(ErrorKind::kUsage,
                "a parser is an encoder and a decoder with constituents and tags; this model is "
                "not");
  }
  TreeSymbols symbols = SymbolsOf(config);
  if (symbols.size() != config.target_vocab_size) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("target_vocab_size is {}, expected {} by the model's constituents, tags "
                    "and special ids",
                    config.target_vocab_size, symbols.size()));
  }
  return std::make_shared<const TreeGrammar>(
      std::move(symbols), PunctuationOf(loaded.model().tokenization, "tokenization"));
}

SearchModel MakeParseSearchModel(const Weights& weights) {
  SearchOptions search;
  search.max_beam_size = kMostParsingBeams;
  search.prompt = weights.config().TargetFrame().begin;
  search.eos = static_cast<int32_t>(weights.config().special_ids.eos);
  return {&weights, nullptr, std::move(search)};
}

SearchInput MakeParseInput(const LoadedModel& loaded, std::span<const std::string> words,
                           const std::shared_ptr<const TreeGrammar>& grammar,
                           const ParsingOptions& options, const std::string& name) {
  const ModelConfig& config = loaded.config();
  SentenceIds sentence = EncodeSentence(loaded.source(), words, MaxSentenceTokens(config));
  const int64_t least = TreeRules::LeastLength(std::ssize(words));
  int64_t length = options.max_length;
  if (length == 0) length = std::ssize(sentence.ids) + kExtraSymbols;
  length = config.MaxOutput(std::max(length, least));
  if (!sentence.whole || length < least) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("{} is longer than the model's learned positions reach; divide it", name));
  }
  SearchInput input;
  input.source = std::move(sentence.ids);
  input.max_length = length;
  input.options.beam_size = options.beam_size;
  input.options.length_penalty = options.length_penalty;
  input.rules = std::make_shared<TreeRules>(grammar, words, std::move(sentence.words), length);
  return input;
}

ParsedText MakeParsedText(std::vector<std::string> words, const std::vector<SearchResult>& results,
                          const TreeSymbols& symbols) {
  ParsedText parsed;
  Tree tree;
  if (results.empty() || !symbols.TreeOf(results[0].ids, words, &tree)) {
    throw Error(ErrorKind::kRuntime,
                "the search found no tree: the model's numbers are not finite");
  }
  parsed.words = std::move(words);
  parsed.score = results[0].score;
  parsed.log_probability = results[0].log_probability;
  parsed.tags = tree.Tags();
  parsed.tree = ToLine(tree);
  std::vector<int64_t> words_before;  // by node
  int64_t before = 0;
  for (const TreeNode& node : tree.nodes) {
    words_before.push_back(before);
    before += node.leaf() ? 1 : 0;
  }
  words_before.push_back(before);
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    if (!node.leaf())
      parsed.constituents.push_back({node.label, words_before[i], words_before[node.end]});
  }
  return parsed;
}

}  // namespace attend
