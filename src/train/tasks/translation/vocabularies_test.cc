#include "train/tasks/translation/vocabularies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

TEST(VocabulariesTest, StreamedTextGivesASample) {
  const std::string path = testing::TempDir() + "vocabularies_test.txt";
  {
    std::ofstream file(path);
    for (int line = 0; line < 200000; ++line) file << "a\n";
    for (int i = 0; i < 300000; ++i) file << "b\n";
  }
  TrainOptions options;
  options.corpus.train_source = options.corpus.train_target = {path};
  options.corpus.vocabulary.size = 7;
  std::string message;
  const Log log = [&](LogLevel, std::string_view text) { message = text; };
  const auto made = [&] { return MakeVocabularies(options, log).source->bytes(); };
  VocabularyOptions expected = options.corpus.vocabulary;
  const std::string whole = TrainVocabulary({path}, expected, 1, NoLog());
  expected.max_sentences = 200000;
  const std::string sample = TrainVocabulary({path}, expected, 1, NoLog());
  ASSERT_NE(sample, whole);
  EXPECT_EQ(made(), whole);
  EXPECT_EQ(message, "making a vocabulary of 7 pieces");
  options.corpus.stream = true;
  EXPECT_EQ(made(), sample);
  EXPECT_THAT(message, testing::HasSubstr("from a sample of at most 200000 lines"));
  options.corpus.vocabulary.max_sentences = 1 << 30;
  EXPECT_EQ(made(), whole);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace attend
