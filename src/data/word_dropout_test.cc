#include "data/word_dropout.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/files.h"
#include "data/labelled_corpus.h"
#include "text/mask_token.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

class WordDropoutTest : public testing::Test {
 protected:
  // Words of several tokens: a vocabulary of so few pieces has none of the words whole.
  void Make(bool mask) {
    const std::string path = testing::TempDir() + "words.conll";
    std::string columns;
    for (int i = 0; i < 400; ++i) columns += "abcd O\nbca B-X\ndab O\ncdba O\n\n";
    WriteFileAtomically(path, columns);
    VocabularyOptions options;
    options.type = VocabularyType::kChar;
    options.mask = mask;
    options.size = 40;
    WriteFileAtomically(path + ".txt", "abcd bca dab cdba\n");
    vocabulary_ =
        Vocabulary::FromBytes(TrainVocabulary({path + ".txt"}, options, 1, NoLog()), "test");
    corpus_ = std::make_unique<LabelledCorpus>(
        std::vector{path}, vocabulary_, ReadColumns({path}, {}),
        std::vector<std::string>{"B-X", "O"}, LabelledOptions{.max_tokens = 100});
  }
  ExampleTable Epoch(double probability, uint64_t seed, int64_t epoch) const {
    const WordDropout dropout(corpus_.get(), *vocabulary_, probability, seed);
    return *dropout.Open(epoch, {}, {})->Next().make().examples;
  }
  static std::vector<int32_t> IdsOf(const ExampleTable& table) {
    std::vector<int32_t> ids;
    for (int64_t row = 0; row < table.size(); ++row)
      ids.insert(ids.end(), table[row].Ids(0).begin(), table[row].Ids(0).end());
    return ids;
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::unique_ptr<LabelledCorpus> corpus_;
};

TEST_F(WordDropoutTest, HidesWholeWordsAtItsRateAndKeepsLabels) {
  for (const bool mask : {true, false}) {
    Make(mask);
    const auto hidden =
        mask ? MaskId(*vocabulary_) : static_cast<int32_t>(vocabulary_->special_ids().unk);
    const ExampleTable plain = corpus_->table(), dropped = Epoch(0.2, 1, 0);
    ASSERT_EQ(dropped.size(), plain.size());
    int64_t words = 0, gone = 0;
    for (int64_t row = 0; row < plain.size(); ++row) {
      const auto before = plain[row].Ids(0), after = dropped[row].Ids(0);
      ASSERT_EQ(before.size(), after.size());
      EXPECT_TRUE(std::ranges::equal(plain[row].Ids(1), dropped[row].Ids(1)));
      EXPECT_EQ(before.front(), after.front());
      EXPECT_EQ(before.back(), after.back());
      bool in_hidden = false;
      for (size_t i = 1; i + 1 < before.size(); ++i) {
        if (vocabulary_->Piece(before[i]) == "\u2581") {
          in_hidden = after[i] == hidden;
          ++words;
          gone += in_hidden ? 1 : 0;
        }
        EXPECT_EQ(after[i], in_hidden ? hidden : before[i]);
      }
    }
    const double expected = 0.2 * static_cast<double>(words);
    EXPECT_NEAR(static_cast<double>(gone), expected, 4 * std::sqrt(expected));
  }
}

TEST_F(WordDropoutTest, FollowsFromSeedAndEpoch) {
  Make(true);
  const std::vector<int32_t> once = IdsOf(Epoch(0.3, 1, 0));
  EXPECT_EQ(IdsOf(Epoch(0.3, 1, 0)), once);
  EXPECT_NE(IdsOf(Epoch(0.3, 1, 1)), once);
  EXPECT_NE(IdsOf(Epoch(0.3, 2, 0)), once);
  EXPECT_EQ(IdsOf(Epoch(0, 1, 0)), IdsOf(corpus_->table()));
}

}  // namespace
}  // namespace attend
