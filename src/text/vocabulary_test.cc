#include "attend/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "attend/error.h"
#include "base/random.h"
#include "text/lines.h"
#include "text/tokenizer.h"
#include "text/vocabulary_fixture.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

TEST(Vocabulary, EncodesAndDecodes) {
  const auto vocabulary = Vocabulary::FromBytes(Train(SmallBpe()), "test");
  EXPECT_EQ(vocabulary->size(), 60);
  EXPECT_EQ(vocabulary->special_ids(), SpecialIds());
  const std::vector<int32_t> ids = vocabulary->Encode("das alte house");
  EXPECT_EQ(vocabulary->Decode(ids), "das alte house");
  std::vector<int32_t> framed = {0, 2};
  framed.insert(framed.end(), ids.begin(), ids.end());
  framed.push_back(3);
  EXPECT_EQ(vocabulary->Decode(framed), "das alte house");
  EXPECT_TRUE(vocabulary->Encode("").empty());
  EXPECT_EQ(vocabulary->Decode({}), "");
  EXPECT_EQ(vocabulary->Id(vocabulary->Piece(20)), 20);
  EXPECT_EQ(vocabulary->Id("no such piece"), 1);
}

TEST(Vocabulary, ReversedItsIdsBeginWithTheEnd) {
  const auto vocabulary = Vocabulary::FromBytes(Train(SmallBpe()), "test");
  const auto reversed = vocabulary->Reversed();
  const std::string line = "das alte house";
  const auto backwards = [](auto numbers) {
    std::ranges::reverse(numbers);
    return numbers;
  };
  const std::vector<int32_t> ids = reversed->Encode(line);
  EXPECT_EQ(ids, backwards(vocabulary->Encode(line)));
  EXPECT_NE(ids, vocabulary->Encode(line));
  EXPECT_EQ(reversed->Decode(ids), line);
  EXPECT_EQ(reversed->Sample(line, 0.3, 4), backwards(vocabulary->Sample(line, 0.3, 4)));
  EXPECT_EQ(reversed->WordsOfLine(line), backwards(vocabulary->WordsOfLine(line)));
  EXPECT_EQ(reversed->WordsOfIds(ids), backwards(vocabulary->WordsOfIds(backwards(ids))));
  EXPECT_EQ(reversed->WordsOfIds(ids).front(), 2);
  EXPECT_EQ(reversed->bytes(), vocabulary->bytes());
  EXPECT_EQ(reversed->Reversed()->Encode(line), vocabulary->Encode(line));
}

TEST(Vocabulary, KnowsItsKindAndSamplesByKey) {
  VocabularyOptions unigram = SmallBpe();
  unigram.type = VocabularyType::kUnigram;
  unigram.size = 31;
  const std::string line = "das alte house";
  for (const bool is_bpe : {true, false}) {
    const auto vocabulary = Vocabulary::FromBytes(Train(is_bpe ? SmallBpe() : unigram), "test");
    EXPECT_EQ(vocabulary->type(), is_bpe ? VocabularyType::kBpe : VocabularyType::kUnigram);
    std::set<std::vector<int32_t>> cuts;
    for (uint64_t key = 0; key < 50; ++key) {
      const std::vector<int32_t> ids = vocabulary->Sample(line, 0.3, key);
      EXPECT_EQ(vocabulary->Decode(ids), line);
      EXPECT_EQ(vocabulary->Sample(line, 0.3, key), ids);
      cuts.insert(ids);
    }
    EXPECT_GT(cuts.size(), 5u);
    int64_t malformed = 0;
    EXPECT_FALSE(vocabulary->Sample("a \xFF", 0.3, 1, &malformed).empty());
    EXPECT_EQ(malformed, 1);
  }
}

TEST(Vocabulary, CutsAtCharactersOrWords) {
  VocabularyOptions options;
  options.type = VocabularyType::kChar;
  options.normalization = Normalization::kNone;
  const auto characters = Vocabulary::FromBytes(TrainOn({"ab  c", "ba"}, options), "test");
  EXPECT_EQ(characters->type(), VocabularyType::kChar);
  EXPECT_EQ(characters->size(), 4 + 2 + 4);  // special ones, two that mask, space a b c
  EXPECT_EQ(characters->Encode(" a  b").size(), 5);
  EXPECT_EQ(characters->Decode(characters->Encode(" a  b ")), " a  b ");

  options.type = VocabularyType::kWord;
  const auto words =
      Vocabulary::FromBytes(TrainOn({"the  old house ", "the cat"}, options), "test");
  EXPECT_EQ(words->type(), VocabularyType::kWord);
  EXPECT_EQ(words->size(), 4 + 4);
  EXPECT_THAT(words->Encode(" the  house dog "),
              testing::ElementsAre(words->Id("\u2581the"), words->Id("\u2581house"),
                                   words->special_ids().unk));
  options.size = 6;  // the most frequent ones
  const auto few = Vocabulary::FromBytes(TrainOn({"b b b a", "a a b c"}, options), "test");
  EXPECT_EQ(few->Piece(4), "\u2581b");
  EXPECT_EQ(few->Piece(5), "\u2581a");
}

TEST(Vocabulary, RefusesWhatWordsAndCharactersCannotHave) {
  const auto message = [](auto change) -> std::string {
    VocabularyOptions options;
    options.type = VocabularyType::kWord;
    change(options);
    try {
      TrainOn({"a b"}, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](VocabularyOptions&) {}), "");
  EXPECT_THAT(message([](VocabularyOptions& options) { options.byte_fallback = true; }),
              testing::StartsWith("byte_fallback is not for a vocabulary of words; "));
  EXPECT_THAT(message([](VocabularyOptions& options) { options.placeholders = 2; }),
              testing::StartsWith("placeholders is not for a vocabulary of words; "));
  EXPECT_THAT(message([](VocabularyOptions& options) {
                options.type = VocabularyType::kChar;
                options.letter_case = LetterCase::kFactor;
              }),
              testing::StartsWith("case = factor is not for a vocabulary of characters; "));
}

TEST(Vocabulary, WordsAreTheLinesOwnWhateverBecomesOfThem) {
  VocabularyOptions plain = SmallBpe(), bytes = SmallBpe(), marks = SmallBpe(), both = SmallBpe();
  marks.letter_case = both.letter_case = LetterCase::kFactor;
  plain.normalization = both.normalization = Normalization::kNone;
  bytes.byte_fallback = true;
  bytes.size = 300;
  const std::vector<std::string> lines = {"das alte  Haus",          "  das\talte Haus ",
                                          "das\u00A0alte Haus",      "dasalte\u200B Haus\u00B4s",
                                          "\u65E5 \u672C\u8A9E das", "the\u3000old \u00BDs",
                                          "Das ALTE Haus",           "\tDAS ALTE  HAUS DA, DaS"};
  for (const VocabularyOptions& options : {SmallBpe(), plain, bytes, marks, both}) {
    const auto vocabulary = Vocabulary::FromBytes(Train(options), "test");
    for (const std::string& line : lines) {
      const std::vector<int32_t> ids = vocabulary->Encode(line);
      const std::vector<int64_t> words = vocabulary->WordsOfLine(line);
      ASSERT_EQ(words.size(), ids.size()) << line;
      EXPECT_TRUE(std::is_sorted(words.begin(), words.end())) << line;
      EXPECT_EQ(words.front(), 0) << line;
      EXPECT_EQ(words.back(), CountWords(line) - 1) << line;
    }
    EXPECT_THAT(vocabulary->WordsOfLine(""), testing::IsEmpty());
  }
  const auto marking = Vocabulary::FromBytes(Train(marks), "test");
  const std::vector<int32_t> ids = marking->Encode("DAS DAS DAS Das");
  const std::vector<int64_t> words = marking->WordsOfLine("DAS DAS DAS Das");
  ASSERT_EQ(words.size(), ids.size());
  const auto end = std::find(ids.begin(), ids.end(), marking->Id("\u21E9")) - ids.begin();
  EXPECT_EQ(words[end], 2);  // the mark that ends a run goes with the word before it
  EXPECT_EQ(words[end + 1], 3);
  const auto vocabulary = Vocabulary::FromBytes(Train(plain), "test");
  EXPECT_EQ(vocabulary->WordsOfLine(" ").back(), -1);
}

TEST(Vocabulary, WordsOfIdsAreThoseOfTheirText) {
  VocabularyOptions plain = SmallBpe(), marks = SmallBpe();
  plain.normalization = Normalization::kNone;
  marks.letter_case = LetterCase::kFactor;
  int compared = 0;
  for (const VocabularyOptions& options : {SmallBpe(), plain, marks}) {
    const auto vocabulary = Vocabulary::FromBytes(Train(options), "test");
    for (const char* line : {"das\talte Haus", "DAS DAS DAS Das", "Ein HAUS\t\tAlt"}) {
      const std::vector<int32_t> ids = vocabulary->Encode(line);
      // What is unknown is a word of its own where ids alone are there.
      if (std::count(ids.begin(), ids.end(), vocabulary->special_ids().unk) > 0) continue;
      EXPECT_EQ(vocabulary->WordsOfIds(ids), vocabulary->WordsOfLine(line)) << line;
      ++compared;
    }
    std::vector<int32_t> ids = vocabulary->Encode("das  alte Haus ");
    const std::vector<int64_t> words = vocabulary->WordsOfIds(ids);
    EXPECT_EQ(words, vocabulary->WordsOfLine("das  alte Haus "));
    ids.insert(ids.begin(), 2), ids.push_back(3);  // bos and eos give no text
    std::vector<int64_t> framed = {0};
    framed.insert(framed.end(), words.begin(), words.end());
    framed.push_back(2);
    EXPECT_EQ(vocabulary->WordsOfIds(ids), framed);
    // The unknown piece stands between spaces.
    const int32_t a = vocabulary->Id("a");
    EXPECT_EQ(vocabulary->WordsOfIds(std::vector<int32_t>{a, 1, a}),
              (std::vector<int64_t>{0, 1, 2}));
  }
  EXPECT_EQ(compared, 1 + 1 + 3);
}

TEST(Vocabulary, KnowsWhatItDoesToCase) {
  for (const Normalization normalization : {Normalization::kNfkc, Normalization::kNone}) {
    for (const LetterCase letter_case :
         {LetterCase::kKeep, LetterCase::kLower, LetterCase::kFactor}) {
      VocabularyOptions options = SmallBpe();
      options.normalization = normalization;
      options.letter_case = letter_case;
      EXPECT_EQ(Vocabulary::FromBytes(Train(options), "test")->tokenizer().letter_case(),
                letter_case);
    }
  }
}

TEST(Vocabulary, RefusesIdsItDoesNotHave) {
  const auto vocabulary = Vocabulary::FromBytes(Train(SmallBpe()), "test");
  EXPECT_THROW(vocabulary->Decode(std::vector<int32_t>{60}), Error);
  EXPECT_THROW(vocabulary->Decode(std::vector<int32_t>{-1}), Error);
  EXPECT_THROW(vocabulary->Piece(60), Error);
}

TEST(Vocabulary, CountsMalformedText) {
  const auto vocabulary = Vocabulary::FromBytes(Train(SmallBpe()), "test");
  int64_t malformed = 5;
  const auto ids = vocabulary->Encode("das \xE2\x82 Haus \xFF", &malformed);
  EXPECT_EQ(malformed, 7);
  EXPECT_EQ(ids, vocabulary->Encode("das \xEF\xBF\xBD Haus \xEF\xBF\xBD"));
}

TEST(Vocabulary, LinesWithTheReservedCharacterAreLearntFromToo) {
  std::vector<std::string> warnings;
  const Log log = [&](LogLevel, std::string_view message) { warnings.emplace_back(message); };
  VocabularyOptions options = SmallBpe();
  options.size = 10;
  const std::string bytes =
      TrainOn({"xyz\u2585xyz xyz", "xyz xyz", "\u2585\u2585xyz"}, options, log);
  EXPECT_THAT(warnings,
              testing::ElementsAre(testing::HasSubstr("2 lines of the vocabulary's text")));
  EXPECT_EQ(bytes, TrainOn({"xyz xyz xyz", "xyz xyz", "  xyz"}, options));
  const auto vocabulary = Vocabulary::FromBytes(bytes, "test");
  EXPECT_EQ(vocabulary->Encode("\u2585").back(), vocabulary->special_ids().unk);
}

// SentencePiece alone would join them.
TEST(Vocabulary, EachUnknownWordOrCharacterIsAToken) {
  const std::string path = testing::TempDir() + "units.txt";
  WriteFileAtomically(path, "a b c\n");
  VocabularyOptions options;
  options.type = VocabularyType::kWord;
  const auto words = Vocabulary::FromBytes(TrainVocabulary({path}, options, 1, NoLog()), "words");
  const auto unk = static_cast<int32_t>(words->special_ids().unk);
  const int32_t a = words->Id("\u2581a");
  EXPECT_EQ(words->Encode("x yy a <unk> <unk> z"),
            (std::vector<int32_t>{unk, unk, a, unk, unk, unk}));
  EXPECT_EQ(words->WordsOfLine("x yy a z zz"), (std::vector<int64_t>{0, 1, 2, 3, 4}));
  options.type = VocabularyType::kChar;
  const auto letters = Vocabulary::FromBytes(TrainVocabulary({path}, options, 1, NoLog()), "chars");
  EXPECT_EQ(letters->Encode("xyz b"),
            (std::vector<int32_t>{unk, unk, unk, letters->Id("\u2581"), letters->Id("b")}));
  EXPECT_EQ(letters->WordsOfLine("xy b").size(), letters->Encode("xy b").size());
}

TEST(Vocabulary, TextIsOneLine) {
  VocabularyOptions options = SmallBpe();
  options.size = 320;
  options.byte_fallback = true;
  const auto vocabulary = Vocabulary::FromBytes(Train(options), "test");
  std::vector<int32_t> ids = vocabulary->Encode("das");
  for (const char* piece : {"<0x0A>", "<0x0D>", "<0x00>"}) {
    ASSERT_NE(vocabulary->Id(piece), vocabulary->special_ids().unk);
    ids.push_back(vocabulary->Id(piece));
  }
  EXPECT_EQ(vocabulary->Decode(ids), "das   ");
}

TEST(Vocabulary, MarksGiveCaseBackHoweverTheyStand) {
  VocabularyOptions options = SmallBpe();
  options.letter_case = LetterCase::kFactor;
  const auto vocabulary = Vocabulary::FromBytes(Train(options), "test");
  const int32_t title = 4, capitals = 5, begin = 6, end = 7;
  ASSERT_EQ(vocabulary->Piece(begin), "\u21EB");
  const std::vector<int32_t> das = vocabulary->Encode("das");
  const auto decoded = [&](std::vector<int32_t> ids, int32_t last) {
    ids.insert(ids.end(), das.begin(), das.end());
    ids.push_back(last);
    return vocabulary->Decode(ids);
  };
  EXPECT_EQ(decoded({title}, 3), "Das");
  EXPECT_EQ(decoded({2, capitals, title}, end), "DAS");
  EXPECT_EQ(decoded({end, begin}, title), "DAS");
  EXPECT_EQ(decoded({title, title}, begin), "\u21E7 das");
  EXPECT_EQ(decoded({begin, end}, 3), "\u21E9 das");
  EXPECT_EQ(vocabulary->Decode(std::vector<int32_t>{title, end}), "");
  for (uint64_t key = 0; key < 20; ++key)
    EXPECT_EQ(vocabulary->Decode(vocabulary->Sample("Das HAUS IST alt", 0.5, key)),
              "Das HAUS IST alt");
}

TEST(Vocabulary, NulIsReplacedAndCounted) {
  const auto vocabulary = Vocabulary::FromBytes(Train(SmallBpe()), "test");
  int64_t malformed = 0;
  const std::string line("das\0Haus", 8);
  EXPECT_EQ(vocabulary->Encode(line, &malformed), vocabulary->Encode("das\uFFFDHaus"));
  EXPECT_EQ(malformed, 1);
}

// Every cut of a file, and many with changed bytes: an error or a vocabulary, never a crash.
TEST(Vocabulary, DamagedFilesGiveErrorsOnly) {
  VocabularyOptions options = SmallBpe();
  options.normalization = Normalization::kNone;
  options.letter_case = LetterCase::kLower;  // a normalisation of its own, smaller than nmt_nfkc
  const std::string good = Train(options);
  for (size_t size = 0; size < good.size(); size += 1 + size / 200) {
    EXPECT_THROW(Vocabulary::FromBytes(good.substr(0, size), "cut"), Error) << size;
  }
  Random random{1};
  int loaded = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 1 + i % 8; ++k)
      bad[random.Below(bad.size())] = static_cast<char>(random.Below(256));
    try {
      const auto vocabulary = Vocabulary::FromBytes(bad, "changed");
      const auto ids = vocabulary->Encode("DAS ALTE house \xC3\x84");
      vocabulary->Decode(ids);
      ++loaded;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(loaded, 0);
}

// A length-delimited field of a protocol buffer.
std::string Part(int number, const std::string& content) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  size_t size = content.size();
  for (; size >= 0x80; size >>= 7) field += static_cast<char>((size & 0x7F) | 0x80);
  field += static_cast<char>(size);
  return field + content;
}

// SentencePiece follows these too: a normalisation that is merged with an earlier one, and one for
// decoding.
TEST(Vocabulary, ChecksEveryCompiledMap) {
  const std::string good = Train(SmallBpe());
  std::string map(4 + 1024 + 1, '\0');
  map[1] = 4;                                                           // 1,024 bytes of units
  for (size_t unit = 0; unit < 256; ++unit) map[4 + 4 * unit + 2] = 4;  // children at 256 and on
  const std::string damaged = Part(2, map);
  for (const std::string& bytes :
       {good + Part(5, damaged), Part(3, damaged) + good, good + Part(3, damaged) + Part(3, "")}) {
    EXPECT_THROW(Vocabulary::FromBytes(bytes, "hostile"), Error);
  }
  EXPECT_NO_THROW(Vocabulary::FromBytes(good + Part(5, ""), "harmless"));
}

TEST(Vocabulary, NamesWhatIsWrongWithAFile) {
  for (const std::string bytes : {"", "not a model at all", "\x0a"}) {
    try {
      Vocabulary::FromBytes(bytes, "some/vocab.spm");
      ADD_FAILURE() << "accepted '" << bytes << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      EXPECT_THAT(error.what(), testing::StartsWith("some/vocab.spm: "));
    }
  }
  EXPECT_THROW(Vocabulary::Load("/no/such/vocab.spm"), Error);
}

// Each ended the process by a check of SentencePiece's.
TEST(VocabularyTrainer, NoTextEndsTheProcess) {
  struct Case {
    std::string line;
    std::vector<std::string> symbols;
  };
  const std::vector<Case> cases = {{std::string(65536, 'a'), {}},
                                   {"a" + std::string(1000, '\t'), {}},
                                   {"<x><x><x><x><x><x><x><x><x><x>", {"<x>"}}};
  for (const Case& each : cases) {
    for (const VocabularyType type : {VocabularyType::kBpe, VocabularyType::kUnigram}) {
      for (const double coverage : {0.98, 1.0}) {
        VocabularyOptions options;
        options.type = type;
        options.size = 300;
        options.normalization = Normalization::kNone;
        options.character_coverage = coverage;
        options.user_defined_symbols = each.symbols;
        try {
          TrainOn({each.line, each.line}, options);
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr("this text gives at most"));
        }
      }
    }
  }
  VocabularyOptions options;
  options.user_defined_symbols = {"\u2581x"};
  EXPECT_THROW(TrainOn({"x"}, options), Error);
}

TEST(VocabularyTrainer, LongLinesGiveWhatTheirWordsGive) {
  std::string line;
  std::vector<std::string> words;
  Random random{5, 0};
  for (int word = 0; word < 3000; ++word) {
    words.emplace_back();
    for (uint64_t length = random.Below(6) + 1; length > 0; --length)
      words.back() += static_cast<char>('a' + random.Below(5));
    line += (word > 0 ? " " : "") + words.back();
  }
  VocabularyOptions options = SmallBpe();
  EXPECT_EQ(TrainOn({line}, options), TrainOn(words, options));
}

}  // namespace
}  // namespace attend
