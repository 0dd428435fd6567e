#include "serve/tasks/translation/translation_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "tasks/translation/matched_text.h"
#include "tasks/translation/quality.h"
#include "tasks/translation/sentence_splitting.h"
#include "tasks/translation/translation_search.h"
#include "text/overlong_parts.h"
#include "text/visible_text.h"

namespace attend {
namespace {

// What has more bytes than that for each piece is taken for too long without the work of encoding
// it. SentencePiece's own pieces have at most 16 characters; only white space without end, or
// longer pieces that a vocabulary was given, come to more.
constexpr int64_t kMostBytesOfAPiece = 64;

class JobMaker {
 public:
  // `request` is that of the job.
  JobMaker(const TranslationJob& request, ModelJob* job, const RequestOptions& asked,
           const ServeOptions& options, const std::function<void()>& check)
      : request_(request), job_(job), asked_(asked), check_(check) {
    const int64_t model_takes = job->model->translator().max_input_tokens();
    // A sentence with attention is not divided.
    const auto splitting = asked.attention ? SentenceSplitting::kNever : asked.split_sentences;
    most_pieces_ =
        InputLimit(options.max_input_tokens, splitting, job->model->training_text(), model_takes);
    if (asked.attention) most_pieces_ = std::min(most_pieces_, kMostPiecesWithAttention);
    most_sentences_ = asked.attention ? 1 : options.max_sentences;
    whole_ = WholeLineTokens(asked.split_sentences, job->model->training_text(), most_pieces_);
  }

  // `index`: of the text in the request.
  void Add(TranslationJob::Text* text, size_t index) {
    check_();
    text->job = job_;
    text->first = job_->sentences.size();
    if (asked_.beginnings.OfText(index)) return AddWhole(text, index);
    const bool by_lines = whole_ > 0;
    const std::vector<TextPart> parts =
        by_lines ? LineParts(text->text)
                 : JoinAcross(SentenceParts(text->text, job_->model->source()),
                              ProtectedParts(text->text));
    CheckSentences(parts.size());  // each is one at least
    for (const TextPart& part : parts) by_lines ? AddLine(text, part) : AddSentence(text, part);
  }

 private:
  // One line, of which the output's beginning is given.
  void AddWhole(TranslationJob::Text* text, size_t index) {
    const std::vector<TextPart> lines = LineParts(text->text);
    if (lines.empty() && asked_.beginnings.next_words == 0) return;  // it stays as it is
    if (lines.size() != 1) {
      throw Error(ErrorKind::kInput, fmt::format("a text with a target_prefix has {} lines, "
                                                 "expected one",
                                                 lines.size()));
    }
    const std::string_view line = ViewOf(*text, lines[0]);
    std::vector<int32_t> ids = MayFit(line) ? Encode(line) : std::vector<int32_t>();
    if (!MayFit(line) || !Fits(ids)) {
      throw Error(
          ErrorKind::kInput,
          fmt::format("a text with a target_prefix has {} bytes and more than {} tokens; it "
                      "is not divided: shorten it",
                      line.size(), most_pieces_));
    }
    Keep(text, lines[0], std::move(ids), /*begun=*/true);
    JobSentence& sentence = job_->sentences.back();
    const OutputBeginnings& beginnings = asked_.beginnings;
    sentence.next_words = beginnings.next_words;
    sentence.prefix = beginnings.ids.empty()
                          ? job_->model->translator().EncodeBeginning(
                                sentence.text, beginnings.Text(index), asked_.protect)
                          : beginnings.ids[index];
    if (std::ssize(sentence.prefix) > most_pieces_) {
      throw Error(ErrorKind::kInput, fmt::format("target_prefix has {} tokens, expected at most {}",
                                                 sentence.prefix.size(), most_pieces_));
    }
  }

  // A line that is too long as a whole is translated in parts of whole sentences.
  void AddLine(TranslationJob::Text* text, const TextPart& part) {
    const std::string_view line = ViewOf(*text, part);
    std::vector<int32_t> ids;
    if (MayFit(line)) ids = Encode(line);
    if (MayFit(line) && std::ssize(ids) <= whole_) return Keep(text, part, std::move(ids));
    CheckSize("a line", line, ids);
    const auto fits = [&](std::string_view group) {
      return MayFit(group) && std::ssize(Encode(group)) <= whole_;
    };
    const auto spans = ProtectedParts(line);
    for (const TextPart& group : SentenceGroups(line, job_->model->source(), fits, spans)) {
      AddSentence(text, {part.begin + group.begin, part.begin + group.end});
    }
  }

  // One that is too long is translated in parts.
  void AddSentence(TranslationJob::Text* text, const TextPart& part) {
    const std::string_view sentence = ViewOf(*text, part);
    const bool short_enough = MayFit(sentence) || !HasLetterOrDigit(sentence);
    std::vector<int32_t> ids;
    if (short_enough) ids = Encode(sentence);
    if (short_enough && Fits(ids)) return Keep(text, part, std::move(ids));
    CheckSize("a sentence", sentence, ids);
    ++text->divided;
    const auto fits = [&](std::string_view piece) { return MayFit(piece) && Fits(Encode(piece)); };
    const auto spans = ProtectedParts(sentence);
    for (TextPart piece : FittingParts(sentence, fits, spans)) {
      piece.begin += part.begin;
      piece.end += part.begin;
      AddPiece(text, piece);
    }
  }

  void AddPiece(TranslationJob::Text* text, const TextPart& part) {
    std::vector<int32_t> ids = Encode(ViewOf(*text, part));
    // A character that takes more than was asked for is translated where the model can.
    const int64_t model_takes = job_->model->translator().max_input_tokens();
    if (std::ssize(ids) > model_takes) {
      throw Error(ErrorKind::kInput,
                  fmt::format("the character '{}' has {} tokens, expected at most {}, the model's "
                              "learned positions",
                              Excerpt(ViewOf(*text, part), 60), ids.size(), model_takes));
    }
    Keep(text, part, std::move(ids));
  }

  static std::string_view ViewOf(const TranslationJob::Text& text, const TextPart& part) {
    return std::string_view(text.text).substr(part.begin, part.end - part.begin);
  }

  int64_t MostBytes() const { return most_pieces_ * kMostBytesOfAPiece; }
  bool MayFit(std::string_view part) const { return std::ssize(part) <= MostBytes(); }
  bool Fits(const std::vector<int32_t>& ids) const { return std::ssize(ids) <= most_pieces_; }

  std::vector<TextPart> ProtectedParts(std::string_view text) const {
    return asked_.protect ? job_->model->translator().ProtectedParts(text)
                          : std::vector<TextPart>{};
  }

  std::vector<int32_t> Encode(std::string_view part) const {
    check_();
    if (!HasLetterOrDigit(part)) return {};  // it is copied
    return job_->model->translator().Encode(std::string(part), asked_.protect);
  }

  // `begun`: the output's beginning is given, and so the memory has no part in it.
  void Keep(TranslationJob::Text* text, const TextPart& part, std::vector<int32_t> ids,
            bool begun = false) {
    CheckSentences(1);
    text->parts.push_back(part);
    Sentence sentence = {.text = std::string(ViewOf(*text, part)),
                         .ids = std::move(ids),
                         .protect = asked_.protect,
                         .options = asked_.translation,
                         .attention = asked_.attention};
    if (asked_.attention) {
      sentence.options.max_length = std::min(
          kMostLengthWithAttention,
          job_->model->translator().MaxLength(std::ssize(sentence.ids), asked_.translation));
    }
    job_->sentences.push_back({{}, std::move(sentence), {}});
    if (asked_.loaded_memory) Remember(&job_->sentences.back(), begun);
    ReadTerms(&job_->sentences.back());
  }

  void Remember(JobSentence* sentence, bool begun) const {
    sentence->with_memory = true;
    if (sentence->ids.empty()) return;  // it is copied
    check_();
    sentence->matches = asked_.loaded_memory->Find(sentence->text, asked_.match);
    const bool exact = !sentence->matches.empty() && sentence->matches[0].score == 100;
    if (sentence->matches.empty() || asked_.attention || begun) return;
    if (!exact || !asked_.memory_exact) return ReadMatch(sentence);
    sentence->remembered =
        RememberedTranslation(sentence->text, sentence->matches[0].target,
                              ProtectedParts(sentence->text), asked_.translation);
    sentence->ids.clear();  // the model has no work with it
  }

  // As LineBatch does.
  void ReadMatch(JobSentence* sentence) const {
    const std::string& target = sentence->matches[0].target;
    const bool reads = ReadsMatches(job_->model->translator().source());
    if (!reads || sentence->ids.empty() || !ProtectedParts(target).empty()) return;
    std::string text = WithMatch(sentence->text, target);
    std::vector<int32_t> ids = Encode(text);
    if (!Fits(ids)) return;
    sentence->source_bytes = sentence->text.size();
    sentence->text = std::move(text);
    sentence->ids = std::move(ids);
  }

  // Attention is shown of the text alone.
  void ReadTerms(JobSentence* sentence) const {
    if (asked_.attention || sentence->ids.empty()) return;
    if (asked_.translation.glossary == nullptr) return;
    check_();
    job_->model->translator().ReadTerms(most_pieces_, sentence);
  }

  void CheckSentences(size_t more) const {
    if (request_.Sentences() + static_cast<int64_t>(more) <= most_sentences_) return;
    throw Error(ErrorKind::kInput,
                fmt::format("the request has more than {} sentence{}{}; send less text at once",
                            most_sentences_, most_sentences_ == 1 ? "" : "s",
                            asked_.attention ? ", the most with attention" : ""));
  }

  // Before the work of dividing it. Of what certainly does not fit there are no ids.
  void CheckSize(std::string_view what, std::string_view text,
                 const std::vector<int32_t>& ids) const {
    CheckCount(what, std::ssize(ids), "tokens", most_pieces_);
    CheckCount(what, std::ssize(text), "bytes", MostBytes());
  }

  // `most` is what a sentence may have of the unit.
  void CheckCount(std::string_view what, int64_t size, std::string_view unit, int64_t most) const {
    if (size <= most * most_sentences_) return;
    throw Error(
        ErrorKind::kInput,
        fmt::format("{} has {} {}, expected at most {}{}; send less text at once", what, size, unit,
                    most * most_sentences_, asked_.attention ? " with attention" : ""));
  }

  const TranslationJob& request_;
  ModelJob* job_;
  const RequestOptions& asked_;
  const std::function<void()>& check_;
  int64_t most_pieces_, most_sentences_;
  int64_t whole_;  // WholeLineTokens
};

int64_t UnknownCharactersOf(std::span<const JobSentence> sentences) {
  int64_t unknown = 0;
  for (const JobSentence& sentence : sentences)
    unknown += std::ssize(sentence.result.translation.unknown_characters);
  return unknown;
}

bool IsFinished(const JobSentence& sentence) {
  return sentence.result.translation.AtRank(0).finished;
}

int64_t SumOf(const std::deque<ModelJob>& jobs, int64_t (ModelJob::*count)() const) {
  int64_t sum = 0;
  for (const ModelJob& job : jobs) sum += (job.*count)();
  return sum;
}

}  // namespace

int64_t ModelJob::Unfinished() const {
  return std::ssize(sentences) - std::ranges::count_if(sentences, IsFinished);
}

int64_t ModelJob::UnknownCharacters() const { return UnknownCharactersOf(sentences); }

int64_t ModelJob::SourcePieces() const {
  int64_t pieces = 0;
  for (const JobSentence& sentence : sentences) pieces += std::ssize(sentence.ids);
  return pieces;
}

int64_t ModelJob::TargetPieces() const {
  int64_t pieces = 0;
  for (const JobSentence& sentence : sentences) {
    const auto& hypotheses = sentence.result.translation.hypotheses;
    if (!hypotheses.empty()) pieces += std::ssize(hypotheses[0].ids);
  }
  return pieces;
}

std::string TranslationJob::Text::Join(size_t rank) const {
  const auto sentences = Sentences();
  return ReplaceParts(text, parts, [&](size_t i) -> std::string_view {
    return sentences[i].result.translation.AtRank(rank).text;
  });
}

bool TranslationJob::Text::Finished() const { return std::ranges::all_of(Sentences(), IsFinished); }

int64_t TranslationJob::Text::UnknownCharacters() const { return UnknownCharactersOf(Sentences()); }

std::optional<double> TranslationJob::Text::Quality() const {
  MeanQuality quality;
  for (const JobSentence& sentence : Sentences()) {
    if (!sentence.options.quality) return std::nullopt;
    quality.Add(sentence.result.translation.AtRank(0));
  }
  if (parts.empty()) return std::nullopt;
  return quality.Value();
}

int64_t TranslationJob::Sentences() const {
  int64_t sentences = 0;
  for (const ModelJob& job : jobs) sentences += std::ssize(job.sentences);
  return sentences;
}

int64_t TranslationJob::Unfinished() const { return SumOf(jobs, &ModelJob::Unfinished); }

int64_t TranslationJob::Divided() const {
  int64_t divided = 0;
  for (const Text& text : texts) divided += text.divided;
  return divided;
}

int64_t TranslationJob::UnknownCharacters() const {
  return SumOf(jobs, &ModelJob::UnknownCharacters);
}

int64_t TranslationJob::SourcePieces() const { return SumOf(jobs, &ModelJob::SourcePieces); }

std::shared_ptr<TranslationJob> MakeJob(
    const std::vector<std::shared_ptr<ServedTranslator>>& models,
    const std::vector<size_t>& of_text, std::vector<std::string> texts, const RequestOptions& asked,
    const ServeOptions& options, const std::function<void()>& check) {
  if (std::ssize(texts) > options.max_sentences) {
    throw Error(ErrorKind::kInput, fmt::format("the request has {} texts, expected at most {}",
                                               texts.size(), options.max_sentences));
  }
  auto request = std::make_shared<TranslationJob>();
  std::vector<JobMaker> makers;
  for (const auto& model : models) {
    ModelJob& job = request->jobs.emplace_back();
    job.model = model;
    makers.emplace_back(*request, &job, asked, options, check);
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    request->texts.push_back({.text = std::move(texts[i])});
    makers[of_text[i]].Add(&request->texts.back(), i);
  }
  const bool bulk = asked.queue.IsBulk(request->Sentences());
  for (ModelJob& job : request->jobs) job.bulk = bulk;
  return request;
}

}  // namespace attend
