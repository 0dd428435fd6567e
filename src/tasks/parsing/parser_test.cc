#include <gmock/gmock.h>

#include "attend/error.h"
#include "attend/tagger.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "model/model_fixture.h"
#include "tasks/parsing/parse_search.h"
#include "text/word_ids.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// With the golden model's vocabulary and random weights.
std::shared_ptr<Model> ParsingModel(uint64_t seed = 5, bool next_word = true) {
  const auto golden = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  auto model = std::make_shared<Model>();
  ModelConfig& config = model->config = SmallConfig(golden->config.target_vocab_size);
  config.task = "parsing";
  config.languages = {"ka"};
  config.special_ids = golden->config.special_ids;
  config.source_begin = {config.special_ids.bos};
  config.constituents = {"NP", "PP", "S", "VP"};
  config.tags = {".", "DT", "NN", "VBZ"};
  config.next_word_input = next_word;
  config.tie_source_target = false;
  config.target_vocab_size = SymbolsOf(config).size();
  model->tensors = RandomTensors(config, seed, 0.5);
  model->source_vocabulary = model->target_vocabulary = golden->source_vocabulary;
  return model;
}

std::vector<std::vector<std::string>> Sentences() {
  std::vector<std::vector<std::string>> sentences = {
      {}, {"lumi"}, {"(", "x)y", "\xFF", "a b"}, {"\xC3\xA9t\xC3\xA9", "lumi", "."}};
  for (int i = 1; i < 12; ++i) {
    std::vector<std::string>& words = sentences.emplace_back();
    for (int word = 0; word < 2 * i; ++word)
      words.push_back(word % 3 == i % 3 ? "lumi" : "tavokesi");
  }
  return sentences;
}

void ExpectEqual(const ParsedText& got, const ParsedText& want) {
  EXPECT_EQ(got.tree, want.tree);
  EXPECT_EQ(got.score, want.score);
  EXPECT_EQ(got.log_probability, want.log_probability);
}

class ParserTest : public testing::TestWithParam<std::string> {};

TEST_P(ParserTest, GivesTheSameBitsWhateverSharesTheCall) {
  const auto model = ParsingModel();
  const auto sentences = Sentences();
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const Parser one(model, {.threads = 1, .type = type, .instruction_set = "reference"});
    const Parser parser(model, {.threads = 3, .type = type, .instruction_set = GetParam()});
    const ParsingOptions options{.beam_size = 5, .max_length = 60};
    const auto all = parser.ParseWords(sentences, options);
    for (size_t i = 0; i < sentences.size(); ++i)
      ExpectEqual(all[i], one.ParseWords({&sentences[i], 1}, options)[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryInstructionSet, ParserTest,
                         testing::ValuesIn(AvailableInstructionSets()));

TEST(Parser, EveryTreeIsOneOverItsWords) {
  std::vector<std::vector<std::string>> sentences = Sentences();
  sentences.emplace_back(300, "tavokesi");
  for (const uint64_t seed : {1, 2}) {
    const Parser parser(ParsingModel(seed, seed != 2), {.threads = 2});
    for (const int64_t beam : {1, 3}) {
      for (const int64_t max_length : {0, 1}) {
        const auto parsed =
            parser.ParseWords(sentences, {.beam_size = beam, .max_length = max_length});
        ASSERT_EQ(parsed.size(), sentences.size());
        EXPECT_EQ(parsed[0].tree, "");
        for (size_t i = 1; i < parsed.size(); ++i) {
          EXPECT_EQ(parsed[i].words, TreebankWords(sentences[i]));
          const Tree tree = TreeOfLine(parsed[i].tree, "tree");
          EXPECT_EQ(tree.Words(), parsed[i].words);
          EXPECT_EQ(tree.Tags(), parsed[i].tags);
          const auto count = std::ssize(sentences[i]);
          EXPECT_EQ(parsed[i].constituents[0].begin, 0);
          EXPECT_EQ(parsed[i].constituents[0].end, count);
          for (const Constituent& each : parsed[i].constituents) EXPECT_LT(each.begin, each.end);
        }
      }
    }
  }
}

TEST(Parser, DividesPlainText) {
  const Parser parser(ParsingModel(), {.threads = 1});
  const std::vector<std::string> texts = {"Lumi (tavo) sits."};
  EXPECT_THAT(parser.Parse(texts)[0].words,
              ElementsAre("Lumi", "-LRB-", "tavo", "-RRB-", "sits", "."));
}

// The sum of what the plain formulas give each symbol, with the next word's encoding added.
TEST(Parser, FollowsThePlainFormulas) {
  for (const bool next_word : {true, false}) {
    const auto model = ParsingModel(9, next_word);
    const Parser parser(model, {.threads = 1});
    const std::vector<std::vector<std::string>> sentences = {{"lumi", "tavokesi", "lumi"}};
    const ParsedText parsed = parser.ParseWords(sentences)[0];
    const TreeSymbols symbols = SymbolsOf(model->config);
    const std::vector<int32_t> ids = symbols.Linearized(TreeOfLine(parsed.tree, "tree"));
    const auto vocabulary = Vocabulary::FromBytes(model->source_vocabulary, "test");
    const SentenceIds sentence = EncodeSentence(*vocabulary, sentences[0], 100);
    std::vector<int32_t> read = {static_cast<int32_t>(model->config.special_ids.bos)}, next_words;
    size_t word = 0;
    for (const int32_t id : ids) {
      next_words.push_back(sentence.words[word]);
      word += symbols.kind(id) == SymbolKind::kWord ? 1 : 0;
      read.push_back(id);
    }
    next_words.push_back(sentence.words[word]);
    const Matrix logits =
        Plain(*model).Logits(sentence.ids, read, next_word ? next_words : std::vector<int32_t>());
    double sum = 0;
    for (size_t t = 0; t < read.size(); ++t) {
      const int32_t id =
          t < ids.size() ? ids[t] : static_cast<int32_t>(model->config.special_ids.eos);
      double total = 0;
      for (const double logit : logits[t]) total += std::exp(logit);
      sum += logits[t][id] - std::log(total);
    }
    EXPECT_NEAR(parsed.log_probability, sum, 1e-3);
  }
}

TEST(Parser, RefusesWhatIsNoParserAndLongSentences) {
  auto model = ParsingModel();
  model->config.encoder->positions = PositionKind::kLearned;
  model->config.encoder->max_positions = 10;
  model->tensors = RandomTensors(model->config, 1, 0.5);
  const Parser parser(model, {.threads = 1});
  const std::vector<std::vector<std::string>> sentences = {{"lumi"},
                                                           std::vector<std::string>(9, "lumi")};
  try {
    parser.ParseWords(sentences);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("sentence 2 is longer than the model's learned positions"));
  }
  EXPECT_THROW(parser.ParseWords({}, {.beam_size = 0}), Error);
  const auto golden = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  EXPECT_THROW(Parser(golden, {}), Error);
}

}  // namespace
}  // namespace attend
