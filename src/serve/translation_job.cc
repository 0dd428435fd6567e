#include "serve/translation_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

// From this many sentences on a request that does not say is bulk.
constexpr size_t kBulkFrom = 9;
constexpr int64_t kMostPiecesWithAttention = 128;

class JobMaker {
 public:
  JobMaker(TranslationJob* job, const RequestOptions& asked, const ServeOptions& options)
      : job_(job), asked_(asked) {
    const int64_t model_takes = job->model->translator().max_input_tokens();
    most_pieces_ = std::min(options.max_input_tokens, model_takes);
    if (asked.attention) most_pieces_ = std::min(most_pieces_, kMostPiecesWithAttention);
    most_sentences_ = asked.attention ? 1 : options.max_sentences;
  }

  void Add(TranslationJob::Text* text) {
    text->first = job_->sentences.size();
    if (asked_.split_sentences) {
      for (const TextPart& part : SentenceParts(text->text, job_->model->source())) {
        AddSentence(text, part);
      }
      return;
    }
    for (const TextPart& line : LineParts(text->text)) AddLine(text, line);
  }

 private:
  // A line that is too long as a whole is translated in parts of whole sentences.
  void AddLine(TranslationJob::Text* text, const TextPart& line) {
    Sentence whole = MakeSentence(*text, line);
    if (Fits(whole.ids)) return Keep(text, line, std::move(whole));
    const int64_t most = most_pieces_ * most_sentences_;
    if (std::ssize(whole.ids) > most && !asked_.attention) {  // before the work of dividing it
      throw Error(ErrorKind::kInput,
                  fmt::format("a line has {} pieces, expected at most {}; send less text at once",
                              whole.ids.size(), most));
    }
    const auto fits = [&](std::string_view part) { return Fits(Encode(std::string(part))); };
    for (TextPart part : SentenceGroups(whole.text, job_->model->source(), fits)) {
      part.begin += line.begin;
      part.end += line.begin;
      AddSentence(text, part);
    }
  }

  void AddSentence(TranslationJob::Text* text, const TextPart& part) {
    Sentence sentence = MakeSentence(*text, part);
    if (!Fits(sentence.ids)) RefuseLength(sentence);
    Keep(text, part, std::move(sentence));
  }

  bool Fits(const std::vector<int32_t>& ids) const { return std::ssize(ids) <= most_pieces_; }

  std::vector<int32_t> Encode(const std::string& text) const {
    return job_->model->translator().source().Encode(text);
  }

  Sentence MakeSentence(const TranslationJob::Text& text, const TextPart& part) const {
    Sentence sentence;
    sentence.text = text.text.substr(part.begin, part.end - part.begin);
    sentence.ids = Encode(sentence.text);
    sentence.options = asked_.translation;
    sentence.attention = asked_.attention;
    return sentence;
  }

  void Keep(TranslationJob::Text* text, const TextPart& part, Sentence sentence) {
    if (std::ssize(job_->sentences) >= most_sentences_) {
      throw Error(ErrorKind::kInput,
                  fmt::format("the request has more than {} sentence{}{}; send less text at once",
                              most_sentences_, most_sentences_ == 1 ? "" : "s",
                              asked_.attention ? ", the most with attention" : ""));
    }
    text->parts.push_back(part);
    job_->sentences.push_back({std::move(sentence)});
  }

  [[noreturn]] void RefuseLength(const Sentence& sentence) const {
    throw Error(ErrorKind::kInput,
                fmt::format("a sentence has {} pieces, expected at most {}{}; divide it ('{}')",
                            sentence.ids.size(), most_pieces_,
                            asked_.attention ? " with attention" : "", Excerpt(sentence.text, 60)));
  }

  TranslationJob* job_;
  const RequestOptions& asked_;
  int64_t most_pieces_, most_sentences_;
};

}  // namespace

std::string TranslationJob::Join(const Text& text, size_t rank) const {
  const auto parts = SentencesOf(text);
  return ReplaceParts(text.text, text.parts, [&](size_t i) -> std::string_view {
    return parts[i].result.translation.hypotheses[rank].text;
  });
}

int64_t TranslationJob::SourcePieces() const {
  int64_t pieces = 0;
  for (const JobSentence& sentence : sentences) pieces += std::ssize(sentence.ids);
  return pieces;
}

int64_t TranslationJob::TargetPieces() const {
  int64_t pieces = 0;
  for (const JobSentence& sentence : sentences) {
    const auto& hypotheses = sentence.result.translation.hypotheses;
    if (!hypotheses.empty()) pieces += std::ssize(hypotheses[0].ids);
  }
  return pieces;
}

std::shared_ptr<TranslationJob> MakeJob(std::shared_ptr<ServedModel> model,
                                        std::vector<std::string> texts, const RequestOptions& asked,
                                        const ServeOptions& options) {
  auto job = std::make_shared<TranslationJob>();
  job->model = std::move(model);
  if (std::ssize(texts) > options.max_sentences) {
    throw Error(ErrorKind::kInput, fmt::format("the request has {} texts, expected at most {}",
                                               texts.size(), options.max_sentences));
  }
  JobMaker maker(job.get(), asked, options);
  for (std::string& text : texts) {
    job->texts.push_back({std::move(text), {}, 0});
    maker.Add(&job->texts.back());
  }
  job->bulk = asked.priority == Priority::kBulk ||
              (asked.priority == Priority::kAuto && job->sentences.size() >= kBulkFrom);
  return job;
}

}  // namespace attend
