#include "serve/translation_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "text/overlong_parts.h"
#include "text/visible_text.h"

namespace attend {
namespace {

// From this many sentences on a request that does not say is bulk.
constexpr size_t kBulkFrom = 9;
// What has more bytes than that for each piece is taken for too long without the work of encoding
// it. SentencePiece's own pieces have at most 16 characters; only white space without end, or
// longer pieces that a vocabulary was given, come to more.
constexpr int64_t kMostBytesOfAPiece = 64;

class JobMaker {
 public:
  JobMaker(TranslationJob* job, const RequestOptions& asked, const ServeOptions& options,
           const std::function<void()>& check)
      : job_(job), asked_(asked), check_(check) {
    const int64_t model_takes = job->model->translator().max_input_tokens();
    most_pieces_ = std::min(options.max_input_tokens, model_takes);
    if (asked.attention) most_pieces_ = std::min(most_pieces_, kMostPiecesWithAttention);
    most_sentences_ = asked.attention ? 1 : options.max_sentences;
    whole_ = WholeLineTokens(asked.split_sentences, job->model->training_text(), most_pieces_);
  }

  void Add(TranslationJob::Text* text) {
    check_();
    text->first = job_->sentences.size();
    const bool by_lines = whole_ > 0;
    const std::vector<TextPart> parts =
        by_lines ? LineParts(text->text)
                 : JoinAcross(SentenceParts(text->text, job_->model->source()),
                              ProtectedParts(text->text));
    CheckSentences(text->first + parts.size());  // each is one at least
    for (const TextPart& part : parts) by_lines ? AddLine(text, part) : AddSentence(text, part);
  }

 private:
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

  void Keep(TranslationJob::Text* text, const TextPart& part, std::vector<int32_t> ids) {
    CheckSentences(job_->sentences.size() + 1);
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
    job_->sentences.push_back({std::move(sentence)});
  }

  void CheckSentences(size_t sentences) const {
    if (std::cmp_less_equal(sentences, most_sentences_)) return;
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

  TranslationJob* job_;
  const RequestOptions& asked_;
  const std::function<void()>& check_;
  int64_t most_pieces_, most_sentences_;
  int64_t whole_;  // WholeLineTokens
};

}  // namespace

std::string TranslationJob::Join(const Text& text, size_t rank) const {
  const auto parts = SentencesOf(text);
  return ReplaceParts(text.text, text.parts, [&](size_t i) -> std::string_view {
    return parts[i].result.translation.AtRank(rank).text;
  });
}

bool TranslationJob::Finished(const Text& text) const {
  return std::ranges::all_of(SentencesOf(text), [](const JobSentence& sentence) {
    return sentence.result.translation.AtRank(0).finished;
  });
}

int64_t TranslationJob::Unfinished() const {
  return std::ranges::count_if(sentences, [](const JobSentence& sentence) {
    return !sentence.result.translation.AtRank(0).finished;
  });
}

int64_t TranslationJob::Divided() const {
  int64_t divided = 0;
  for (const Text& text : texts) divided += text.divided;
  return divided;
}

int64_t TranslationJob::UnknownCharacters() const {
  int64_t unknown = 0;
  for (const Text& text : texts) unknown += UnknownCharacters(text);
  return unknown;
}

int64_t TranslationJob::UnknownCharacters(const Text& text) const {
  int64_t unknown = 0;
  for (const JobSentence& sentence : SentencesOf(text))
    unknown += std::ssize(sentence.result.translation.unknown_characters);
  return unknown;
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

void CheckCharacters(const std::vector<std::string>& texts, const ServeOptions& options) {
  int64_t characters = 0;
  for (const std::string& text : texts) {
    characters += std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
  }
  if (options.max_characters == 0 || characters <= options.max_characters) return;
  throw Error(ErrorKind::kInput,
              fmt::format("the request has {} characters, expected at most {}; send less text at "
                          "once",
                          characters, options.max_characters));
}

std::shared_ptr<TranslationJob> MakeJob(std::shared_ptr<ServedModel> model,
                                        std::vector<std::string> texts, const RequestOptions& asked,
                                        const ServeOptions& options,
                                        const std::function<void()>& check) {
  auto job = std::make_shared<TranslationJob>();
  job->model = std::move(model);
  if (std::ssize(texts) > options.max_sentences) {
    throw Error(ErrorKind::kInput, fmt::format("the request has {} texts, expected at most {}",
                                               texts.size(), options.max_sentences));
  }
  JobMaker maker(job.get(), asked, options, check);
  for (std::string& text : texts) {
    job->texts.push_back({std::move(text), {}, 0});
    maker.Add(&job->texts.back());
  }
  job->bulk = asked.priority == Priority::kBulk ||
              (asked.priority == Priority::kAuto && job->sentences.size() >= kBulkFrom);
  return job;
}

}  // namespace attend
