#include "tasks/translation/line_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "attend/error.h"
#include "tasks/translation/matched_text.h"
#include "tasks/translation/quality.h"
#include "tasks/translation/translation_search.h"
#include "text/lines.h"
#include "text/overlong_parts.h"
#include "text/visible_text.h"

namespace attend {

FieldList Fields(LineOptions& options) {
  FieldList fields;
  fields
      .Add("prefix", &options.prefix,
           "text before each input, such as 'summarize: ', that tells a model of several tasks "
           "which one it is")
      .Nest("", SplittingField(&options.split_sentences))
      .Add("max_input_tokens", &options.max_input_tokens, 0, 100000,
           "maximum number of tokens that are translated as one input; " + InputLimitHelp())
      .Add("overlong", &options.overlong, {"split", "refuse"},
           "what to do with a line of more tokens; split: at sentences, a longer sentence between "
           "clauses, words or characters; refuse: stop with an error");
  return fields;
}

FieldList MemoryFields(LineOptions& options) {
  FieldList fields;
  fields
      .Add("memory_exact", &options.memory_exact,
           "a line that is a source of the memory, but for white space, gets its target as it "
           "stands, with score 0; not a line with a target prefix")
      .Nest("", Fields(options.match).Select({"memory_threshold"}));
  return fields;
}

LineBatch::LineBatch(const Translator* translator, const Model& model, const LineOptions& options)
    : translator_(translator),
      options_(options),
      limit_(InputLimit(options.max_input_tokens, options.split_sentences, model.training_text,
                        translator->max_input_tokens())),
      whole_(WholeLineTokens(options.split_sentences, model.training_text, limit_)),
      language_(model.config.languages.empty() ? "" : model.config.languages[0]),
      // A prefix may end within a word.
      prefix_words_(CountWords(options.prefix + "a") - 1) {}

void LineBatch::Refuse(const std::string& name, int64_t pieces) const {
  const bool model_decides = translator_->max_input_tokens() == limit_;
  throw Error(ErrorKind::kInput,
              fmt::format("{} has {} tokens{}, expected at most {}{}; {}", name, pieces,
                          options_.overlong == Overlong::kSplit ? " in one character" : "", limit_,
                          model_decides ? ", the model's learned positions" : "",
                          model_decides ? "shorten it" : "raise max_input_tokens"));
}

std::vector<int32_t> LineBatch::Encode(const std::string& text) const {
  return HasLetterOrDigit(text) ? translator_->Encode(options_.prefix + text)
                                : std::vector<int32_t>();
}

std::vector<TextPart> LineBatch::SpansOf(const std::string& text) const {
  std::vector<TextPart> spans;
  for (const ProtectedPart& span : translator_->ProtectedParts(text))
    spans.push_back({span.begin, span.end});
  return spans;
}

std::vector<TextPart> LineBatch::SentencesOf(const std::string& line) const {
  const auto fits = [&](std::string_view text) {
    return std::ssize(translator_->Encode(options_.prefix + std::string(text))) <= whole_;
  };
  std::vector<TextPart> places;
  if (whole_ == 0) {
    places = JoinAcross(SentenceParts(line, language_), SpansOf(line));
  } else if (!fits(line)) {
    places = SentenceGroups(line, language_, fits, SpansOf(line));
  }
  if (places.size() <= 1) return {{0, line.size()}};
  return places;
}

std::vector<LineBatch::Part> LineBatch::PartsOf(const std::string& line) const {
  std::vector<Part> parts;
  for (const TextPart& place : SentencesOf(line)) {
    const std::string sentence = line.substr(place.begin, place.end - place.begin);
    std::vector<int32_t> ids = Encode(sentence);
    if (std::ssize(ids) <= limit_ || options_.overlong == Overlong::kRefuse) {
      parts.push_back({.place = place, .text = sentence, .ids = std::move(ids)});
      continue;
    }
    const auto fits = [&](std::string_view text) {
      return std::ssize(Encode(std::string(text))) <= limit_;
    };
    for (TextPart piece : FittingParts(sentence, fits, SpansOf(sentence))) {
      std::string text = sentence.substr(piece.begin, piece.end - piece.begin);
      ids = Encode(text);
      piece.begin += place.begin;
      piece.end += place.begin;
      parts.push_back(
          {.place = piece, .text = std::move(text), .ids = std::move(ids), .divided = true});
    }
  }
  return parts;
}

std::vector<LineBatch::Part> LineBatch::WholeLine(const std::string& line,
                                                  const std::string& name) const {
  std::vector<int32_t> ids = Encode(line);
  if (std::ssize(ids) > limit_) {
    throw Error(ErrorKind::kInput,
                fmt::format("{} has {} tokens, expected at most {}: a line with a target prefix is "
                            "not divided; shorten it",
                            name, ids.size(), limit_));
  }
  return {{.place = {0, line.size()}, .text = line, .ids = std::move(ids)}};
}

bool LineBatch::Remember(const std::string& line) {
  const auto matches = options_.memory->Find(line, {.threshold = 100, .most = 1});
  if (matches.empty()) return false;
  lines_.push_back({.end = texts_.size(), .remembered = MemoryUnit{line, matches[0].target}});
  return true;
}

// A match with spans that would be placeholders too is left out: they are copied from the text.
void LineBatch::AddMatch(Part* part) const {
  if (part->ids.empty()) return;
  MatchOptions best = options_.match;
  best.most = 1;
  const std::vector<MemoryMatch> matches = options_.memory->Find(part->text, best);
  if (matches.empty() || !SpansOf(matches[0].target).empty()) return;
  std::string text = WithMatch(part->text, matches[0].target);
  std::vector<int32_t> ids = Encode(text);
  if (std::ssize(ids) > limit_) return;
  part->words = CountWords(part->text);
  part->text = std::move(text);
  part->ids = std::move(ids);
}

void LineBatch::FindPlaces(const std::string& line, std::vector<Part>* parts) const {
  int64_t word = 0;
  size_t begin = 0, end = parts->front().place.begin;
  for (Part& part : *parts) {
    const TextPart& place = part.place;
    word += CountWords(std::string_view(line).substr(begin, place.begin - begin));
    begin = place.begin;
    // A word that the part before has begun.
    if (begin > 0 && line[begin - 1] != ' ' && line[begin - 1] != '\t') --word;
    part.first_word = word;
    part.before = line.substr(end, begin - end);
    if (!options_.keep_line_ends) part.before = WithoutLineEnds(part.before);
    end = place.end;
  }
}

void LineBatch::Add(const std::string& text, const std::string& name,
                    const std::string& target_prefix) {
  const bool with_memory = options_.memory != nullptr && target_prefix.empty();
  if (with_memory && options_.memory_exact && Remember(text)) return;
  std::vector<TextPart> inner;
  AddTrimmed(text, 0, text.size(), &inner);
  const auto [begin, end, _] = inner.empty() ? TextPart{text.size(), text.size()} : inner[0];
  const std::string line = text.substr(begin, end - begin);
  std::vector<Part> parts = target_prefix.empty() ? PartsOf(line) : WholeLine(line, name);
  if (options_.overlong == Overlong::kRefuse) {
    const int64_t pieces = std::ssize(parts.size() == 1 ? parts[0].ids : Encode(line));
    if (pieces > limit_) Refuse(name, pieces);
  }
  for (const Part& part : parts) {
    const int64_t pieces = std::ssize(part.ids);
    // A character that takes more than was asked for is translated where the model can.
    if (pieces > (part.divided ? translator_->max_input_tokens() : limit_)) Refuse(name, pieces);
  }
  FindPlaces(line, &parts);
  for (Part& part : parts) {
    if (with_memory && options_.reads_matches) AddMatch(&part);
    texts_.push_back(part.ids.empty() ? std::move(part.text) : options_.prefix + part.text);
    ids_.push_back(std::move(part.ids));
    parts_.push_back(std::move(part));
  }
  if (!target_prefix.empty() || !target_prefixes_.empty()) target_prefixes_.resize(texts_.size());
  if (!target_prefix.empty()) target_prefixes_.back() = target_prefix;
  lines_.push_back({texts_.size(), text.substr(0, begin), text.substr(end)});
  if (options_.keep_line_ends) return;
  Line& whole = lines_.back();
  whole.before = WithoutLineEnds(whole.before);
  whole.after = WithoutLineEnds(whole.after);
}

Hypothesis LineBatch::Join(const std::vector<Translation>& translations, size_t begin,
                           const Line& line, size_t rank) const {
  Hypothesis whole;
  whole.text = line.before;
  int64_t words = 0;  // of whole.text
  MeanQuality quality;
  const auto is_space = [](char byte) { return byte == ' ' || byte == '\t'; };
  // Returns the word that `text` begins with, or in.
  const auto append = [&](std::string_view text) {
    const bool goes_on = !whole.text.empty() && !is_space(whole.text.back()) && !text.empty() &&
                         !is_space(text.front());
    const int64_t first = words - (goes_on ? 1 : 0);
    words = first + CountWords(text);
    whole.text += text;
    return first;
  };
  for (size_t i = begin; i < line.end; ++i) {
    const Hypothesis& next = translations[i].AtRank(rank);
    const Part& part = parts_[i];
    if (i > begin)
      append(part.place.in_word ? part.before : Joint(whole.text, part.before, next.text));
    const int64_t first_word = append(next.text);
    whole.ids.insert(whole.ids.end(), next.ids.begin(), next.ids.end());
    whole.score += next.score;
    whole.log_probability += next.log_probability;
    whole.finished = whole.finished && next.finished;
    whole.protected_spans += next.protected_spans;
    whole.protected_kept += next.protected_kept;
    whole.terms += next.terms;
    whole.terms_kept += next.terms_kept;
    quality.Add(next);
    AddWordQuality(next.word_quality, first_word, words, &whole.word_quality);
    for (const AlignmentLink& link : next.alignment) {
      if (link.source < prefix_words_) continue;
      if (part.words > 0 && link.source - prefix_words_ >= part.words) continue;  // of the match
      whole.alignment.push_back(
          {link.source - prefix_words_ + part.first_word, link.target + first_word});
    }
  }
  whole.text += line.after;
  whole.quality = quality.Value();
  return whole;
}

std::vector<Translation> LineBatch::Translate(const TranslationOptions& options) const {
  const std::vector<Translation> all = translator_->TranslateEncoded(
      texts_, ids_, options, target_prefixes_,
      {.instruction_bytes = std::ssize(options_.prefix), .max_source_tokens = limit_});
  std::vector<Translation> translations;
  size_t begin = 0;
  for (const Line& line : lines_) {
    if (line.remembered) {
      const auto& [source, target] = *line.remembered;
      translations.push_back(RememberedTranslation(source, target, SpansOf(source), options));
      continue;
    }
    Translation& whole = translations.emplace_back();
    size_t ranks = 0;
    double texts = 0;
    for (size_t i = begin; i < line.end; ++i) {
      texts += ids_[i].empty() ? 0 : 1;
      ranks = std::max(ranks, all[i].hypotheses.size());
      whole.divided = whole.divided || parts_[i].divided;
      whole.unknown_characters += all[i].unknown_characters;
    }
    texts = std::max(texts, 1.0);
    for (size_t rank = 0; rank < ranks; ++rank) {
      Hypothesis next = Join(all, begin, line, rank);
      if (options.mbr != MbrUtility::kNone) next.score /= texts;  // a mean of utilities, too
      const bool known =
          !options.sample && std::ranges::any_of(whole.hypotheses, [&](const Hypothesis& other) {
            return other.text == next.text;
          });
      if (!known) whole.hypotheses.push_back(std::move(next));
    }
    begin = line.end;
  }
  return translations;
}

}  // namespace attend
