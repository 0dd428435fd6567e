#include "engine/tasks/continuous_translator.h"

#include <span>
#include <unordered_map>

#include "engine/tasks/translation_search.h"

namespace attend {
namespace {

// The sentences of one thread's search.
class LiveSentences : public SearchQueue {
 public:
  LiveSentences(const TaskRunner* runner, SentenceQueue* queue, Workspace* scoring)
      : runner_(runner), queue_(queue), scoring_(scoring) {}

  const SearchInput* Next() override {
    while (const Sentence* sentence = queue_->Next(std::ssize(live_))) {
      try {
        if (sentence->ids.empty()) {
          SentenceResult empty;
          empty.translation.hypotheses.resize(sentence->options.n_best);
          queue_->Done(*sentence, std::move(empty));
          continue;
        }
        if (sentence->options.alignments) {
          runner_->CheckAlignmentLayer(sentence->options.alignment_layer);
        }
        auto input = std::make_unique<Input>(
            Input{MakeSearchInput(*runner_, sentence->ids, sentence->options), sentence});
        const SearchInput* key = input.get();
        live_.emplace(key, std::move(input));
        return key;
      } catch (const std::exception&) {
        queue_->Failed(*sentence, std::current_exception());
      }
    }
    return nullptr;
  }

  bool Wanted(const SearchInput& input) override { return queue_->Wanted(SentenceOf(input)); }

  void Dropped(const SearchInput& input) override {
    const Sentence& sentence = SentenceOf(input);
    live_.erase(&input);
    queue_->Dropped(sentence);
  }

  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    const Sentence& sentence = SentenceOf(input);
    live_.erase(&input);
    try {
      queue_->Done(sentence, ResultOf(sentence, std::move(results)));
    } catch (const std::exception&) {
      queue_->Failed(sentence, std::current_exception());
    }
  }

  // The search is over before its time.
  void FailAll(const std::exception_ptr& error) {
    for (const auto& [input, held] : live_) queue_->Failed(*held->sentence, error);
    live_.clear();
  }

 private:
  struct Input : SearchInput {
    const Sentence* sentence;
  };

  static const Sentence& SentenceOf(const SearchInput& input) {
    return *static_cast<const Input&>(input).sentence;
  }

  SentenceResult ResultOf(const Sentence& sentence, std::vector<SearchResult> results) const {
    SentenceResult result;
    std::vector<Hypothesis>& hypotheses = result.translation.hypotheses;
    hypotheses = MakeHypotheses(std::move(results), sentence.options.n_best);
    for (Hypothesis& hypothesis : hypotheses) {
      hypothesis.text = runner_->target().Decode(hypothesis.ids);
      if (!sentence.attention && !sentence.options.alignments) continue;
      PairScore score = Force(sentence, hypothesis);
      hypothesis.alignment = std::move(score.alignment);
      if (sentence.attention) result.attention.push_back(std::move(score));
    }
    return result;
  }

  PairScore Force(const Sentence& sentence, const Hypothesis& hypothesis) const {
    const std::vector<int32_t> target = runner_->ForcedTarget(hypothesis.ids);
    const ScoredPairs pair = {.sources = {&sentence.ids, 1},
                              .targets = {&target, 1},
                              .source_texts = {&sentence.text, 1}};
    const ScoreOptions options = {.alignments = sentence.options.alignments,
                                  .alignment_layer = sentence.options.alignment_layer,
                                  .attention = sentence.attention};
    std::vector<PairScore> scores(1);
    const int64_t item = 0;
    runner_->ScoreBatch(pair, {&item, 1}, options, scoring_, &scores);
    return std::move(scores[0]);
  }

  const TaskRunner* runner_;
  SentenceQueue* queue_;
  Workspace* scoring_;  // the search's own has its state
  std::unordered_map<const SearchInput*, std::unique_ptr<Input>> live_;
};

}  // namespace

ContinuousTranslator::ContinuousTranslator(std::shared_ptr<const Model> model,
                                           const TranslatorOptions& options, const BatchRoom& room)
    : runner_(MakeTaskRunner(std::move(model), options)), room_(room) {}

void ContinuousTranslator::Run(SentenceQueue* queue) {
  SearchOptions search = MakeSearchOptions(runner_);
  search.max_beam_size = room_.max_beam_size;
  search.max_sentences = room_.sentences;
  search.max_source_tokens = room_.tokens;
  runner_.OnEveryThread([&](Workspace* workspace) {
    Workspace scoring;
    TransformerStepper stepper(&runner_.transformer(), workspace);
    workspace->scratch.timer.Start(false);
    while (queue->Wait()) {
      LiveSentences sentences(&runner_, queue, &scoring);
      try {
        BeamSearch(search, &sentences, &stepper);
      } catch (const std::exception&) {
        sentences.FailAll(std::current_exception());
      }
    }
  });
}

}  // namespace attend
