// Translation by models that read terms (text/term_annotation.h).
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "model/model_directory.h"
#include "tasks/extend_directory.h"
#include "text/term_annotation.h"

namespace attend {
namespace {

constexpr const char* kUntaught = ATTEND_SOURCE_DIR "/tests/data/golden_v1";

std::shared_ptr<const Model> WithTermTokens() {
  const std::string output = testing::TempDir() + "reads_terms";
  ExtendDirectory(kUntaught,
                  std::vector<std::string>{std::string(kTermBegin), std::string(kTermIs),
                                           std::string(kTermEnd)},
                  output);
  return LoadModel(output);
}

// The vocabulary lacks the target's letter: no search is held to the term, which is read all the
// same.
std::shared_ptr<const Glossary> OneTerm() {
  return std::make_shared<const Glossary>(
      std::vector<GlossaryTerm>{{.source = "tavo", .target = "Ω"}});
}

const std::string kText = "lumi tavo keri", kRead = "lumi <term> tavo <is> Ω </term> keri";

TEST(AnnotatedSourceTest, AModelReadsTermsIfItsVocabularyHasTheTokens) {
  const auto reads = [](const Model& model) {
    return ReadsTerms(*Vocabulary::FromBytes(model.source_vocabulary, "test"));
  };
  EXPECT_FALSE(reads(*LoadModel(kUntaught)));
  EXPECT_TRUE(reads(*WithTermTokens()));
}

TEST(AnnotatedSourceTest, TermsAreReadWithTheText) {
  const Translator translator(WithTermTokens(), {});
  TranslationOptions plain;
  plain.alignments = true;
  TranslationOptions asked = plain;
  asked.glossary = OneTerm();
  const auto of = [&](const std::string& text, const TranslationOptions& options) {
    return translator.Translate(std::vector<std::string>{text}, options)[0].hypotheses[0];
  };
  const Hypothesis annotated = of(kText, asked), by_hand = of(kRead, plain);
  EXPECT_EQ(annotated.terms, 1);
  EXPECT_EQ(annotated.text, by_hand.text);
  EXPECT_EQ(annotated.score, by_hand.score);
  EXPECT_NE(annotated.score, of(kText, plain).score);
  // Links are to the words of the text: to lumi, to tavo with all that stands around it, to keri.
  ASSERT_EQ(annotated.alignment.size(), by_hand.alignment.size());
  const std::vector<int64_t> words = {0, 1, 1, 1, 1, 1, 2};
  for (size_t i = 0; i < by_hand.alignment.size(); ++i)
    EXPECT_EQ(annotated.alignment[i].source, words[by_hand.alignment[i].source]);
  EXPECT_EQ(of("lumi keri", asked).score, of("lumi keri", plain).score);
}

TEST(AnnotatedSourceTest, AlternativesReadThemToo) {
  const auto model = WithTermTokens();
  const Translator translator(model, {});
  TranslationOptions asked;
  asked.glossary = OneTerm();
  asked.quality = true;
  const auto alternatives = translator.Alternatives(kText, "", 3, asked).hypotheses;
  TranslationOptions plain = asked;
  plain.glossary = nullptr;
  const auto by_hand = translator.Alternatives(kRead, "", 3, plain).hypotheses;
  ASSERT_EQ(alternatives.size(), by_hand.size());
  for (size_t i = 0; i < by_hand.size(); ++i) EXPECT_EQ(alternatives[i].text, by_hand[i].text);
}

}  // namespace
}  // namespace attend
