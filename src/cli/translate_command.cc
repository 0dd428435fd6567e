// `attend translate`: line in, line out.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/files.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "engine/tasks/translation_options.h"
#include "text/lines.h"
#include "text/sentence_splitter.h"

namespace attend {
namespace {

enum class Overlong { kSplit, kRefuse };

struct TranslateOptions {
  std::string model, input = "-", output = "-";
  TranslatorOptions translator;
  bool scores = false;
  int64_t max_input_tokens = 512;
  Overlong overlong = Overlong::kSplit;
  TranslationOptions translation;
};

FieldList Fields(TranslateOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", Fields(options.translator))
      .Add("input", &options.input, "text to translate, a sentence a line; -: standard input")
      .Add("output", &options.output, "where translations go; -: standard output")
      .Add("scores", &options.scores, "write `text ||| score`")
      .Add("max_input_tokens", &options.max_input_tokens, 1, 100000,
           "pieces a line may have at most")
      .Add("overlong", &options.overlong, {"split", "refuse"},
           "what to do with longer lines: split them at sentences, or stop")
      .Nest("", Fields(options.translation));
  return fields;
}

// Parts of a line that the model and --max-input-tokens can take; Error(kInput) where it has none.
std::vector<std::string> Parts(const std::string& line, int64_t number,
                               const Translator& translator, const TranslateOptions& options) {
  const auto length = [&](const std::string& text) { return std::ssize(translator.Encode(text)); };
  const bool model_decides = translator.max_input_tokens() < options.max_input_tokens;
  const int64_t limit = std::min(options.max_input_tokens, translator.max_input_tokens());
  const auto refuse = [&](int64_t found) {
    throw Error(ErrorKind::kInput,
                fmt::format("line {} has {} pieces{}, expected at most {}{}; {}", number, found,
                            options.overlong == Overlong::kSplit ? " in one sentence" : "", limit,
                            model_decides ? ", the model's learned positions" : "",
                            model_decides ? "shorten it" : "raise --max-input-tokens"));
  };
  const int64_t whole = length(line);
  if (whole <= limit) return {line};
  if (options.overlong == Overlong::kRefuse) refuse(whole);
  std::vector<std::string> parts;
  for (const std::string_view sentence : SplitSentences(line)) {
    const std::string joined = parts.empty() ? "" : parts.back() + std::string(sentence);
    if (!parts.empty() && length(joined) <= limit) {
      parts.back() = joined;
      continue;
    }
    parts.emplace_back(sentence);
    if (const int64_t found = length(parts.back()); found > limit) refuse(found);
  }
  return parts;
}

// Joins the translations of a line's parts, rank by rank; scores add up.
Hypothesis Join(std::span<const std::string> parts, std::span<const Translation> translations,
                size_t rank) {
  Hypothesis whole = translations[0].hypotheses[rank];
  int64_t source_words = CountWords(parts[0]), target_words = CountWords(whole.text);
  for (size_t i = 1; i < parts.size(); ++i) {
    const Hypothesis& next = translations[i].hypotheses[rank];
    // Two parts may divide a word between them.
    source_words +=
        CountWords(parts[i - 1] + parts[i]) - CountWords(parts[i - 1]) - CountWords(parts[i]);
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

// Where translations go: a file that appears whole, or standard output at once.
class Output {
 public:
  explicit Output(const std::string& path) {
    if (path != "-") file_.emplace(path);
  }

  bool terminal() const { return !file_ && isatty(STDOUT_FILENO) == 1; }

  void Write(const std::string& text) {
    if (file_) return file_->Write(text);
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() ||
        std::fflush(stdout) != 0) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("can't write to standard output: {}", std::strerror(errno)));
    }
  }

  void Commit() {
    if (file_) file_->Commit();
  }

 private:
  std::optional<AtomicFile> file_;
};

std::string FormatLine(int64_t line, const Hypothesis& hypothesis,
                       const TranslateOptions& options) {
  std::string text = options.translation.n_best > 1 ? fmt::format("{} ||| ", line) : "";
  text += hypothesis.text;
  if (options.scores || options.translation.n_best > 1) {
    text += fmt::format(" ||| {:.6f}", hypothesis.score);
  }
  if (options.translation.alignments) {
    text += " |||";
    for (const AlignmentLink& link : hypothesis.alignment) {
      text += fmt::format(" {}-{}", link.source, link.target);
    }
  }
  return text + '\n';
}

// A line that can't be translated ends the run, after those before it.
void TranslateWindow(const LineWindows& window, const Translator& translator,
                     const TranslateOptions& options, Output* out) {
  std::vector<std::string> parts;
  std::vector<size_t> ends;  // of each line's parts
  std::exception_ptr refused;
  for (const std::string& line : window.lines()) {
    try {
      const int64_t number = window.number() + std::ssize(ends);
      for (std::string& part : Parts(line, number, translator, options)) {
        parts.push_back(std::move(part));
      }
    } catch (const Error&) {
      refused = std::current_exception();
      break;
    }
    ends.push_back(parts.size());
  }
  parts.resize(ends.empty() ? 0 : ends.back());
  const std::vector<Translation> all = translator.Translate(parts, options.translation);
  std::string text;
  size_t begin = 0;
  for (size_t i = 0; i < ends.size(); begin = ends[i++]) {
    const size_t count = ends[i] - begin;
    for (int64_t rank = 0; rank < options.translation.n_best; ++rank) {
      text += FormatLine(
          window.number() - 1 + static_cast<int64_t>(i),
          Join(std::span(parts).subspan(begin, count), std::span(all).subspan(begin, count), rank),
          options);
    }
  }
  out->Write(text);
  if (refused) std::rethrow_exception(refused);
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
  options.translator.threads = common.ThreadCount();
  const auto translator = Translator::Load(options.model, options.translator);
  Output out(options.output);
  LineWindows window({common.DataPath(options.input)}, out.terminal());
  while (window.Next()) TranslateWindow(window, *translator, options, &out);
  out.Commit();
  window.ReportMalformed(common.MakeLog());
  return 0;
}

}  // namespace attend
