#include "serve/tasks/translation/served_translator.h"

#include <utility>

#include "tasks/loaded_model.h"
#include "tasks/translation/translation_search.h"
#include "text/lines.h"

namespace attend {
namespace {

// With the shortlist and the estimator of the model, which are its base's.
TranslatorOptions OptionsOf(const ServeOptions& options, const ServedModel& served) {
  const std::string& name = served.whole() ? served.name() : served.base();
  TranslatorOptions translator = options.translator;
  translator.type = options.load.type;
  translator.instruction_set = options.load.instruction_set;
  const auto take = [&](const std::vector<std::string>& all, std::string* taken) {
    for (const std::string& given : all) {
      const auto [model, path] = NameAndPath(given);
      if (model.empty() || model == name) *taken = path;
    }
  };
  take(options.shortlist, &translator.shortlist);
  take(options.estimator, &translator.estimator);
  return translator;
}

// Drops the links to words of a match, which stand behind the text's own.
void DropLinksOfMatch(const JobSentence& sentence, Translation* translation) {
  if (sentence.source_bytes == std::string::npos) return;
  const int64_t words = CountWords(SourceOf(sentence));
  for (Hypothesis& hypothesis : translation->hypotheses) {
    std::erase_if(hypothesis.alignment,
                  [words](const AlignmentLink& link) { return link.source >= words; });
  }
}

class QueuedSentences : public SentenceQueue {
 public:
  explicit QueuedSentences(RequestQueue* queue) : queue_(queue) {}

  const Sentence* Next(const SearchLoad& load) override {
    return static_cast<JobSentence*>(queue_->Next(load));
  }
  bool Wanted(const Sentence& sentence) override { return RequestQueue::Wanted(Of(sentence)); }
  void Done(const Sentence& sentence, SentenceResult result) override {
    const JobSentence& done = Of(sentence);
    auto* job = static_cast<SentenceJob*>(done.job);
    JobSentence& mine = job->sentences[&done - job->sentences.data()];
    queue_->Done(done, [&] {
      mine.result = std::move(result);
      if (mine.remembered) {
        mine.result.translation = std::move(*mine.remembered);
      } else {
        DropLinksOfMatch(mine, &mine.result.translation);
      }
      if (job->on_sentence) job->on_sentence(mine);
    });
  }
  void Dropped(const Sentence& sentence) override { queue_->Dropped(Of(sentence)); }
  void Failed(const Sentence& sentence, std::exception_ptr error) override {
    queue_->Failed(Of(sentence), error);
  }

 private:
  static const JobSentence& Of(const Sentence& sentence) {
    return static_cast<const JobSentence&>(sentence);
  }

  RequestQueue* queue_;
};

}  // namespace

std::string SourceOf(const JobSentence& sentence) {
  return sentence.text.substr(0, sentence.source_bytes);
}

std::vector<JobItem*> SentenceJob::Items() {
  std::vector<JobItem*> items;
  for (JobSentence& sentence : sentences) {
    sentence.room = std::ssize(sentence.ids) + 1;
    items.push_back(&sentence);
  }
  return items;
}

ServedTranslator::ServedTranslator(const ModelToServe& model, const ServeOptions& options,
                                   WorkPool* pool)
    : ServedModel(model, {kTranslateRoute}),
      beam_size_(options.translation.beam_size),
      training_text_(model.loaded->model().training_text),
      translator_(model.loaded, OptionsOf(options, *this), pool),
      queue_(options.queue_sentences,
             {options.translation.batch_sentences, options.translation.batch_tokens}, pool),
      sentences_(std::make_unique<QueuedSentences>(&queue_)) {
  translator_.source();  // throws where there is none
  translator_.Start(sentences_.get());
}

void ServedTranslator::Describe(Json* json) const { (*json)["beam_size"] = beam_size_; }

void ServedTranslator::Stop() {
  queue_.Close();
  translator_.Stop();
}

}  // namespace attend
