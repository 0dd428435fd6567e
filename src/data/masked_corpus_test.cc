#include "data/masked_corpus.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "text/mask_token.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

using testing::ElementsAre;

class MaskedCorpusTest : public testing::Test {
 protected:
  MaskedCorpusTest() {
    const std::string path = testing::TempDir() + "masked.txt";
    std::string lines;
    for (int i = 0; i < 50; ++i) lines += "a b c d e f g h\n";
    WriteFileAtomically(path, lines);
    VocabularyOptions options;
    options.type = VocabularyType::kWord;
    options.mask = true;
    vocabulary_ = Vocabulary::FromBytes(TrainVocabulary({path}, options, 1, NoLog()), "test");
    text_ = std::make_shared<const DocumentCorpus>(std::vector{path}, vocabulary_,
                                                   ContextOptions{.context_tokens = 20}, 1);
  }
  MaskedCorpus Make(uint64_t seed) const {
    return {text_,
            std::make_shared<const Masking>(MaskingOptions{.mask_tokens = 0.25}, *vocabulary_),
            seed};
  }
  static ExampleTable Epoch(const MaskedCorpus& corpus, int64_t epoch) {
    return *corpus.Open(epoch, {}, {})->Next().make().examples;
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const DocumentCorpus> text_;
};

// Ids with the hidden ones put back, row by row.
std::vector<std::vector<int32_t>> Restored(const ExampleTable& table) {
  std::vector<std::vector<int32_t>> rows;
  for (int64_t row = 0; row < table.size(); ++row) {
    const auto ids = table[row].Ids(0), labels = table[row].Ids(1);
    rows.emplace_back(ids.begin(), ids.end());
    EXPECT_EQ(ids.size(), labels.size());
    for (size_t i = 0; i < labels.size(); ++i)
      if (labels[i] != kNotMasked) rows.back()[i] = labels[i];
  }
  return rows;
}

TEST_F(MaskedCorpusTest, LabelsAreWhatWasHidden) {
  const MaskedCorpus corpus = Make(1);
  const ExampleTable table = corpus.Mask(text_->documents().Contexts()),
                     plain = text_->documents().Contexts();
  const auto rows = Restored(table);
  ASSERT_EQ(std::ssize(rows), plain.size() - 1);  // the last context is the end of the document
  int64_t hidden = 0, tokens = 0;
  for (int64_t row = 0; row < std::ssize(rows); ++row) {
    std::vector<int32_t> want(plain[row].Ids(0).begin(), plain[row].Ids(0).end());
    if (want.back() != 3) want.push_back(3);  // eos
    EXPECT_EQ(rows[row], want);
    tokens += std::ssize(want);
    for (const int32_t label : table[row].Ids(1)) hidden += label != kNotMasked ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(hidden), 0.25 * static_cast<double>(tokens),
              0.05 * static_cast<double>(tokens));
}

// A context of unknown words alone has nothing to learn from.
TEST_F(MaskedCorpusTest, EveryExampleHidesSomething) {
  const std::string path = testing::TempDir() + "unknown.txt";
  WriteFileAtomically(path, "a b c d\n\nx y z\n\ne f\n");
  const auto text = std::make_shared<const DocumentCorpus>(
      std::vector{path}, vocabulary_,
      ContextOptions{.context_tokens = 20, .across_documents = false}, 1);
  const MaskedCorpus corpus(
      text, std::make_shared<const Masking>(MaskingOptions{.mask_tokens = 0.25}, *vocabulary_), 1);
  const ExampleTable table = Epoch(corpus, 0);
  EXPECT_EQ(table.size(), 2);
  for (int64_t row = 0; row < table.size(); ++row)
    EXPECT_TRUE(
        std::ranges::any_of(table[row].Ids(1), [](int32_t id) { return id != kNotMasked; }));
}

// What a run hides follows from the seed, the epoch and the context.
TEST_F(MaskedCorpusTest, EachEpochHidesOtherTokens) {
  const auto labels = [&](const ExampleTable& table) {
    std::vector<std::vector<int32_t>> all;
    for (int64_t row = 0; row < table.size(); ++row)
      all.emplace_back(table[row].Ids(1).begin(), table[row].Ids(1).end());
    return all;
  };
  EXPECT_EQ(labels(Epoch(Make(1), 3)), labels(Epoch(Make(1), 3)));
  EXPECT_NE(labels(Epoch(Make(1), 3)), labels(Epoch(Make(1), 4)));
  EXPECT_NE(labels(Make(1).Mask(text_->documents().Contexts())),
            labels(Make(2).Mask(text_->documents().Contexts())));
  EXPECT_EQ(labels(Make(1).Mask(text_->documents().Contexts())),
            labels(Make(1).Mask(text_->documents().Contexts())));
}

}  // namespace
}  // namespace attend
