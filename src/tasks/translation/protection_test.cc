#include "tasks/translation/protection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attend/error.h"
#include "engine/plain_transformer.h"
#include "text/lines.h"
#include "text/vocabulary_extension.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

using testing::HasSubstr;

const std::vector<std::string>& Lines() {
  static const std::vector<std::string> lines = {"see https://example.com/a?b=1 and x.pdf .",
                                                 "a b c d e f g 5 h 7",
                                                 "⟦3⟧ is not 3 , but {name}",
                                                 "no span stands here",
                                                 "5 5 5 and `a b c` then 10:30",
                                                 "",
                                                 "1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i 10 j"};
  return lines;
}

std::string MakeVocabulary(int64_t placeholders) {
  size_t next = 0;
  const NextLine lines = [&](std::string* line) {
    if (next == 3 * Lines().size()) return false;
    *line = Lines()[next++ % Lines().size()];
    return true;
  };
  VocabularyOptions options;
  options.size = 60;
  options.type = VocabularyType::kBpe;
  options.placeholders = placeholders;
  return TrainVocabulary(lines, options, 1, NoLog());
}

// Random weights, which copy nothing by themselves.
std::shared_ptr<const Model> MakeProtectedModel(int64_t placeholders = 12,
                                                const std::vector<std::string>& tokens = {}) {
  auto model = std::make_shared<Model>(*MakeModel(SmallConfig(60 + std::ssize(tokens))));
  const auto vocabulary = Vocabulary::FromBytes(MakeVocabulary(placeholders), "test");
  model->source_vocabulary = model->target_vocabulary =
      tokens.empty() ? vocabulary->bytes() : Extend(*vocabulary, tokens, "test")->bytes();
  AddProtection({.protect = {"all"}}, &model->tokenization);
  return model;
}

void ExpectSpansOnce(const std::string& line, const Hypothesis& hypothesis) {
  const SpanFinder finder({.protect = {"all"}});
  int64_t spans = 0;
  for (const TextPart& span : finder.Find(line)) {
    const std::string text = line.substr(span.begin, span.end - span.begin);
    EXPECT_THAT(hypothesis.text, HasSubstr(text)) << line;
    ++spans;
  }
  EXPECT_EQ(hypothesis.protected_spans, spans);
  EXPECT_EQ(hypothesis.protected_kept, hypothesis.protected_spans);
  if (line.find("⟦") == line.npos) {
    EXPECT_EQ(hypothesis.text.find("⟦"), std::string::npos);
  }
}

TEST(ProtectionTest, EveryOutputHasEverySpanExactlyOnce) {
  const Translator translator(MakeProtectedModel(), {.threads = 2});
  for (const int64_t beam : {1, 3}) {
    const std::vector<Translation> found =
        translator.Translate(Lines(), {.beam_size = beam, .n_best = beam, .scores = beam > 1});
    for (size_t i = 0; i < Lines().size(); ++i) {
      for (const Hypothesis& hypothesis : found[i].hypotheses)
        ExpectSpansOnce(Lines()[i], hypothesis);
    }
  }
}

TEST(ProtectionTest, SecondSearchesDependOnNothingElse) {
  const auto model = MakeProtectedModel();
  const Translator translator(model, {.threads = 1});
  const std::vector<Translation> together = translator.Translate(Lines());
  for (const int64_t sentences : {1, 2}) {
    const Translator other(model, {.threads = 2});
    const std::vector<Translation> found = other.Translate(Lines(), {.batch_sentences = sentences});
    for (size_t i = 0; i < Lines().size(); ++i) {
      EXPECT_EQ(found[i].hypotheses[0].text, together[i].hypotheses[0].text);
      EXPECT_EQ(found[i].hypotheses[0].score, together[i].hypotheses[0].score);
    }
  }
}

TEST(ProtectionTest, AlignmentsCountTheWordsOfTheTexts) {
  const Translator translator(MakeProtectedModel(), {.threads = 1});
  const std::vector<Translation> found = translator.Translate(Lines(), {.alignments = true});
  for (size_t i = 0; i < Lines().size(); ++i) {
    const Hypothesis& hypothesis = found[i].hypotheses[0];
    for (const AlignmentLink& link : hypothesis.alignment) {
      EXPECT_LT(link.source, CountWords(Lines()[i]));
      EXPECT_LT(link.target, CountWords(hypothesis.text));
    }
  }
}

// Terms inside of spans, and ones that would be found inside of placeholders.
TEST(ProtectionTest, TermsThatAModelReadsLeaveSpansAlone) {
  const Translator translator(MakeProtectedModel(12, {"<term>", "<is>", "</term>"}),
                              {.threads = 1});
  std::vector<GlossaryTerm> terms = {{.source = "span", .target = "run"},
                                     {.source = "stands here", .target = "see 5"}};
  for (int i = 0; i < 12; ++i) terms.push_back({.source = std::to_string(i), .target = "and"});
  TranslationOptions options;
  options.alignments = options.quality = true;
  const auto plain = translator.Translate(Lines(), options);
  options.glossary = std::make_shared<const Glossary>(terms);
  const auto found = translator.Translate(Lines(), options);
  // More spans than placeholders, one of which the text has itself.
  const std::vector<std::string> few = {"12 a 13 b \u27E65\u27E7 c \u27E66\u27E7 d see"};
  const Translator of_two(MakeProtectedModel(2, {"<term>", "<is>", "</term>"}), {.threads = 1});
  options.glossary = std::make_shared<const Glossary>(
      std::vector<GlossaryTerm>{{.source = "see", .target = "and"}});
  EXPECT_EQ(of_two.Translate(few, options)[0].hypotheses[0].terms, 1);
  bool read = false;
  for (size_t i = 0; i < Lines().size(); ++i) {
    const Hypothesis& hypothesis = found[i].hypotheses[0];
    ExpectSpansOnce(Lines()[i], hypothesis);
    EXPECT_EQ(std::ssize(hypothesis.word_quality), CountWords(hypothesis.text));
    for (const AlignmentLink& link : hypothesis.alignment)
      EXPECT_LT(link.source, CountWords(Lines()[i]));
    if (hypothesis.terms == 0) EXPECT_EQ(hypothesis.score, plain[i].hypotheses[0].score);
    read = read || hypothesis.terms == 2;
  }
  EXPECT_TRUE(read);  // "no span stands here"
}

TEST(ProtectionTest, EveryWordOfTheTextHasItsQuality) {
  const Translator translator(MakeProtectedModel(), {.threads = 1});
  const std::vector<Translation> found = translator.Translate(Lines(), {.quality = true});
  for (size_t i = 0; i < Lines().size(); ++i) {
    const Hypothesis& hypothesis = found[i].hypotheses[0];
    EXPECT_EQ(std::ssize(hypothesis.word_quality), CountWords(hypothesis.text));
  }
}

// A span of three words that stands for one placeholder, and one that is a part of a word.
TEST(ProtectionTest, WordsOfASpanAreAsSureAsItsPlaceholder) {
  const auto vocabulary = Vocabulary::FromBytes(MakeVocabulary(4), "test");
  const Protection protection({{"protect", {"all"}}}, *vocabulary, *vocabulary, true);
  const std::string line = "run `a b c` now";
  const MaskedText masked = protection.Mask(line);
  Hypothesis hypothesis = {.text = masked.text, .word_quality = {90, 20, 70}};
  protection.Restore(line, masked, &hypothesis);
  EXPECT_EQ(hypothesis.text, line);
  EXPECT_THAT(hypothesis.word_quality, testing::ElementsAre(90, 20, 20, 20, 70));
}

TEST(ProtectionTest, SwitchedOffSpansAreTextLikeOther) {
  const Translator translator(MakeProtectedModel(), {.threads = 1, .protect = false});
  const std::vector<std::string> lines = {Lines()[0]};
  const Hypothesis hypothesis = translator.Translate(lines)[0].hypotheses[0];
  EXPECT_EQ(hypothesis.protected_spans, 0);
  EXPECT_EQ(hypothesis.text.find("https://example.com/a?b=1"), std::string::npos);
  EXPECT_EQ(hypothesis.text.find("⟦"), std::string::npos);
}

std::string Complaint(const Json& tokenization, int64_t placeholders) {
  const auto vocabulary = Vocabulary::FromBytes(MakeVocabulary(placeholders), "test");
  try {
    const Protection protection(tokenization, *vocabulary, *vocabulary, true);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

TEST(ProtectionTest, RefusesWhatAModelCanNotSay) {
  EXPECT_EQ(Complaint({{"kind", "sentencepiece"}}, 0), "");
  EXPECT_EQ(Complaint({{"protect", {"all"}}}, 4), "");
  EXPECT_THAT(Complaint({{"protect", {"all"}}}, 0), HasSubstr("no placeholders"));
  EXPECT_THAT(Complaint({{"protect", {"nothing"}}}, 4), HasSubstr("'nothing'"));
  EXPECT_THAT(Complaint({{"protect", 7}}, 4), HasSubstr("protect"));
  EXPECT_THAT(Complaint({{"protect_patterns", {"("}}}, 4), HasSubstr("regular expression"));
}

}  // namespace
}  // namespace attend
