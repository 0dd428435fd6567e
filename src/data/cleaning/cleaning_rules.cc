#include "data/cleaning/cleaning_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"

namespace attend {
namespace {

constexpr std::array<const char*, kFaults> kNames = {
    "none",   "empty",   "malformed", "too_short", "too_long",  "long_word", "ratio", "letters",
    "script", "numbers", "copy",      "language",  "duplicate", "score",     "share"};

// Of texts in this order.
uint64_t Together(uint64_t first, uint64_t second) { return Random({first, second}).Next(); }

FieldList LengthFields(CorpusFilters& lengths) {
  FieldList fields;
  fields
      .Add("min_length", &lengths.min_length, 1, 1e6,
           "drop lines of fewer words on a side; a Chinese or Japanese character is a word, and "
           "so are four letters of Thai, Lao, Khmer and the like")
      .Add("max_length", &lengths.max_length, 0, 1e6,
           "drop lines of more words on a side; 0: no limit")
      .Add("max_length_ratio", &lengths.max_length_ratio, 0, 1e6,
           "drop pairs with one side this many times longer than the other, in words; 0: no "
           "limit");
  return fields;
}

}  // namespace

const char* FaultName(Fault fault) { return kNames.at(static_cast<size_t>(fault)); }

std::string FaultText(Fault fault) {
  std::string text = FaultName(fault);
  std::ranges::replace(text, '_', ' ');
  return text;
}

FieldList Fields(CleaningOptions& options) {
  FieldList fields;
  fields
      .Add("source_language", &options.source_language,
           "code of the source's language, such as de or sr-Latn; checks its script and language")
      .Add("target_language", &options.target_language, "the same of the target")
      .Nest("", LengthFields(options.lengths))
      .Add("max_word_length", &options.max_word_length, 0, 1e6,
           "drop lines with more characters between white space, but for Chinese and the like; 0: "
           "no limit")
      .Add("min_letters", &options.min_letters, 0, 1,
           "drop lines with a smaller share of letters among the characters of a side; 0: none")
      .Add("min_script", &options.min_script, 0, 1,
           "where a language is given: drop lines with a smaller share of its script's letters "
           "among the letters; 0: none")
      .Add("numbers", &options.numbers,
           "drop pairs whose sides have different numbers, in digits; what groups or divides "
           "digits does not count")
      .Add("keep_copies", &options.keep_copies,
           "keep pairs whose sides are the same text, but for case, spaces and punctuation")
      .Add("detect_language", &options.detect_language,
           "where a language is given: drop lines that CLD2 is sure are in another one")
      .Add("duplicates", &options.duplicates, {"none", "pair", "source", "target", "either"},
           "drop lines whose pair, source, target, or either of them, is one of an earlier kept "
           "line, but for case, spaces and punctuation");
  return fields;
}

CleaningRules::CleaningRules(const CleaningOptions& options, IsOtherLanguage is_other)
    : options_(options),
      is_other_(std::move(is_other)),
      languages_{options.source_language, options.target_language} {
  const std::array<const char*, 2> names = {"source_language", "target_language"};
  for (size_t side = 0; side < names.size(); ++side)
    scripts_.push_back(languages_[side].empty() ? Scripts()
                                                : ScriptsOf(languages_[side], names[side]));
}

Fault CleaningRules::LengthFault(std::span<const LineFacts> facts) const {
  std::vector<int64_t> words;
  for (const LineFacts& side : facts) words.push_back(side.words);
  NamedLines CorpusReport::* const reason = WhyDropped(options_.lengths, words);
  if (reason == nullptr) return Fault::kNone;
  if (reason == &CorpusReport::empty) return Fault::kEmpty;
  if (reason == &CorpusReport::too_short) return Fault::kTooShort;
  return reason == &CorpusReport::too_long ? Fault::kTooLong : Fault::kRatio;
}

bool CleaningRules::IsForeign(std::string_view text, size_t side) const {
  return is_other_ != nullptr && options_.detect_language && !languages_[side].empty() &&
         is_other_(text, languages_[side]);
}

Fault CleaningRules::FaultOf(std::span<const std::string_view> sides) const {
  std::vector<LineFacts> facts;
  for (size_t side = 0; side < sides.size(); ++side)
    facts.push_back(FactsOf(sides[side], scripts_[side]));
  const auto any = [&](const auto& wrong) { return std::ranges::any_of(facts, wrong); };
  const Fault of_length = LengthFault(facts);
  if (of_length == Fault::kEmpty) return of_length;
  if (any([](const LineFacts& side) { return side.malformed; })) return Fault::kMalformed;
  if (of_length == Fault::kTooShort || of_length == Fault::kTooLong) return of_length;
  if (options_.max_word_length > 0 && any([&](const LineFacts& side) {
        return !side.spaceless && side.longest_word > options_.max_word_length;
      }))
    return Fault::kLongWord;
  if (of_length != Fault::kNone) return of_length;
  if (any([&](const LineFacts& side) { return side.letter_share() < options_.min_letters; }))
    return Fault::kLetters;
  if (any([&](const LineFacts& side) { return side.script_share() < options_.min_script; }))
    return Fault::kScript;
  if (sides.size() == 2 && options_.numbers && NumbersOf(sides[0]) != NumbersOf(sides[1]))
    return Fault::kNumbers;
  return Fault::kNone;
}

std::vector<uint64_t> CleaningRules::HashesOf(std::span<const std::string> bare) const {
  const Duplicates by = options_.duplicates;
  if (by == Duplicates::kNone) return {};
  std::vector<uint64_t> each, hashes;
  for (const std::string& text : bare) each.push_back(std::hash<std::string>()(text));
  if (each.size() == 1) return each;
  if (by == Duplicates::kPair) return {Together(each[0], each[1])};
  // Sources and targets are not mixed up.
  if (by != Duplicates::kTarget) hashes.push_back(Together(0, each[0]));
  if (by != Duplicates::kSource) hashes.push_back(Together(1, each[1]));
  return hashes;
}

CleaningRules::Verdict CleaningRules::Judge(std::span<const std::string_view> sides) const {
  const Fault fault = FaultOf(sides);
  if (fault != Fault::kNone) return {fault, {}};
  std::vector<std::string> bare;
  if (options_.duplicates != Duplicates::kNone || !options_.keep_copies) {
    for (const std::string_view side : sides) bare.push_back(BareText(side));
  }
  if (bare.size() == 2 && !options_.keep_copies && bare[0] == bare[1]) return {Fault::kCopy, {}};
  for (size_t side = 0; side < sides.size(); ++side) {
    if (IsForeign(sides[side], side)) return {Fault::kLanguage, {}};
  }
  return {Fault::kNone, HashesOf(bare)};
}

}  // namespace attend
