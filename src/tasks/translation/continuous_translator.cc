#include "tasks/translation/continuous_translator.h"

#include <span>
#include <utility>

#include "tasks/translation/alternatives.h"
#include "tasks/translation/bayes_risk.h"
#include "tasks/translation/translation_search.h"
#include "text/ascii.h"
#include "text/visible_text.h"

namespace attend {

// Sentences of a queue as searches see them.
class ContinuousTranslator::LiveSentences : public SharedQueue {
 public:
  LiveSentences(const TaskRunner* runner, const QualityEstimator* estimator, SentenceQueue* queue,
                int workers)
      : runner_(runner), estimator_(estimator), queue_(queue), scoring_(workers) {}

  const SearchInput* Next(const SearchLoad& load) override {
    while (const Sentence* sentence = queue_->Next(load)) {
      try {
        if (sentence->ids.empty() || !HasLetterOrDigit(sentence->text)) {
          queue_->Done(*sentence, {CopyOf(sentence->text, sentence->options), {}});
          continue;
        }
        if (sentence->options.alignments) {
          runner_->CheckAlignmentLayer(sentence->options.alignment_layer);
        }
        const int64_t added = sentence->annotated ? sentence->annotated->added : 0;
        auto input = std::make_unique<Input>(
            Input{MakeSearchInput(*runner_, sentence->ids, sentence->options, added), sentence,
                  load.worker, TermsOf(*sentence)});
        input->terms = input->found_terms.paths;
        if (!sentence->prefix.empty()) {
          runner_->CheckLengths(/*line=*/1, std::ssize(sentence->ids),
                                std::ssize(sentence->prefix));
          input->prefix = sentence->prefix;
        }
        if (sentence->next_words > 0) SearchNextToken(sentence->next_words, input.get());
        return input.release();  // until Done, Dropped or Failed
      } catch (const std::exception&) {
        queue_->Failed(*sentence, std::current_exception());
      }
    }
    return nullptr;
  }

  bool Wanted(const SearchInput& input) override { return queue_->Wanted(SentenceOf(input)); }

  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    queue_->Done(SentenceOf(input), ResultOf(InputOf(input), std::move(results)));
    delete &InputOf(input);
  }

  void Dropped(const SearchInput& input) override {
    queue_->Dropped(SentenceOf(input));
    delete &InputOf(input);
  }

  void Failed(const SearchInput& input, const std::exception_ptr& error) override {
    queue_->Failed(SentenceOf(input), error);
    delete &InputOf(input);
  }

 private:
  struct Input : SearchInput {
    const Sentence* sentence;
    int worker;
    SentenceTerms found_terms;
  };

  static const Input& InputOf(const SearchInput& input) { return static_cast<const Input&>(input); }
  static const Sentence& SentenceOf(const SearchInput& input) { return *InputOf(input).sentence; }

  // A search for the next token alone is held to none.
  SentenceTerms TermsOf(const Sentence& sentence) const {
    if (sentence.next_words > 0) return {};
    return attend::TermsOf(*runner_,
                           FindTerms(*runner_, sentence.text, sentence.options, sentence.protect));
  }

  SentenceResult ResultOf(const Input& input, std::vector<SearchResult> results) {
    const Sentence& sentence = *input.sentence;
    SentenceResult result;
    std::vector<Hypothesis>& hypotheses = result.translation.hypotheses;
    hypotheses = MakeHypotheses(std::move(results), input.found_terms);
    const Protection& protection = runner_->protection();
    const MaskedText masked = runner_->Mask(sentence.text, sentence.protect);
    const std::string& read = sentence.annotated ? sentence.annotated->text.text : masked.text;
    result.translation.unknown_characters = runner_->UnknownCharacters(masked.text, sentence.ids);
    for (Hypothesis& hypothesis : hypotheses)
      hypothesis.text = Trimmed(runner_->target().Decode(hypothesis.ids));
    const TranslationOptions& options = sentence.options;
    if (options.mbr != MbrUtility::kNone) ChooseByUtility(options.mbr, options.n_best, &hypotheses);
    const bool judged = options.quality && sentence.next_words == 0;
    for (Hypothesis& hypothesis : hypotheses) {
      if (sentence.attention || options.alignments || judged) {
        PairScore score = Force(input, read, hypothesis);
        runner_->Judge(score, judged, &hypothesis);
        if (sentence.annotated) sentence.annotated->Realign(&hypothesis);
        if (sentence.attention) result.attention.push_back(std::move(score));
      }
      protection.Restore(sentence.text, masked, &hypothesis);
      if (judged && estimator_ != nullptr) {
        hypothesis.quality =
            estimator_->Estimate(OwnText(*runner_, sentence.text), hypothesis.text);
      }
    }
    return result;
  }

  // `text`: the sentence's, as the model reads it.
  PairScore Force(const Input& input, const std::string& text, const Hypothesis& hypothesis) {
    const Sentence& sentence = *input.sentence;
    const std::vector<int32_t> target = runner_->ForcedTarget(hypothesis.ids);
    const ScoredPairs pair = {
        .sources = {&sentence.ids, 1}, .targets = {&target, 1}, .source_texts = {&text, 1}};
    const ScoreOptions options = {.alignments = sentence.options.alignments,
                                  .alignment_layer = sentence.options.alignment_layer,
                                  .attention = sentence.attention};
    std::vector<PairScore> scores(1);
    const int64_t item = 0;
    runner_->ScoreBatch(pair, {&item, 1}, options, &scoring_[input.worker], &scores);
    return std::move(scores[0]);
  }

  const TaskRunner* runner_;
  const QualityEstimator* estimator_;  // null: none
  SentenceQueue* queue_;
  std::vector<ForcedDecoding> scoring_;  // by worker
};

ContinuousTranslator::ContinuousTranslator(std::shared_ptr<const LoadedModel> loaded,
                                           const TranslatorOptions& options, WorkPool* pool)
    : runner_(MakeTaskRunner(std::move(loaded), options)),
      estimator_(LoadEstimator(options)),
      pool_(pool) {}

ContinuousTranslator::~ContinuousTranslator() = default;

int64_t ContinuousTranslator::MaxLength(int64_t source_length,
                                        const TranslationOptions& options) const {
  return attend::MaxLength(runner_, source_length, options);
}

void ContinuousTranslator::ReadTerms(int64_t most, Sentence* sentence) const {
  if (!runner_.reads_terms()) return;
  sentence->annotated =
      Annotate(runner_, runner_.Mask(sentence->text, sentence->protect), sentence->ids,
               FindTerms(runner_, sentence->text, sentence->options, sentence->protect), most,
               sentence->protect);
  if (sentence->annotated) sentence->ids = sentence->annotated->ids;
}

std::vector<int32_t> ContinuousTranslator::EncodeBeginning(const std::string& text,
                                                           const std::string& beginning,
                                                           bool protect) const {
  runner_.CheckWritesFromTheBeginning("target_prefix and alternatives");
  const MaskedText masked = runner_.Mask(text, protect);
  return runner_.target().Encode(runner_.protection().MaskBeginning(masked, beginning));
}

std::vector<std::vector<int32_t>> ContinuousTranslator::LongerPrefixes(
    const Sentence& sentence, const SentenceResult& result) const {
  return attend::LongerPrefixes(runner_, sentence.prefix, result.translation.hypotheses);
}

void ContinuousTranslator::Start(SentenceQueue* queue) {
  sentences_ = std::make_unique<LiveSentences>(&runner_, estimator_.get(), queue, pool_->size());
  search_ = std::make_unique<SearchWork>(MakeSearchModel(runner_), sentences_.get(), pool_);
}

void ContinuousTranslator::Stop() {
  search_.reset();
  sentences_.reset();
}

}  // namespace attend
