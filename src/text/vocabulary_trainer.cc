#include "text/vocabulary_trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <unordered_map>

#include "attend/error.h"
#include "attend/model_config.h"
#include "base/random.h"
#include "text/cut_line.h"
#include "text/lines.h"
#include "text/span_masker.h"
#include "text/utf8.h"

namespace attend {
namespace {

// SentencePiece divides its sums by the number of threads, so that number is part of the result.
constexpr int kTrainerThreads = 4;

// Longer lines are cut, mostly at spaces, where no piece goes across. Normalisation makes up to 18
// characters of one, and SentencePiece stops the process at a BPE word of 65,536 characters, or
// where the sums over a unigram word become infinite.
constexpr size_t kMaxLineCharacters = 2048;

// More characters than that are counted in 64 bits, which takes more memory.
constexpr int64_t kManyCharacters = int64_t{1} << 30;

// U+2581, which SentencePiece writes for a space.
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

// U+2585, which SentencePiece takes for its own mark: it would leave out lines that hold it.
constexpr std::string_view kReservedCharacter = "\xE2\x96\x85";

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

// Training text, and where the line that came last stands.
struct Text {
  NextLine next;
  std::function<std::string()> place;  // "train.en:17"
};

// Puts spaces for the reserved character; false where there is none.
bool ReplaceReserved(std::string* line) {
  bool found = false;
  for (size_t at = 0; (at = line->find(kReservedCharacter, at)) != line->npos; found = true)
    line->replace(at, kReservedCharacter.size(), " ");
  return found;
}

// Words that are cut.
class LongWords {
 public:
  void Count(const std::string& line, const std::function<std::string()>& place) {
    const size_t longest = LongestWord(line);
    if (longest <= kMaxLineCharacters) return;
    if (lines_++ > 0) return;
    characters_ = longest;
    first_ = place();
  }
  void Warn(const Log& log) const {
    if (lines_ == 0) return;
    log(LogLevel::kWarning,
        fmt::format("{}: a word of {} characters is cut into parts of {} to make the vocabulary "
                    "({} lines hold such words); is this text?",
                    first_, characters_, kMaxLineCharacters, lines_));
  }

 private:
  int64_t lines_ = 0;
  size_t characters_ = 0;
  std::string first_;
};

std::vector<std::string> Cut(std::vector<std::string> lines) {
  for (size_t i = 0, whole = lines.size(); i < whole; ++i) {
    if (lines[i].size() <= kMaxLineCharacters) continue;
    const std::string line = std::move(lines[i]);
    const std::vector<std::string_view> parts = CutLine(line, kMaxLineCharacters);
    lines[i] = parts[0];
    lines.insert(lines.end(), parts.begin() + 1, parts.end());
  }
  return lines;
}

// All lines, or a uniform sample in which each line had the same chance (reservoir sampling).
std::vector<std::string> Collect(const Text& text, int64_t max_sentences, uint64_t seed,
                                 const Log& log) {
  std::vector<std::string> lines;
  Random random{seed, 0x766f636162};  // "vocab"
  std::string line;
  int64_t seen = 0, malformed = 0, reserved = 0;
  LongWords long_words;
  while (text.next(&line)) {
    if (!IsValidUtf8(line)) line = RepairUtf8(line, &malformed);
    std::erase(line, '\0');
    if (ReplaceReserved(&line)) ++reserved;
    if (line.empty()) continue;
    ++seen;
    if (line.size() > kMaxLineCharacters) long_words.Count(line, text.place);
    if (max_sentences == 0 || seen <= max_sentences) {
      lines.push_back(line);
    } else if (const uint64_t place = random.Below(seen); place < lines.size()) {
      lines[place] = line;
    }
  }
  LogMalformed(malformed, "the vocabulary's text", log);
  if (reserved > 0) {
    log(LogLevel::kWarning,
        fmt::format("{} lines of the vocabulary's text hold {} (U+2585), which SentencePiece keeps "
                    "for itself: it gets no piece and is read as a space there",
                    reserved, kReservedCharacter));
  }
  long_words.Warn(log);
  return Cut(std::move(lines));
}

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

// Placeholders stand behind the user's own.
std::vector<std::string> SymbolsOf(const VocabularyOptions& options) {
  std::vector<std::string> symbols = options.user_defined_symbols;
  for (int64_t number = 0; number < options.placeholders; ++number)
    symbols.push_back(PlaceholderText(number));
  return symbols;
}

void CheckOptions(const VocabularyOptions& options) {
  std::set<std::string> seen = {"<pad>", "<unk>", "<s>", "</s>"};
  for (int byte = 0; options.byte_fallback && byte < 256; ++byte)
    seen.insert(fmt::format("<0x{:02X}>", byte));
  const std::vector<std::string> symbols = SymbolsOf(options);
  for (const std::string& symbol : symbols) {
    if (symbol.empty() || !IsValidUtf8(symbol) || symbol.find('\0') != std::string::npos) {
      throw Error(ErrorKind::kConfiguration,
                  "user_defined_symbols: a symbol is empty or not UTF-8 text");
    }
    if (symbol.find(kSpaceMark) != std::string::npos) {
      throw Error(ErrorKind::kConfiguration,
                  fmt::format("user_defined_symbols: '{}' holds {} (U+2581), which stands for a "
                              "space in pieces; expected a symbol without it",
                              symbol, kSpaceMark));
    }
    if (!seen.insert(symbol).second) {
      throw Error(
          ErrorKind::kConfiguration,
          fmt::format("user_defined_symbols: '{}' stands twice or is a special piece", symbol));
    }
  }
  const int64_t special = 4 + std::ssize(symbols) + (options.byte_fallback ? 256 : 0);
  if (options.size <= special) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("the vocabulary's size is {}, but special pieces, user-defined symbols "
                            "and bytes alone are {}",
                            options.size, special));
  }
}

std::unordered_map<std::string, std::string> Arguments(const VocabularyOptions& options,
                                                       const std::vector<std::string>& lines) {
  const SpecialIds ids;
  std::unordered_map<std::string, std::string> arguments = {
      {"model_type", options.type == VocabularyType::kBpe ? "bpe" : "unigram"},
      {"vocab_size", std::to_string(options.size)},
      {"character_coverage", fmt::format("{}", options.character_coverage)},
      {"byte_fallback", options.byte_fallback ? "true" : "false"},
      {"pad_id", std::to_string(ids.pad)},
      {"unk_id", std::to_string(ids.unk)},
      {"bos_id", std::to_string(ids.bos)},
      {"eos_id", std::to_string(ids.eos)},
      {"max_sentence_length", std::to_string(2 * kMaxLineBytes)},
      {"num_threads", std::to_string(kTrainerThreads)},
      {"minloglevel", std::to_string(kLogLevel)}};
  // Where little else is covered, no character would be left, which stops the process.
  if (options.character_coverage < 1) arguments["required_chars"] = kSpaceMark;
  int64_t characters = 0;
  for (const std::string& line : lines) characters += std::ssize(line);
  if (characters > kManyCharacters) arguments["train_extremely_large_corpus"] = "true";
  if (const std::vector<std::string> symbols = SymbolsOf(options); !symbols.empty())
    arguments["user_defined_symbols"] = QuotedList(symbols);
  const bool nfkc = options.normalization == Normalization::kNfkc;
  if (!nfkc) arguments["remove_extra_whitespaces"] = "false";
  arguments["normalization_rule_name"] =
      std::string(nfkc ? "nmt_nfkc" : "identity") + (options.lowercase ? "_lower" : "");
  if (options.lowercase)
    arguments["precompiled_charsmap"] = CompileLowerCasingMap(options.normalization);
  return arguments;
}

// SentencePiece stops the whole process where a text has no character left after normalisation.
bool HasText(const std::vector<std::string>& lines, const VocabularyOptions& options) {
  sentencepiece::SentencePieceNormalizer normalizer;
  const bool nfkc = options.normalization == Normalization::kNfkc;
  const auto status = normalizer.LoadFromRuleName(nfkc ? "nmt_nfkc" : "identity");
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return !status.ok() || !normalizer.Normalize(line).empty();
  });
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
                fmt::format("the vocabulary's size is {}, but this text gives at most {} pieces",
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

}  // namespace

FieldList Fields(VocabularyOptions& options, const std::string& prefix) {
  FieldList fields;
  const bool recipe = !prefix.empty();
  fields
      .Add(prefix + "size", &options.size, recipe ? 0 : 5, 1 << 20,
           recipe ? "pieces in the vocabulary to make, special ones included; 0: make none"
                  : "pieces in the vocabulary, special ones included")
      .Add(prefix + "type", &options.type, {"unigram", "bpe"}, "how SentencePiece finds pieces")
      .Add("character_coverage", &options.character_coverage, 0.98, 1,
           "share of the text's characters that get a piece; the others are unknown, or bytes")
      .Add("byte_fallback", &options.byte_fallback,
           "spell characters without a piece by their bytes")
      .Add("user_defined_symbols", &options.user_defined_symbols, "texts that are always one piece")
      .Add("placeholders", &options.placeholders, 0, kMostPlaceholders,
           recipe ? "pieces of the vocabulary that stand for protected spans; 0: none, or 32 with "
                    "protect"
                  : "pieces that stand for protected spans, for training with protect; 0: none")
      .Add("normalization", &options.normalization, {"none", "nfkc"},
           "nfkc makes equal what Unicode calls compatible and joins white space; none keeps text "
           "as it is")
      .Add("lowercase", &options.lowercase, "lower-case all text")
      .Add(prefix + "max_sentences", &options.max_sentences, 0, 1e12,
           "train the vocabulary on a random sample of this many lines; 0: all" +
               (recipe ? fmt::format(", or {} (unigram {}) of text that is streamed",
                                     StreamedSentences(VocabularyType::kBpe),
                                     StreamedSentences(VocabularyType::kUnigram))
                       : ""));
  return fields;
}

namespace {

std::string Train(const Text& text, const VocabularyOptions& options, uint64_t seed,
                  const Log& log) {
  CheckOptions(options);
  const std::vector<std::string> lines = Collect(text, options.max_sentences, seed, log);
  sentencepiece::SetMinLogLevel(kLogLevel);
  if (!HasText(lines, options))
    throw Error(ErrorKind::kInput, "there is no text to train a vocabulary on");
  Sentences sentences(&lines);
  std::string model;
  sentencepiece::util::Status status;
  try {
    status =
        sentencepiece::SentencePieceTrainer::Train(Arguments(options, lines), &sentences, &model);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    Refuse(error.what(), options);
  }
  if (!status.ok()) Refuse(status.message(), options);
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
