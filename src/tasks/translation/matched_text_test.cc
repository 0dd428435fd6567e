#include "tasks/translation/matched_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "model/model_directory.h"
#include "tasks/extend_directory.h"
#include "tasks/translation/line_batch.h"

namespace attend {
namespace {

constexpr const char* kGolden = ATTEND_SOURCE_DIR "/tests/data/golden_v1";

std::shared_ptr<const Vocabulary> VocabularyOf(const Model& model) {
  return Vocabulary::FromBytes(model.source_vocabulary, "test");
}

std::shared_ptr<const Model> WithToken() {
  const std::string output = testing::TempDir() + "reads_matches";
  ExtendDirectory(kGolden, std::vector<std::string>{std::string(kMemoryToken)}, output);
  return LoadModel(output);
}

TEST(MatchedTextTest, AModelReadsMatchesIfItsVocabularyHasTheToken) {
  EXPECT_FALSE(ReadsMatches(*VocabularyOf(*LoadModel(kGolden))));
  const auto model = WithToken();
  const auto vocabulary = VocabularyOf(*model);
  EXPECT_TRUE(ReadsMatches(*vocabulary));
  const std::vector<int32_t> ids = vocabulary->Encode(WithMatch("lumi tavo", "mipa"));
  EXPECT_EQ(std::ranges::count(ids, vocabulary->Id(kMemoryToken)), 1);
}

TEST(MatchedTextTest, TermsAreThoseOfTheTextNotOfItsMatch) {
  EXPECT_EQ(WithoutMatch(WithMatch("lumi tavo", "mipa")), "lumi tavo");
  EXPECT_EQ(WithoutMatch("lumi tavo"), "lumi tavo");
  const Translator translator(WithToken(), {});
  TranslationOptions search;
  search.glossary = std::make_shared<const Glossary>(
      std::vector<GlossaryTerm>{{.source = "mipa", .target = "sane"}});
  const auto terms = [&](const std::string& text) {
    return translator.Translate(std::vector<std::string>{text}, search)[0].hypotheses[0].terms;
  };
  EXPECT_EQ(terms("lumi mipa"), 1);
  EXPECT_EQ(terms(WithMatch("lumi mipa", "mipa mipa")), 1);
  EXPECT_EQ(terms(WithMatch("lumi tavo", "mipa")), 0);
}

TEST(MatchedTextTest, APartIsReadWithItsBestMatch) {
  const auto model = WithToken();
  const Translator translator(model, {});
  const auto memory = std::make_shared<const TranslationMemory>(std::vector<MemoryUnit>{
      {"lumi tavo keri", "mipa rudu"}, {"lumi tavo keri paku", "sane"}, {"dosa", "ilvo"}});
  LineOptions options;
  options.memory = memory;
  options.reads_matches = true;
  LineBatch batch(&translator, *model, options);
  for (const char* line : {"lumi tavo keri dosa", "neri", "***"}) batch.Add(line, "line");
  TranslationOptions search;
  search.alignments = true;
  const std::vector<Translation> found = batch.Translate(search);
  const std::vector<std::string> texts = {WithMatch("lumi tavo keri dosa", "sane"), "neri", "***"};
  const std::vector<Translation> expected = translator.Translate(texts, search);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(found[i].hypotheses[0].text, expected[i].hypotheses[0].text);
    EXPECT_EQ(found[i].hypotheses[0].score, expected[i].hypotheses[0].score);
    for (const AlignmentLink& link : found[i].hypotheses[0].alignment) EXPECT_LT(link.source, 4);
  }
  LineOptions without;
  LineBatch plain(&translator, *model, without);
  plain.Add("lumi tavo keri dosa", "line");
  EXPECT_NE(plain.Translate(search)[0].hypotheses[0].score, found[0].hypotheses[0].score);
}

}  // namespace
}  // namespace attend
