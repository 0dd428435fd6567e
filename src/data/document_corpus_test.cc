#include "data/document_corpus.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "attend/error.h"
#include "base/files.h"
#include "text/newlines.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

using testing::ElementsAre;

const char* const kText = "a b\nc\n\n\nb b a c\na\n \nc c";

std::string FileOf(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  WriteFileAtomically(path, text);
  return path;
}

// Words a, b and c are tokens, and so is the end of a line.
std::shared_ptr<const Vocabulary> Words() {
  VocabularyOptions options;
  options.type = VocabularyType::kWord;
  options.newline = true;
  return Vocabulary::FromBytes(
      TrainVocabulary({FileOf("words.txt", "a b c\n")}, options, 1, NoLog()), "test");
}

std::string Read(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::string text;
  for (const int32_t id : ids) text += (text.empty() ? "" : " ") + vocabulary.Piece(id);
  return text;
}

std::vector<std::string> RowsOf(const Vocabulary& vocabulary, const ExampleTable& table) {
  std::vector<std::string> rows;
  for (int64_t row = 0; row < table.size(); ++row)
    rows.push_back(Read(vocabulary, table[row].Ids(0)));
  return rows;
}

TEST(DocumentCorpus, EndsDocumentsAtBlankLines) {
  const auto vocabulary = Words();
  const DocumentCorpus corpus({FileOf("text.txt", kText)}, vocabulary, {.context_tokens = 100}, 2);
  EXPECT_EQ(corpus.text_size().documents, 3);
  EXPECT_EQ(Read(*vocabulary, corpus.documents()[0]),
            "\u2581a \u2581b <newline> \u2581c <newline> </s>");
  EXPECT_EQ(Read(*vocabulary, corpus.documents()[2]), "\u2581c \u2581c <newline> </s>");
  EXPECT_EQ(corpus.text_size().tokens, 6 + 8 + 4);
  EXPECT_EQ(corpus.text_size().words, 10 + 5);  // and five ends of lines
  EXPECT_EQ(corpus.text_size().characters, 3 + 1 + 7 + 1 + 3 + 5);
  EXPECT_EQ(corpus.report().lines, 8);
  EXPECT_EQ(corpus.report().kept, 5);
}

TEST(DocumentCorpus, AFileMayBeOneDocument) {
  const auto vocabulary = Words();
  const DocumentCorpus corpus({FileOf("one.txt", "a\n\nb\n"), FileOf("two.txt", "c\n")}, vocabulary,
                              {.context_tokens = 100, .documents = DocumentEnd::kFile}, 1);
  EXPECT_EQ(corpus.text_size().documents, 2);
  EXPECT_EQ(Read(*vocabulary, corpus.documents()[0]),
            "\u2581a <newline> <newline> \u2581b <newline> </s>");
  EXPECT_EQ(corpus.text_size().characters, 5 + 2);
}

TEST(DocumentCorpus, CutsWithoutLoss) {
  const auto vocabulary = Words();
  const std::string path = FileOf("text.txt", kText);
  const DocumentCorpus across({path}, vocabulary, {.context_tokens = 5}, 1);
  EXPECT_THAT(
      RowsOf(*vocabulary, across.documents().Contexts()),
      ElementsAre("<s> \u2581a \u2581b <newline> \u2581c <newline>",
                  "<s> </s> \u2581b \u2581b \u2581a \u2581c",
                  "<s> <newline> \u2581a <newline> </s> \u2581c", "<s> \u2581c <newline> </s>"));
  const DocumentCorpus apart({path}, vocabulary, {.context_tokens = 5, .across_documents = false},
                             1);
  EXPECT_THAT(RowsOf(*vocabulary, apart.documents().Contexts()),
              ElementsAre("<s> \u2581a \u2581b <newline> \u2581c <newline>", "<s> </s>",
                          "<s> \u2581b \u2581b \u2581a \u2581c <newline>",
                          "<s> \u2581a <newline> </s>", "<s> \u2581c \u2581c <newline> </s>"));
}

// Each token is in one example of each epoch, and contexts begin elsewhere in each.
TEST(DocumentCorpus, EveryEpochHasEveryToken) {
  const auto vocabulary = Words();
  DocumentCorpus corpus({FileOf("text.txt", kText)}, vocabulary, {.context_tokens = 4}, 1);
  corpus.Shuffle(7);
  std::map<int32_t, int64_t> expected;
  for (int64_t i = 0; i < 3; ++i) {
    for (const int32_t id : corpus.documents()[i]) ++expected[id];
  }
  const auto reader = corpus.Open(0, {}, {});
  std::set<std::vector<std::string>> epochs;
  for (int epoch = 0; epoch < 12; ++epoch) {
    const WindowWork work = reader->Next();
    EXPECT_EQ(work.epoch, epoch);
    EXPECT_TRUE(work.last);
    const Window window = work.make();
    std::map<int32_t, int64_t> found;
    for (int64_t row = 0; row < window.examples->size(); ++row) {
      const std::span<const int32_t> ids = (*window.examples)[row].Ids(0);
      EXPECT_EQ(ids[0], vocabulary->special_ids().bos);
      EXPECT_LE(ids.size(), 5U);
      for (const int32_t id : ids.subspan(1)) ++found[id];
    }
    EXPECT_EQ(found, expected);
    epochs.insert(RowsOf(*vocabulary, *window.examples));
    const Window again = corpus.Open(epoch, {}, {})->Next().make();
    EXPECT_EQ(RowsOf(*vocabulary, *again.examples), RowsOf(*vocabulary, *window.examples));
  }
  EXPECT_GT(epochs.size(), 4U);
}

// Where no context goes on with another document, each document is cut elsewhere in each epoch.
TEST(DocumentCorpus, EveryDocumentIsCutElsewhereInEachEpoch) {
  const auto vocabulary = Words();
  std::string text;
  for (int i = 0; i < 20; ++i) text += i == 10 ? "\na\n" : "a b c\n";
  DocumentCorpus corpus({FileOf("long.txt", text)}, vocabulary,
                        {.context_tokens = 12, .across_documents = false}, 1);
  corpus.Shuffle(7);
  std::map<int64_t, std::set<size_t>> lengths;  // of first contexts, by the document's first line
  for (int64_t epoch = 0; epoch < 12; ++epoch) {
    const Window window = corpus.Open(epoch, {}, {})->Next().make();
    std::set<int64_t> seen;
    for (int64_t row = 0; row < window.examples->size(); ++row) {
      const Example example = (*window.examples)[row];
      if (seen.insert(example.origin().line).second)
        lengths[example.origin().line].insert(example.Ids(0).size());
    }
  }
  ASSERT_EQ(lengths.size(), 2U);
  for (const auto& [line, found] : lengths) EXPECT_GT(found.size(), 4U);
}

TEST(DocumentCorpus, NeedsText) {
  EXPECT_THROW(DocumentCorpus({FileOf("empty.txt", "\n\n")}, Words(), {}, 1), Error);
}

}  // namespace
}  // namespace attend
