#include "text/vocabulary_trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <unordered_map>

#include "attend/error.h"
#include "attend/model_config.h"
#include "base/excerpt.h"
#include "text/case_marks.h"
#include "text/lines.h"
#include "text/mask_token.h"
#include "text/newlines.h"
#include "text/sentinels.h"
#include "text/span_masker.h"
#include "text/utf8.h"

namespace attend {
namespace {

// SentencePiece divides its sums by the number of threads, so that number is part of the result.
constexpr int kTrainerThreads = 4;

constexpr const char* kTypeNames[] = {"unigram", "bpe", "word", "char"};

// More characters than that are counted in 64 bits, which takes more memory.
constexpr int64_t kManyCharacters = int64_t{1} << 30;

class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string>* lines) : lines_(lines) {}
  bool done() const override { return next_ == lines_->size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return (*lines_)[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>* lines_;
  size_t next_ = 0;
};

// A comma-separated list as SentencePiece reads it.
std::string QuotedList(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) {
    list += list.empty() ? "\"" : ",\"";
    for (const char c : item) list += c == '"' ? std::string("\"\"") : std::string(1, c);
    list += '"';
  }
  return list;
}

// Why a text can't be a symbol; "" where it can.
std::string WhyNoSymbol(const std::string& symbol, const VocabularyOptions& options) {
  constexpr size_t kLongest = 256;
  if (symbol.empty()) return "is empty";
  if (!IsValidUtf8(symbol)) return "is not UTF-8 text";
  if (symbol.size() > kLongest)
    return fmt::format("has {} bytes, expected at most {}", symbol.size(), kLongest);
  for (const char32_t c : CodePoints(symbol)) {
    if (u_isUWhiteSpace(static_cast<UChar32>(c)) || u_iscntrl(static_cast<UChar32>(c))) {
      return fmt::format(
          "holds U+{:04X}, white space or a control character, which no piece can; "
          "write another character for it, such as '_'",
          static_cast<uint32_t>(c));
    }
    if (c == 0x2581 || c == 0x2585 || (c >= 0xFDD0 && c <= 0xFDEF)) {
      return fmt::format(
          "holds U+{:04X}, which vocabularies keep for themselves; write another "
          "character for it",
          static_cast<uint32_t>(c));
    }
  }
  const bool mark = std::find(kCaseMarks.begin(), kCaseMarks.end(), symbol) != kCaseMarks.end();
  if (options.letter_case == LetterCase::kFactor && mark)
    return "is a piece that marks case; leave it out, or set case to keep";
  return "";
}

bool Is(const VocabularyOptions& options, VocabularyType type) { return options.type == type; }

// What SentencePiece can't keep has marks in its place. Words end at white space in any case.
bool Masks(const VocabularyOptions& options) {
  return options.normalization == Normalization::kNone && !Is(options, VocabularyType::kWord);
}

// What is always one piece, whatever the text: marks and masks, the user's own, placeholders.
std::vector<std::string> SymbolsOf(const VocabularyOptions& options) {
  std::vector<std::string> symbols;
  if (Masks(options)) symbols = {std::string(kMaskedSpaceSign), std::string(kMaskedTab)};
  if (options.letter_case == LetterCase::kFactor)
    symbols.insert(symbols.end(), kCaseMarks.begin(), kCaseMarks.end());
  symbols.insert(symbols.end(), options.user_defined_symbols.begin(),
                 options.user_defined_symbols.end());
  for (int64_t number = 0; number < options.placeholders; ++number)
    symbols.push_back(PlaceholderText(number));
  for (int64_t number = 0; number < options.sentinels; ++number)
    symbols.push_back(SentinelText(number));
  if (options.newline) symbols.emplace_back(kNewline);
  if (options.mask) symbols.emplace_back(kMaskToken);
  return symbols;
}

// What only tokens smaller than words, or larger than characters, can have.
void CheckType(const VocabularyOptions& options) {
  const bool words = Is(options, VocabularyType::kWord);
  if (!words && !Is(options, VocabularyType::kChar)) return;
  const char* option = options.byte_fallback                            ? "byte_fallback"
                       : options.letter_case == LetterCase::kFactor     ? "case = factor"
                       : words && options.placeholders > 0              ? "placeholders"
                       : words && options.split_digits                  ? "split_digits"
                       : words && !options.user_defined_symbols.empty() ? "user_defined_symbols"
                                                                        : nullptr;
  if (option == nullptr) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{} is not for a vocabulary of {}; leave it out, or set the type to "
                          "unigram or bpe",
                          option, words ? "words" : "characters"));
}

void CheckOptions(const VocabularyOptions& options) {
  CheckType(options);
  std::set<std::string> seen = {
      "<pad>", "<unk>", "<s>", "</s>", std::string(kNewline), std::string(kMaskToken)};
  for (int byte = 0; options.byte_fallback && byte < 256; ++byte)
    seen.insert(fmt::format("<0x{:02X}>", byte));
  for (int64_t number = 0; number < options.placeholders; ++number)
    seen.insert(PlaceholderText(number));
  for (int64_t number = 0; number < options.sentinels; ++number) seen.insert(SentinelText(number));
  for (const std::string& symbol : options.user_defined_symbols) {
    std::string reason = WhyNoSymbol(symbol, options);
    if (reason.empty() && !seen.insert(symbol).second)
      reason = "appears twice or is a special piece; leave it out";
    if (reason.empty()) continue;
    throw Error(ErrorKind::kConfiguration,
                fmt::format("user_defined_symbols: '{}' {}", Excerpt(symbol), reason));
  }
  const int64_t special = 4 + std::ssize(SymbolsOf(options)) + (options.byte_fallback ? 256 : 0);
  if (options.size <= special) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("the vocabulary's size is {}, but special pieces, user-defined symbols "
                            "and bytes alone are {}",
                            options.size, special));
  }
}

using TrainerArguments = std::unordered_map<std::string, std::string>;

TrainerArguments Arguments(const VocabularyOptions& options) {
  const SpecialIds ids;
  TrainerArguments arguments = {
      {"model_type", kTypeNames[static_cast<size_t>(options.type)]},
      {"vocab_size", std::to_string(options.size)},
      {"character_coverage", fmt::format("{}", options.character_coverage)},
      {"byte_fallback", options.byte_fallback ? "true" : "false"},
      {"split_digits", options.split_digits ? "true" : "false"},
      {"pad_id", std::to_string(ids.pad)},
      {"unk_id", std::to_string(ids.unk)},
      {"bos_id", std::to_string(ids.bos)},
      {"eos_id", std::to_string(ids.eos)},
      {"max_sentence_length", std::to_string(2 * kMaxLineBytes)},
      {"num_threads", std::to_string(kTrainerThreads)},
      {"minloglevel", std::to_string(kLogLevel)},
      {"normalization_rule_name", NormalizationName(options.normalization, options.letter_case)},
      {"precompiled_charsmap", CompileCharacterMap(options.normalization, options.letter_case)}};
  if (Masks(options)) arguments["remove_extra_whitespaces"] = "false";
  // Of words and characters there may be fewer than the size.
  if (Is(options, VocabularyType::kWord) || Is(options, VocabularyType::kChar))
    arguments["hard_vocab_limit"] = "false";
  if (Is(options, VocabularyType::kChar)) arguments["add_dummy_prefix"] = "false";
  // Where little else is covered, no character would be left, which stops the process.
  if (options.character_coverage < 1) arguments["required_chars"] = kSpaceSign;
  if (const std::vector<std::string> symbols = SymbolsOf(options); !symbols.empty())
    arguments["user_defined_symbols"] = QuotedList(symbols);
  return arguments;
}

using Processor = sentencepiece::SentencePieceProcessor;

// SentencePiece's processor with the normalisation and the symbols of a vocabulary to be made.
std::unique_ptr<Processor> NormalizerOf(TrainerArguments arguments) {
  const std::vector<std::string> text = {"a"};
  Sentences sentences(&text);
  arguments["model_type"] = "char";
  arguments["hard_vocab_limit"] = "false";
  arguments["byte_fallback"] = "false";
  auto processor = std::make_unique<Processor>();
  std::string model;
  auto status = sentencepiece::SentencePieceTrainer::Train(arguments, &sentences, &model);
  if (status.ok()) status = processor->LoadFromSerializedProto(model);
  if (!status.ok()) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("SentencePiece can't make a normalisation: {}", status.message()));
  }
  return processor;
}

std::string Normalized(const std::string& line, const Processor& normalizer) {
  std::string normalized;
  return normalizer.Normalize(line, &normalized).ok() ? normalized : "";
}

// SentencePiece stops the whole process where a text has no character left after normalisation.
bool HasText(const std::vector<std::string>& lines, const Processor& normalizer) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    std::string normalized = Normalized(line, normalizer);
    Replace(kSpaceSign, "", &normalized);
    return !normalized.empty();
  });
}

// The digits of the text that SentencePiece, which knows those of ASCII, doesn't split.
void AddOtherDigits(const std::vector<std::string>& lines, const Processor& normalizer,
                    std::vector<std::string>* symbols) {
  std::set<char32_t> found;
  for (const std::string& line : lines) {
    for (const char32_t c : CodePoints(line))
      if (c > 0x7F && u_charType(static_cast<UChar32>(c)) == U_DECIMAL_DIGIT_NUMBER)
        found.insert(c);
  }
  for (const char32_t c : found) {
    std::string digit;
    AppendUtf8(c, &digit);
    const bool stays = Normalized(digit, normalizer) == std::string(kSpaceSign) + digit;
    if (stays && std::find(symbols->begin(), symbols->end(), digit) == symbols->end())
      symbols->push_back(digit);
  }
}

void MarkLines(const Processor& normalizer, const std::vector<std::string>& symbols,
               std::vector<std::string>* lines) {
  for (std::string& line : *lines) line = MarkCase(Normalized(line, normalizer), symbols).text;
}

// The number that follows `before` in a message, or -1.
int64_t NumberAfter(std::string_view message, std::string_view before) {
  const size_t found = message.find(before);
  int64_t number = -1;
  if (found == std::string_view::npos) return number;
  const std::string_view rest = message.substr(found + before.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return number;
}

[[noreturn]] void Refuse(std::string_view message, const VocabularyOptions& options) {
  if (const int64_t most = NumberAfter(message, "set it to a value <= "); most >= 0) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("the vocabulary's size is {0}, but this text gives at most {1} tokens; "
                            "set the size (vocab_size in training) to at most {1}",
                            options.size, most));
  }
  if (const int64_t least = NumberAfter(message, " vs "); least >= 0) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("the vocabulary's size is {}, but its characters alone take {}; "
                            "expected more, or a lower "
                            "character_coverage",
                            options.size, least));
  }
  throw Error(ErrorKind::kConfiguration,
              fmt::format("SentencePiece can't train the vocabulary: {}", message));
}

// Those of tokens that stand in a text as they are.
FieldList SymbolFields(VocabularyOptions& options, bool recipe) {
  FieldList fields;
  fields
      .Add("user_defined_symbols", &options.user_defined_symbols,
           "texts that are always one token each", kMaking)
      .Add("placeholders", &options.placeholders, 0, kMostPlaceholders,
           recipe ? "number of placeholder tokens for protected spans; 0: none, or 32 with protect"
                  : "number of placeholder tokens for protected spans, for training with protect; "
                    "0: none",
           kMaking)
      .Add("sentinels", &options.sentinels, 0, kMostSentinels,
           recipe
               ? fmt::format("number of tokens <extra_id_0>, <extra_id_1> ..., which stand for "
                             "hidden spans; 0: none, or {} with denoising = spans",
                             kSentinels)
               : "number of tokens <extra_id_0>, <extra_id_1> ..., which stand for hidden spans, "
                 "for training with objective = denoising; 0: none",
           kMaking)
      .Add("newline", &options.newline,
           "make a token of <newline>, which stands for the end of a line in language models",
           kMaking)
      .Add("mask", &options.mask,
           "make a token of [MASK], for masked language models and denoising = infilling", kMaking);
  return fields;
}

}  // namespace

FieldList Fields(VocabularyOptions& options, const std::string& prefix) {
  FieldList fields;
  const bool recipe = !prefix.empty();
  fields
      .Add(prefix + "size", &options.size, recipe ? 0 : 5, 1 << 20,
           recipe ? "number of tokens in the new vocabulary, special ones included; 0: make none"
                  : "number of tokens in the vocabulary, special ones included",
           kMaking)
      .Add(
          prefix + "type", &options.type, {std::begin(kTypeNames), std::end(kTypeNames)},
          "SentencePiece's model type: unigram and bpe cut words into pieces; a vocabulary of word "
          "or char has at most the size's number of tokens, the most frequent ones",
          kMaking)
      .Add("character_coverage", &options.character_coverage, 0.98, 1,
           "share of the text's characters that get a token; the others are unknown, or bytes with "
           "byte_fallback",
           kMaking)
      .Add("byte_fallback", &options.byte_fallback,
           "spell characters without a token of their own by their bytes", kMaking)
      .Nest("", SymbolFields(options, recipe))
      .Add("normalization", &options.normalization, {"none", "nfkc"},
           "nfkc: Unicode NFKC, with white space joined and control characters dropped; none: text "
           "stays as it is",
           kMaking)
      .Add("split_digits", &options.split_digits, "make each digit a token of its own", kMaking)
      .Add("case", &options.letter_case, {"keep", "lower", "factor"},
           "keep: keep capital letters; lower: lower-case all text; factor: lower-case it and mark "
           "where capitals were, so that outputs get them back")
      .Replaced("lowercase", "lower-casing is `case` now: keep, lower or factor")
      .Add(prefix + "max_sentences", &options.max_sentences, 0, 1e12,
           "train the vocabulary on a random sample of this many lines; 0: all" +
               (recipe ? fmt::format(", or {} (unigram {}) of text that is streamed",
                                     StreamedSentences(VocabularyType::kBpe),
                                     StreamedSentences(VocabularyType::kUnigram))
                       : ""),
           kMaking);
  return fields;
}

namespace {

std::string Train(const VocabularyText& text, VocabularyOptions options, uint64_t seed,
                  const Log& log) {
  CheckOptions(options);
  std::vector<std::string> lines = CollectLines(text, options.max_sentences, seed, log);
  sentencepiece::SetMinLogLevel(kLogLevel);
  const auto normalizer = NormalizerOf(Arguments(options));
  if (!HasText(lines, *normalizer))
    throw Error(ErrorKind::kInput, "there is no text to train a vocabulary on");
  if (options.split_digits) AddOtherDigits(lines, *normalizer, &options.user_defined_symbols);
  if (options.letter_case == LetterCase::kFactor)
    MarkLines(*normalizer, options.user_defined_symbols, &lines);
  TrainerArguments arguments = Arguments(options);
  int64_t characters = 0;
  for (const std::string& line : lines) characters += std::ssize(line);
  if (characters > kManyCharacters) arguments["train_extremely_large_corpus"] = "true";
  Sentences sentences(&lines);
  std::string model;
  sentencepiece::util::Status status;
  try {
    status = sentencepiece::SentencePieceTrainer::Train(arguments, &sentences, &model);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    Refuse(error.what(), options);
  }
  if (!status.ok()) Refuse(status.message(), options);
  if (Masks(options)) model += UnmaskingPart();
  return model;
}

}  // namespace

std::string TrainVocabulary(const NextLine& next, const VocabularyOptions& options, uint64_t seed,
                            const Log& log) {
  int64_t read = 0;
  const NextLine counted = [&](std::string* line) {
    ++read;
    return next(line);
  };
  const auto place = [&] { return fmt::format("line {} of the vocabulary's text", read); };
  return Train({counted, place}, options, seed, log);
}

std::string TrainVocabulary(const std::vector<std::string>& files, const VocabularyOptions& options,
                            uint64_t seed, const Log& log) {
  size_t file = 0;
  std::unique_ptr<LineReader> reader;
  const NextLine next = [&](std::string* line) {
    while (true) {
      if (reader && reader->Next(line)) return true;
      if (file == files.size()) return false;
      reader = std::make_unique<LineReader>(files[file++]);
    }
  };
  const auto place = [&] { return fmt::format("{}:{}", reader->name(), reader->lines()); };
  return Train({next, place}, options, seed, log);
}

}  // namespace attend
