// Translation by models that read terms (text/term_annotation.h).
#include "tasks/translation/annotated_source.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attend/translator.h"
#include "model/model_directory.h"
#include "tasks/extend_directory.h"
#include "tasks/loaded_model.h"
#include "tasks/translation/continuous_translator.h"
#include "tasks/translation/line_batch.h"
#include "tasks/translation/translation_search.h"
#include "text/term_annotation.h"

namespace attend {
namespace {

constexpr const char* kUntaught = ATTEND_SOURCE_DIR "/tests/data/golden_v1";

std::shared_ptr<const Model> WithTokens() {
  const std::string output = testing::TempDir() + "reads_terms";
  ExtendDirectory(kUntaught, std::vector<std::string>{"<term>", "<is>", "</term>", "<memory>"},
                  output);
  return LoadModel(output);
}

std::shared_ptr<const Glossary> GlossaryOf(const std::vector<GlossaryTerm>& terms) {
  return std::make_shared<const Glossary>(terms);
}

Hypothesis BestOf(const Translator& translator, const std::string& text,
                  const TranslationOptions& options) {
  return translator.Translate(std::vector<std::string>{text}, options)[0].hypotheses[0];
}

// The result of one sentence, which is given as it is.
class OneSentence : public SentenceQueue {
 public:
  OneSentence(const std::shared_ptr<const Model>& model, const Sentence& sentence)
      : sentence_(sentence) {
    WorkPool pool(1);
    ContinuousTranslator translator(Load(model), {}, &pool);
    sentence_.ids = translator.Encode(sentence.text);
    translator.Start(this);
    pool.Wake();
    done_.wait(false);
    translator.Stop();
  }
  const Hypothesis& best() const { return result_.translation.hypotheses[0]; }

  const Sentence* Next(const SearchLoad& /*load*/) override {
    return given_.exchange(true) ? nullptr : &sentence_;
  }
  bool Wanted(const Sentence& /*sentence*/) override { return true; }
  void Done(const Sentence& /*sentence*/, SentenceResult result) override {
    result_ = std::move(result);
    End();
  }
  void Dropped(const Sentence& /*sentence*/) override { End(); }
  void Failed(const Sentence& /*sentence*/, std::exception_ptr /*error*/) override { End(); }

 private:
  void End() {
    done_ = true;
    done_.notify_all();
  }

  Sentence sentence_;
  SentenceResult result_{{{Hypothesis()}}, {}};
  std::atomic<bool> given_ = false, done_ = false;
};

TEST(AnnotatedSourceTest, AModelReadsTermsIfItsVocabularyHasTheTokens) {
  const auto reads = [](const Model& model) {
    return ReadsTerms(*Vocabulary::FromBytes(model.source_vocabulary, "test"));
  };
  EXPECT_FALSE(reads(*LoadModel(kUntaught)));
  EXPECT_TRUE(reads(*WithTokens()));
}

TEST(AnnotatedSourceTest, TermsAreReadWithTheText) {
  const auto model = WithTokens();
  const Translator translator(model, {});
  TranslationOptions options;
  options.max_length = 30;
  options.alignments = options.quality = true;
  const Hypothesis plain = BestOf(translator, "lumi tavo keri", options);
  options.glossary = GlossaryOf({{.source = "tavo", .target = "sane"}});
  const Hypothesis annotated = BestOf(translator, "lumi tavo keri", options);
  // A sentence whose terms are written by hand, and so not by ReadTerms.
  const OneSentence by_hand(
      model, {.text = "lumi <term> tavo <is> sane </term> keri", .ids = {}, .options = options});
  EXPECT_EQ(annotated.terms, 1);
  EXPECT_EQ(annotated.terms_kept, 1);
  EXPECT_EQ(annotated.text, by_hand.best().text);
  EXPECT_EQ(annotated.score, by_hand.best().score);
  EXPECT_EQ(annotated.quality, by_hand.best().quality);
  EXPECT_NE(annotated.score, plain.score);
  // Links are to the words of the text: to lumi, to tavo with all that stands around it, to keri.
  const std::vector<int64_t> words = {0, 1, 1, 1, 1, 1, 2};
  ASSERT_EQ(annotated.alignment.size(), by_hand.best().alignment.size());
  for (size_t i = 0; i < annotated.alignment.size(); ++i)
    EXPECT_EQ(annotated.alignment[i].source, words[by_hand.best().alignment[i].source]);
  EXPECT_EQ(BestOf(translator, "lumi keri", options).terms, 0);
}

TEST(AnnotatedSourceTest, ReadsSoManyTermsOfSoManyBytesAsFit) {
  const TaskRunner runner(Load(WithTokens()));
  const auto read = [&](const std::string& text, const std::string& target, int64_t most) {
    TranslationOptions options;
    options.glossary = GlossaryOf({{.source = "tavo", .target = target}});
    const auto annotated = Annotate(runner, {.text = text}, runner.Encode(text),
                                    FindTerms(runner, text, options), most);
    return annotated ? annotated->text.text : text;
  };
  const std::string one = "<term> tavo <is> sane </term>";
  std::string many, first_16;
  for (int i = 0; i < 17; ++i) {
    many += i == 0 ? "tavo" : " tavo";
    first_16 += (i == 0 ? "" : " ") + (i < 16 ? one : "tavo");
  }
  EXPECT_EQ(read(many, "sane", 1000), first_16);
  const int64_t two = std::ssize(runner.Encode(one + " " + one));
  EXPECT_EQ(read("tavo tavo", "sane", two), one + " " + one);
  EXPECT_EQ(read("tavo tavo", "sane", two - 1), one + " tavo");
  EXPECT_EQ(read("tavo", "sane", 2), "tavo");
  EXPECT_NE(read("tavo", std::string(100, 'a'), 1000), "tavo");
  EXPECT_EQ(read("tavo", std::string(101, 'a'), 1000), "tavo");
  EXPECT_EQ(read("tavo", "Ω", 1000), "tavo");  // which the vocabulary lacks
}

TEST(AnnotatedSourceTest, TermsDoNotLengthenOutputs) {
  const Translator translator(WithTokens(), {});
  TranslationOptions options;
  const size_t plain = BestOf(translator, "lumi tavo", options).ids.size();
  options.glossary = GlossaryOf({{.source = "tavo", .target = "sane mipa keri dosa neri paku"}});
  EXPECT_LE(BestOf(translator, "lumi tavo", options).ids.size(), plain);
}

TEST(AnnotatedSourceTest, NoTermIsFoundInWhatTellsTheTask) {
  const auto model = WithTokens();
  const Translator translator(model, {});
  LineOptions lines;
  lines.prefix = "keri: ";
  const auto best = [&](const std::vector<GlossaryTerm>& terms) {
    LineBatch batch(&translator, *model, lines);
    batch.Add("lumi tavo", "line");
    TranslationOptions options;
    if (!terms.empty()) options.glossary = GlossaryOf(terms);
    return batch.Translate(options)[0].hypotheses[0];
  };
  EXPECT_EQ(best({{.source = "keri", .target = "sane"}}).score, best({}).score);
  EXPECT_EQ(best({{.source = "tavo", .target = "sane"}}).terms, 1);
}

TEST(AnnotatedSourceTest, AMatchOfTheMemoryHasItsOwnTerms) {
  const auto model = WithTokens();
  const Translator translator(model, {});
  LineOptions lines;
  lines.memory = std::make_shared<const TranslationMemory>(
      std::vector<MemoryUnit>{{"lumi tavo keri", "tavo neri"}});
  lines.reads_matches = true;
  LineBatch batch(&translator, *model, lines);
  batch.Add("lumi tavo keri dosa", "line");
  TranslationOptions options;
  options.alignments = true;
  options.max_length = 30;
  options.glossary = GlossaryOf({{.source = "tavo", .target = "sane"}});
  const Hypothesis found = batch.Translate(options)[0].hypotheses[0];
  EXPECT_EQ(found.terms, 1);
  for (const AlignmentLink& link : found.alignment) EXPECT_LT(link.source, 4);
  const OneSentence by_hand(
      model, {.text = "lumi <term> tavo <is> sane </term> keri dosa <memory> tavo neri",
              .ids = {},
              .options = options});
  EXPECT_EQ(found.score, by_hand.best().score);
}

TEST(AnnotatedSourceTest, AlternativesReadThemToo) {
  const Translator translator(WithTokens(), {});
  TranslationOptions options;
  const auto first = [&] {
    return translator.Alternatives("lumi tavo keri", "", 1, options).hypotheses[0];
  };
  const Hypothesis plain = first();
  options.glossary = GlossaryOf({{.source = "tavo", .target = "sane"}});
  EXPECT_EQ(first().terms, 1);
  EXPECT_NE(first().score, plain.score);
}

TEST(AnnotatedSourceTest, NoOutputHasTheTokens) {
  const Translator translator(WithTokens(), {});
  const std::vector<std::string> lines = {"<term> tavo <is> sane </term>", "<is> <is> <term>"};
  TranslationOptions drawn;
  drawn.sample = true;
  drawn.beam_size = drawn.n_best = 64;
  for (const Translation& found : translator.Translate(lines, drawn)) {
    for (const Hypothesis& each : found.hypotheses) {
      EXPECT_EQ(each.text.find("term>"), std::string::npos);
      EXPECT_EQ(each.text.find("<is>"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace attend
