#include "data/parallel_corpus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "attend/error.h"
#include "base/sha256.h"
#include "data/corpus_fixture.h"

namespace attend {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ParallelCorpusTest : public CorpusTest {
 protected:
  ParallelCorpus Read(std::vector<std::string> source, std::vector<std::string> target,
                      const CorpusFilters& filters = {}, int threads = 2) {
    return ParallelCorpus({SourceColumn(std::move(source), vocabulary_),
                           TargetColumn(std::move(target), vocabulary_)},
                          filters, threads);
  }
  std::vector<int32_t> Ids(const std::string& text, bool bos) {
    std::vector<int32_t> ids = vocabulary_->Encode(text);
    if (bos) ids.insert(ids.begin(), 2);
    ids.push_back(3);
    return ids;
  }
};

TEST_F(ParallelCorpusTest, FramesColumnsAndKeepsLineNumbers) {
  const ParallelCorpus corpus = Read({Write("s1", "ab\n\ncd ef\r\n"), Write("s2", "abc")},
                                     {Write("t1", "fed\nbad\ncab\n"), Write("t2", "a b c\n")});
  ASSERT_EQ(corpus.examples().size(), 3);
  const std::vector<std::string> source = {"ab", "cd ef", "abc"}, target = {"fed", "cab", "a b c"};
  const std::vector<Origin> origins = {{0, 0}, {0, 2}, {1, 0}};
  for (int64_t i = 0; i < 3; ++i) {
    const Example example = corpus.examples()[i];
    EXPECT_EQ(example.origin(), origins[i]);
    EXPECT_THAT(ColumnsOf(example), ElementsAre(Ids(source[i], false), Ids(target[i], true)));
  }
  EXPECT_EQ(corpus.Where(origins[1]), folder_ + "s1:3");
  EXPECT_EQ(corpus.report().empty, (NamedLines{1, {folder_ + "s1:2"}}));
  EXPECT_EQ(corpus.digests()[3],
            (FileDigest{folder_ + "t2", Sha256("a b c\n"), 1, "target file 2"}));
}

// A link of words is one of all their tokens; places count what stands around a text.
TEST_F(ParallelCorpusTest, LinksOfWordsAreSpreadOverTokens) {
  const std::string source = Write("s", "fab abcdef\n\nab\n"),
                    target = Write("t", "b fede\nab\nab\n"),
                    links = Write("l", "a b ||| 0-1 1-0 1?1\n\n0-0\n");
  const std::vector<CorpusColumn> columns = {SourceColumn({source}, vocabulary_),
                                             TargetColumn({target}, vocabulary_),
                                             LinkColumn({links})};
  const ParallelCorpus corpus(columns, {}, 2);
  ASSERT_EQ(corpus.examples().size(), 2);
  const auto tokens = [&](const std::string& text) {
    return std::ssize(vocabulary_->Encode(text));
  };
  const int64_t fab = tokens("fab"), abcdef = tokens("fab abcdef") - fab, b = tokens("b"),
                fede = tokens("b fede") - b;
  ASSERT_GT(fab, 1);
  std::vector<int32_t> expected;
  for (int64_t s = 0; s < fab; ++s)
    for (int64_t t = 0; t < fede; ++t)
      for (const int64_t place : {s, 1 + b + t}) expected.push_back(static_cast<int32_t>(place));
  for (int64_t s = 0; s < abcdef; ++s)
    for (int64_t t = 0; t < b; ++t)
      for (const int64_t place : {fab + s, 1 + t}) expected.push_back(static_cast<int32_t>(place));
  EXPECT_EQ(ColumnsOf(corpus.examples()[0], 3)[2], expected);
  EXPECT_EQ(corpus.report().tokens.size(), 2u);  // links are none
  EXPECT_EQ(corpus.digests()[2].name, "alignments file 1");

  const StreamedCorpus streamed(columns, {}, {}, 2);
  const Window window = streamed.Open(0, {}, {})->Next().make();
  ASSERT_EQ(window.examples->size(), 2);
  for (int64_t i = 0; i < 2; ++i)
    EXPECT_EQ(ColumnsOf((*window.examples)[i], 3), ColumnsOf(corpus.examples()[i], 3));
}

TEST_F(ParallelCorpusTest, PunctuationIsLinkedWithPunctuation) {
  VocabularyOptions options;
  options.type = VocabularyType::kChar;
  options.size = 16;
  const std::string text = Write("letters", "ab. cd, .\n");
  vocabulary_ = Vocabulary::FromBytes(TrainVocabulary({text}, options, 1, NoLog()), "test");
  const auto links = [&](const std::string& source, const std::string& target) {
    const ParallelCorpus corpus(
        {SourceColumn({Write("s", source + "\n")}, vocabulary_),
         TargetColumn({Write("t", target + "\n")}, vocabulary_), LinkColumn({Write("l", "0-0\n")})},
        {}, 1);
    return ColumnsOf(corpus.examples()[0], 3)[2];
  };
  EXPECT_THAT(links("a.", "b,"), ElementsAre(0, 1, 1, 2));  // a target has bos before
  EXPECT_THAT(links("a.", "b"), ElementsAre(0, 1));
  EXPECT_THAT(links(".", "b"), ElementsAre(0, 1));
  EXPECT_THAT(links("a", ","), ElementsAre(0, 1));
}

TEST_F(ParallelCorpusTest, LinksOfNoWordAreRefused) {
  const std::string source = Write("s", "ab cd\n"), target = Write("t", "ab\n");
  const auto message = [&](const std::string& links) -> std::string {
    try {
      const ParallelCorpus corpus(
          {SourceColumn({source}, vocabulary_), TargetColumn({target}, vocabulary_),
           LinkColumn({Write("l", links)})},
          {}, 2);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("1-0\n"), "");
  EXPECT_THAT(message("2-0\n"),
              HasSubstr("l:1: a link names word 2 of the source, which has 2 words"));
  EXPECT_THAT(message("0-1\n"),
              HasSubstr("l:1: a link names word 1 of the target, which has 1 word,"));
  EXPECT_THAT(message("0-x\n"), HasSubstr("'0-x' is no alignment link"));
  EXPECT_THAT(message("0-0\n0-0\n"), HasSubstr("expected the same number"));
}

TEST_F(ParallelCorpusTest, ReportsWhatEachFilterDropped) {
  CorpusFilters filters;
  filters.min_length = 2;
  filters.max_length = 8;
  filters.max_length_ratio = 2;
  const auto letters = [&](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "a ";
    return text + "\n";
  };
  ASSERT_EQ(vocabulary_->Encode(letters(5)).size(), 5u);
  const ParallelCorpus corpus = Read({Write("s", letters(3) + "\n" + letters(1) + letters(9) +
                                                     letters(2) + letters(4) + "a \xFF a\n")},
                                     {Write("t", letters(3) + letters(3) + letters(3) + letters(3) +
                                                     letters(5) + letters(8) + letters(3))},
                                     filters);
  const CorpusReport& report = corpus.report();
  EXPECT_EQ(report.lines, 7);
  EXPECT_EQ(report.kept, 3);
  EXPECT_EQ(CorpusReportFromJson(ToJson(report), "f"), report);
  EXPECT_THAT(report.tokens, ElementsAre(4 + 5 + 3, 5 + 10 + 5));
  const std::string s = folder_ + "s";
  EXPECT_EQ(report.Text(), fmt::format("7 lines, 3 kept; dropped: 1 empty ({0}:2), 1 too short "
                                       "({0}:3), 1 too long ({0}:4), 1 by length ratio ({0}:5); 1 "
                                       "with malformed UTF-8, read as U+FFFD ({0}:7)",
                                       s));
}

TEST_F(ParallelCorpusTest, NamesTheFirstMalformedLinesOfAnyColumn) {
  const std::string good = "ab\n", bad = "a\xFF\xFF\n";
  const auto lines = [&](const std::string& source, const std::string& target) {
    return Read({Write("s", source)}, {Write("t", target)}).report().malformed.Text();
  };
  const std::string s = folder_ + "s", t = folder_ + "t";
  EXPECT_EQ(lines(good, good), "");
  EXPECT_EQ(lines(good + good + bad, good + bad + good), t + ":2, " + s + ":3");
  EXPECT_EQ(lines(good + bad, good + bad), s + ":2, " + t + ":2");
  std::string many, as_many;
  for (int i = 0; i < 12; ++i) {
    many += i % 4 == 0 ? good : bad;
    as_many += good;
  }
  EXPECT_EQ(lines(many, as_many), s + ":2, 3, 4, 6, 7 and 4 more");
  EXPECT_EQ(lines(as_many, many), t + ":2, 3, 4, 6, 7 and 4 more");
}

TEST(CorpusReportTest, PartsAddUpToTheWhole) {
  CorpusReport whole, sum;
  for (int part = 0; part < 4; ++part) {
    CorpusReport next;
    next.lines = next.too_long.count = 3;
    for (int line = 0; line < 3; ++line) {
      next.too_long.first.push_back(fmt::format("f:{}", 3 * part + line));
      if (whole.too_long.first.size() < NamedLines::kNamed)
        whole.too_long.first.push_back(next.too_long.first.back());
    }
    sum.Add(next);
  }
  whole.lines = whole.too_long.count = 12;
  EXPECT_EQ(sum, whole);
  EXPECT_EQ(sum.too_long.Text(), "f:0, 1, 2, 3, 4 and 7 more");
}

TEST_F(ParallelCorpusTest, DifferentLineCountsNameBothFiles) {
  std::string many;
  for (int i = 0; i < 20001; ++i) many += "ab\n";
  for (const auto& [source, target, counts] :
       {std::tuple{std::string("ab\nab\n"), std::string("ab\n"), "2 1"},
        {"", "ab\n", "0 1"},
        {many, "ab\nab", "20001 2"},
        {many.substr(3), many, "20000 20001"}}) {
    try {
      Read({Write("some.en", source)}, {Write("some.de", target)});
      ADD_FAILURE() << "accepted " << counts;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      const std::string first = std::string(counts).substr(0, std::string(counts).find(' '));
      const std::string second = std::string(counts).substr(first.size() + 1);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(folder_ + "some.en' has " + first + " lines"),
                                      HasSubstr(folder_ + "some.de' has " + second)));
    }
  }
  // Equal sums do not make files parallel.
  EXPECT_THROW(
      Read({Write("a", "a\n"), Write("b", "a\nb\n")}, {Write("c", "a\nb\n"), Write("d", "a\n")}),
      Error);
  EXPECT_THROW(Read({Write("a", "a\n")}, {Write("c", "a\n"), Write("d", "a\n")}), Error);
  EXPECT_THROW(Read({folder_ + "missing"}, {Write("c", "a\n")}), Error);
}

TEST_F(ParallelCorpusTest, IsTheSameWithAnyNumberOfThreadsAndPacked) {
  std::string source, target;
  for (int i = 0; i < 9000; ++i) {
    source +=
        std::string(1 + i % 13, static_cast<char>('a' + i % 6)) + (i % 7 == 0 ? "\r\n" : " b\n");
    target +=
        std::string(1 + i % 11, static_cast<char>('a' + i % 5)) + (i % 97 == 0 ? "\n\n" : "\n");
    if (i % 97 == 0) source += "x\n";
  }
  const std::string packed = Write("source.gz", source);
  const ParallelCorpus one = Read({Write("s", source)}, {Write("t", target)}, {}, 1);
  const ParallelCorpus four = Read({packed}, {Write("t", target)}, {}, 4);
  ASSERT_EQ(one.examples().size(), four.examples().size());
  EXPECT_EQ(Dump(ToJson(one.report())),
            std::regex_replace(Dump(ToJson(four.report())), std::regex("source.gz"), "s"));
  EXPECT_GT(one.report().empty.count, 5);
  for (int64_t i = 0; i < one.examples().size(); ++i) {
    EXPECT_EQ(ColumnsOf(one.examples()[i]), ColumnsOf(four.examples()[i]));
    EXPECT_EQ(one.examples()[i].origin(), four.examples()[i].origin());
  }
}

TEST_F(ParallelCorpusTest, OneColumnIsACorpusToo) {
  const std::string file = Write("text", "ab\n\ncd\n");
  const TextFrame frame{.begin = {2, 7}, .end = {3, 8}};
  const ParallelCorpus corpus({{"text", {file}, vocabulary_, frame}}, {}, 1);
  ASSERT_EQ(corpus.examples().size(), 2);
  EXPECT_THAT(ColumnsOf(corpus.examples()[1], 1),
              ElementsAre(frame.Around(vocabulary_->Encode("cd"))));
  EXPECT_EQ(corpus.report().tokens[0],
            std::ssize(vocabulary_->Encode("ab")) + std::ssize(vocabulary_->Encode("cd")) + 8);
  EXPECT_EQ(corpus.digests()[0].name, "text file 1");
  EXPECT_EQ(corpus.Summary(), fmt::format("3 lines, 2 kept; dropped: 1 empty ({}:2), 0 too short, "
                                          "0 too long",
                                          file));
}

}  // namespace
}  // namespace attend
