#include "data/labelled_corpus.h"

#include <gmock/gmock.h>

#include "data/corpus_fixture.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LabelledCorpusTest : public CorpusTest {
 protected:
  std::string Complaint(const std::function<void()>& read) {
    try {
      read();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

constexpr const char* kColumnsText =
    "-DOCSTART- X O\n\nab X I-PER\ncd X I-PER\nab X B-PER\n\n\nef X O\n";

TEST_F(LabelledCorpusTest, ReadsColumns) {
  const std::string file = Write("columns", kColumnsText);
  auto items = ReadColumns({file}, {});
  ASSERT_EQ(items.size(), 2U);
  EXPECT_THAT(items[0].words, ElementsAre("ab", "cd", "ab"));
  EXPECT_THAT(items[0].labels, ElementsAre("I-PER", "I-PER", "B-PER"));
  EXPECT_EQ(items[0].origin, (Origin{0, 2}));
  EXPECT_EQ(SchemeOf(items), LabelScheme::kIob1);
  ChangeScheme(LabelScheme::kIob2, &items);
  EXPECT_THAT(items[0].labels, ElementsAre("B-PER", "I-PER", "B-PER"));
  EXPECT_THAT(ReadColumns({file}, {.word = 2, .label = 1})[1].labels, ElementsAre("ef"));
  EXPECT_EQ(SchemeOf(ReadColumns({file}, {.word = 1, .label = 2})), LabelScheme::kNone);
  EXPECT_THAT(Complaint([&] { ReadColumns({file}, {.word = 1, .label = 4}); }),
              HasSubstr("3 columns, expected at least 4"));
  EXPECT_THAT(Complaint([&] { ReadColumns({Write("plain", "a\nb\n")}, {}); }),
              HasSubstr("plain:1: words and labels are both in column 1"));
  EXPECT_THAT(Complaint([&] { ReadColumns({Write("empty", "\n")}, {}); }),
              HasSubstr("has no word"));
}

TEST_F(LabelledCorpusTest, ReadsTables) {
  const auto items = ReadTable({Write("table", "de\tab cd\nen\t\nde\ta\tb\n")});
  ASSERT_EQ(items.size(), 3U);
  EXPECT_THAT(items[2].words, ElementsAre("a\tb"));
  EXPECT_THAT(LabelsIn(items), ElementsAre("de", "en"));
  EXPECT_THAT(Complaint([&] { ReadTable({Write("table", "de\tx\nno tab\n")}); }),
              HasSubstr("table:2: 'no tab', expected a label, a tab and a text"));
  const std::string wide("\xFF\xFEx\0\t\0x\0\n\0", 10);
  EXPECT_THAT(Complaint([&] { ReadTable({Write("wide", wide)}); }),
              HasSubstr("wide' is UTF-16 text; convert it"));
  EXPECT_EQ(ReadTable({Write("page", "html\t<html><p>\nhtml\t<html><p>\n")}).size(), 2U);
}

// A scheme's labels are known, whether or not the text has them all.
TEST_F(LabelledCorpusTest, ASchemeHasLabelsOfItsOwn) {
  const auto items = ReadColumns({Write("short", "a B-X\nb I-X\n\nc O\n")}, {});
  EXPECT_THAT(LabelsOfScheme(items, LabelScheme::kIob2), ElementsAre("B-X", "I-X", "O"));
  EXPECT_THAT(LabelsOfScheme(items, LabelScheme::kIobes),
              ElementsAre("B-X", "E-X", "I-X", "O", "S-X"));
}

TEST_F(LabelledCorpusTest, PutsALabelOnTheFirstTokenOfAWord) {
  const std::string file = Write("columns", "fbfb X\nab Y\n\nab X\n");
  const LabelledCorpus corpus({file}, vocabulary_, ReadColumns({file}, {}), {"X", "Y"},
                              {.by_token = true, .max_tokens = 100});
  const Example example = corpus.table()[0];
  std::vector<int32_t> expected(example.Length(0), kNoLabel);
  expected[1] = 0;
  expected[1 + vocabulary_->Encode("fbfb").size()] = 1;
  ASSERT_GT(vocabulary_->Encode("fbfb").size(), 1U);
  EXPECT_EQ(std::vector<int32_t>(example.Ids(1).begin(), example.Ids(1).end()), expected);
  EXPECT_THAT(corpus.item_of(), ElementsAre(0, 1));
  EXPECT_EQ(corpus.longer().count, 0);

  const LabelledCorpus divided({file}, vocabulary_, ReadColumns({file}, {}), {"X", "Y"},
                               {.by_token = true, .max_tokens = 2});
  EXPECT_THAT(divided.item_of(), ElementsAre(0, 0, 1));
  EXPECT_EQ(divided.longer().count, 1);
}

TEST_F(LabelledCorpusTest, CutsATextThatIsTooLong) {
  const std::string file = Write("table", "de\tfbfb fbfb\nen\ta\n");
  const LabelledCorpus corpus({file}, vocabulary_, ReadTable({file}), {"de", "en"},
                              {.by_token = false, .max_tokens = 3});
  EXPECT_EQ(corpus.table()[0].Length(0), 5);
  EXPECT_THAT(corpus.table()[1].Ids(1), ElementsAre(1));
  EXPECT_EQ(corpus.longer().count, 1);
}

TEST_F(LabelledCorpusTest, NamesUnknownLabels) {
  const std::string file = Write("table", "de\tab\nfr\tcd\nit\tcd\n");
  EXPECT_THAT(Complaint([&] {
                LabelledCorpus({file}, vocabulary_, ReadTable({file}), {"de", "en"},
                               {.by_token = false, .max_tokens = 3});
              }),
              testing::AllOf(HasSubstr("2 labels that the model does not know: 'fr' ("),
                             HasSubstr("table:2), 'it' ("), HasSubstr("training text: de, en")));
}

}  // namespace
}  // namespace attend
