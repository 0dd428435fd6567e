#include "text/column_reader.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "attend/error.h"
#include "base/files.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string FileOf(const std::string& text) {
  const std::string path = testing::TempDir() + "columns.txt";
  std::filesystem::remove(path);
  WriteFileAtomically(path, text);
  return path;
}

std::string ErrorOf(const std::string& text) {
  try {
    ColumnReader reader(FileOf(text));
    ColumnSentence sentence;
    while (reader.Next(&sentence)) {
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ColumnReader, ReadsSentences) {
  ColumnReader reader(
      FileOf("-DOCSTART- -X- O\n\nEU  NNP I-ORG\nrejects VBZ O\n \n\n\n. . O\r\n. . O"));
  ColumnSentence sentence;
  ASSERT_TRUE(reader.Next(&sentence));
  EXPECT_TRUE(sentence.begins_document());
  ASSERT_TRUE(reader.Next(&sentence));
  EXPECT_FALSE(sentence.begins_document());
  EXPECT_EQ(sentence.first_line, 3);
  EXPECT_THAT(sentence.Column(0), ElementsAre("EU", "rejects"));
  EXPECT_THAT(sentence.Column(-1), ElementsAre("I-ORG", "O"));
  EXPECT_EQ(sentence.lines[0], "EU  NNP I-ORG");
  ASSERT_TRUE(reader.Next(&sentence));
  EXPECT_THAT(sentence.Column(0), ElementsAre(".", "."));
  EXPECT_THAT(sentence.blanks, ElementsAre(" ", "", ""));
  EXPECT_EQ(reader.columns(), 3);
  EXPECT_FALSE(reader.Next(&sentence));
}

TEST(ColumnReader, NamesAnotherEncodingAndItsCure) {
  const std::string little("\xFF\xFEw\0 \0O\0\n\0", 10), big("\xFE\xFF\0w\0 \0O\0\n", 10);
  EXPECT_THAT(ErrorOf(little), HasSubstr("columns.txt' is UTF-16 text; convert it: iconv"));
  EXPECT_THAT(ErrorOf(big), HasSubstr("columns.txt' is UTF-16 text; convert it: iconv"));
  EXPECT_THAT(ErrorOf("\x1F\x8B\x08 O\n"), HasSubstr("is a gzip file; its name must end in .gz"));
  EXPECT_EQ(ErrorOf("<html> O\n<p> O\n"), "");  // a word is no markup
  EXPECT_EQ(ErrorOf("{\tO\n\"a\":\tO\n"), "");
}

TEST(ColumnReader, KeepsBlanksBetweenTabs) {
  EXPECT_THAT(ColumnsOf("New York\t\tB-LOC"), ElementsAre("New York", "", "B-LOC"));
  EXPECT_THAT(ColumnsOf(" a  b "), ElementsAre("a", "b"));
}

TEST(ColumnReader, NamesTheLineThatIsWrong) {
  EXPECT_THAT(
      ErrorOf("a O\n\nb\n"),
      HasSubstr("columns.txt:3: 1 column, expected 2 as in the lines before: a word a line"));
  EXPECT_THAT(ErrorOf("(S (NP a) (VP b))\n"),
              HasSubstr("columns.txt:1: a bracketed tree, expected"));
  EXPECT_THAT(ErrorOf("\tO\n"), HasSubstr("columns.txt:1: the word is empty"));
  EXPECT_EQ(ErrorOf("( ( O\n"), "");  // a bracket is a word too
  EXPECT_EQ(ErrorOf("(AP X O\n"), "");
  EXPECT_THAT(ErrorOf("food\tfresh bread\n"),
              HasSubstr("columns.txt:1: a table of texts, expected"));
  EXPECT_EQ(ErrorOf("bread\tNN x\tO\n"), "");
}

}  // namespace
}  // namespace attend
