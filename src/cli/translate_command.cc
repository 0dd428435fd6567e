// `attend translate`: line in, line out.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/files.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "engine/tasks/line_batch.h"
#include "engine/tasks/translation_options.h"
#include "model/model_directory.h"

namespace attend {
namespace {

struct TranslateOptions {
  std::string model, input = "-", output = "-";
  TranslatorOptions translator;
  bool scores = false;
  LineOptions lines;
  TranslationOptions translation;
};

FieldList Fields(TranslateOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", Fields(options.translator))
      .Add("input", &options.input, "text to translate, a sentence a line; -: standard input")
      .Add("output", &options.output, "where translations go; -: standard output")
      .Add("scores", &options.scores, "write `text ||| score`")
      .Nest("", Fields(options.lines))
      .Nest("", Fields(options.translation));
  return fields;
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

// Counts translations that were cut, and names the first of them.
class CutLines {
 public:
  explicit CutLines(Log log) : log_(std::move(log)) {}

  void Add(int64_t line) {
    constexpr int64_t kNamed = 5;
    if (++count_ > kNamed) return;
    log_(LogLevel::kWarning, fmt::format("line {}: its translation was cut at the greatest length; "
                                         "is it longer with a larger max_length?",
                                         line));
  }

  void Report() const {
    if (count_ == 0) return;
    log_(LogLevel::kWarning, fmt::format("{} translation{} cut at the greatest length", count_,
                                         count_ == 1 ? " was" : "s were"));
  }

 private:
  Log log_;
  int64_t count_ = 0;
};

// A line that can't be translated ends the run, after those before it.
void TranslateWindow(const LineWindows& window, LineBatch batch, const TranslateOptions& options,
                     Output* out, CutLines* cut) {
  int64_t number = window.number();
  std::exception_ptr refused;
  for (const std::string& line : window.lines()) {
    try {
      batch.Add(line, fmt::format("line {}", number++));
    } catch (const Error&) {
      refused = std::current_exception();
      break;
    }
  }
  number = window.number();
  std::string text;
  for (const Translation& translation : batch.Translate(options.translation)) {
    for (const Hypothesis& hypothesis : translation.hypotheses) {
      text += FormatLine(number - 1, hypothesis, options);
    }
    if (!translation.hypotheses[0].finished) cut->Add(number);
    ++number;
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
  command_line.Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  options.translation.scores = options.scores;
  CheckTranslationOptions(options.translation);
  options.translator.threads = common.ThreadCount();
  options.lines.keep_line_ends = false;
  const auto model = LoadModel(options.model);
  const Translator translator(model, options.translator);
  Output out(options.output);
  CutLines cut(common.MakeLog());
  LineWindows window({common.DataPath(options.input)}, out.terminal(), common.ThreadCount());
  while (window.Next()) {
    TranslateWindow(window, LineBatch(&translator, *model, options.lines), options, &out, &cut);
  }
  out.Commit();
  window.ReportMalformed(common.MakeLog());
  cut.Report();
  return 0;
}

}  // namespace attend
