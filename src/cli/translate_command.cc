// `attend translate`: line in, line out.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "attend/error.h"
#include "attend/translator.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "engine/tasks/translation_options.h"
#include "model/model_directory.h"
#include "text/lines.h"
#include "text/sentence_splitter.h"

namespace attend {
namespace {

enum class Overlong { kSplit, kRefuse };

struct TranslateOptions {
  std::string model, input = "-", output = "-";
  bool scores = false;
  int64_t max_input_tokens = 512;
  Overlong overlong = Overlong::kSplit;
  TranslationOptions translation;
};

FieldList Fields(TranslateOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Add("input", &options.input, "text to translate, a sentence a line; -: standard input")
      .Add("output", &options.output, "where translations go; -: standard output")
      .Add("scores", &options.scores, "write `text ||| score`")
      .Add("max_input_tokens", &options.max_input_tokens, 1, 100000,
           "pieces a line may have at most")
      .Add("overlong", &options.overlong, {"split", "refuse"},
           "what to do with longer lines: split them at sentences, or stop");
  fields.Nest("", Fields(options.translation));
  return fields;
}

// Parts of a line that the model can take; Error(kInput) where it has none.
std::vector<std::string> Parts(const std::string& line, int64_t number,
                               const Translator& translator, const TranslateOptions& options) {
  const auto length = [&](const std::string& text) { return std::ssize(translator.Encode(text)); };
  const auto refuse = [&](int64_t found) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("line {} has {} pieces{}, expected at most {}; raise --max-input-tokens",
                    number, found, options.overlong == Overlong::kSplit ? " in one sentence" : "",
                    options.max_input_tokens));
  };
  const int64_t whole = length(line);
  if (whole <= options.max_input_tokens) return {line};
  if (options.overlong == Overlong::kRefuse) refuse(whole);
  std::vector<std::string> parts;
  for (const std::string_view sentence : SplitSentences(line)) {
    const std::string joined = parts.empty() ? "" : parts.back() + std::string(sentence);
    if (!parts.empty() && length(joined) <= options.max_input_tokens) {
      parts.back() = joined;
      continue;
    }
    parts.emplace_back(sentence);
    if (const int64_t found = length(parts.back()); found > options.max_input_tokens) refuse(found);
  }
  return parts;
}

int64_t CountWords(const std::string& text) {
  int64_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t';
    words += !space && !inside;
    inside = !space;
  }
  return words;
}

// Joins the translations of a line's parts, rank by rank; scores add up.
Hypothesis Join(std::span<const std::string> parts, std::span<const Translation> translations,
                size_t rank) {
  Hypothesis whole = translations[0].hypotheses[rank];
  int64_t source_words = CountWords(parts[0]), target_words = CountWords(whole.text);
  for (size_t i = 1; i < parts.size(); ++i) {
    const Hypothesis& next = translations[i].hypotheses[rank];
    if (!whole.text.empty() && !next.text.empty()) whole.text += ' ';
    whole.text += next.text;
    whole.score += next.score;
    for (const AlignmentLink& link : next.alignment) {
      whole.alignment.push_back({link.source + source_words, link.target + target_words});
    }
    source_words += CountWords(parts[i]);
    target_words += CountWords(next.text);
  }
  return whole;
}

void WriteLine(int64_t line, const Hypothesis& hypothesis, const TranslateOptions& options,
               std::ostream* out) {
  if (options.translation.n_best > 1) *out << line << " ||| ";
  *out << hypothesis.text;
  if (options.scores || options.translation.n_best > 1) {
    *out << fmt::format(" ||| {:.6f}", hypothesis.score);
  }
  if (options.translation.alignments) {
    *out << " |||";
    for (const AlignmentLink& link : hypothesis.alignment) {
      *out << ' ' << link.source << '-' << link.target;
    }
  }
  *out << '\n';
}

// A window of lines: bounded memory, and enough of them for full batches.
void TranslateWindow(std::span<const std::string> lines, int64_t first,
                     const Translator& translator, const TranslateOptions& options,
                     std::ostream* out) {
  std::vector<std::string> parts;
  std::vector<size_t> begins;
  for (size_t i = 0; i < lines.size(); ++i) {
    begins.push_back(parts.size());
    for (std::string& part :
         Parts(lines[i], first + static_cast<int64_t>(i) + 1, translator, options)) {
      parts.push_back(std::move(part));
    }
  }
  begins.push_back(parts.size());
  const std::vector<Translation> all = translator.Translate(parts, options.translation);
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t count = begins[i + 1] - begins[i];
    for (int64_t rank = 0; rank < options.translation.n_best; ++rank) {
      WriteLine(first + static_cast<int64_t>(i),
                Join(std::span(parts).subspan(begins[i], count),
                     std::span(all).subspan(begins[i], count), rank),
                options, out);
    }
  }
}

}  // namespace

int RunTranslate(const std::vector<std::string>& arguments) {
  CommonOptions common;
  TranslateOptions options;
  CommandLine command_line("translate", "translate text, line by line",
                           "attend translate --model MODEL --input test.en --output test.de\n"
                           "echo 'A dog runs.' | attend translate --model MODEL --scores");
  command_line.Options(Fields(options)).Options(Fields(common, {"threads", "quiet", "data_dir"}));
  if (!command_line.Parse(arguments)) return 0;
  if (options.model.empty()) {
    throw Error(ErrorKind::kUsage,
                "attend translate: --model is missing; expected a model directory");
  }
  CheckTranslationOptions(options.translation);
  const Translator translator(LoadModel(options.model), common.ThreadCount());
  LineReader reader(common.DataPath(options.input));
  std::ofstream file;
  if (options.output != "-") {
    file.open(options.output, std::ios::binary);
    if (!file) {
      throw Error(ErrorKind::kRuntime, fmt::format("{} can't be written", options.output));
    }
  }
  std::ostream& out = options.output == "-" ? std::cout : file;
  const bool by_line = options.input == "-" || (options.output == "-" && isatty(STDOUT_FILENO));
  const size_t window = by_line && isatty(STDIN_FILENO) ? 1 : 512;
  std::vector<std::string> lines;
  std::string line;
  for (bool more = true; more;) {
    const int64_t first = reader.lines();
    lines.clear();
    while (lines.size() < window && (more = reader.Next(&line))) lines.push_back(line);
    if (lines.empty()) break;
    TranslateWindow(lines, first, translator, options, &out);
    out.flush();
    if (!out) {
      throw Error(ErrorKind::kRuntime, fmt::format("{} can't be written: the disk is full or the "
                                                   "pipe closed",
                                                   options.output));
    }
  }
  return 0;
}

}  // namespace attend
