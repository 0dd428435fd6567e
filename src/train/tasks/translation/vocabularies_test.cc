#include "train/tasks/translation/vocabularies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "text/vocabulary_trainer.h"
#include "train/tasks/translation/translation_train_options.h"

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
  CorpusOptions& corpus = TranslationOf(options).corpus;
  corpus.train_source = corpus.train_target = {path};
  corpus.vocabulary.size = 7;
  std::string message;
  const Log log = [&](LogLevel, std::string_view text) { message = text; };
  const auto made = [&] { return MakeVocabularies(options, log).source->bytes(); };
  VocabularyOptions expected = corpus.vocabulary;
  const std::string whole = TrainVocabulary({path}, expected, 1, NoLog());
  expected.max_sentences = 200000;
  const std::string sample = TrainVocabulary({path}, expected, 1, NoLog());
  ASSERT_NE(sample, whole);
  EXPECT_EQ(made(), whole);
  EXPECT_EQ(message, "making a vocabulary of 7 pieces");
  corpus.stream = true;
  EXPECT_EQ(made(), sample);
  EXPECT_THAT(message, testing::HasSubstr("from a sample of at most 200000 lines"));
  corpus.vocabulary.max_sentences = 1 << 30;
  EXPECT_EQ(made(), whole);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace attend
