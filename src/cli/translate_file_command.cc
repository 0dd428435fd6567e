// `attend translate-file`: starts attend.documents of the Python package, which reads and writes
// documents of other programs. It gets all options as one JSON object.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/memory_options.h"
#include "cli/python_package.h"
#include "serve/tasks/translation/file_check.h"
#include "tasks/loaded_model.h"
#include "tasks/translation/line_batch.h"
#include "tasks/translation/translation_options.h"

namespace attend {
namespace {

struct TranslateFileOptions {
  std::string source_language, target_language, adapter, glossary;
  bool retranslate = false;
  MemoryOptions memory;
  TranslatorOptions translator;
  LineOptions lines;
  TranslationOptions translation;
};

FieldList Fields(TranslateFileOptions& options) {
  FieldList fields;
  fields
      .Add("source_language", &options.source_language,
           "the language to translate from, such as en, for a TMX file that does not name it; it "
           "must be the model's, where that names one")
      .Add("target_language", &options.target_language,
           "the language that the model translates to, such as de, for files that say so; by "
           "default what the model's config.json names, of which it may be a variant (de-AT) and "
           "no other language")
      .Add("retranslate", &options.retranslate,
           "translate what has a translation, too: in XLIFF, TMX, PO and TSV")
      .Add("glossary", &options.glossary,
           "file of terms that translations must hold, as `attend translate` takes it")
      .Nest("", Fields(options.memory))
      .Nest("", MemoryFields(options.lines))
      .Nest("", AdapterField(&options.adapter))
      .Nest("", Fields(options.translator).Select({"type", "protect", "shortlist"}))
      .Nest("", Fields(options.lines))
      .Nest("", Fields(options.translation)
                    .Select({"beam_size", "length_penalty", "no_repeat_ngram", "repetition_penalty",
                             "coverage_penalty", "beam_threshold", "early_exit", "max_length",
                             "min_length", "allow_unknown", "alignment_layer"}));
  return fields;
}

}  // namespace

int RunTranslateFile(const std::vector<std::string>& arguments) {
  CommonOptions common;
  TranslateFileOptions options;
  std::string model, source, target;
  CommandLine command_line(
      "translate-file", "translate a document, its formatting kept",
      "attend translate-file model report.docx report.de.docx\n"
      "attend translate-file model messages.po de.po --target-language de\n"
      "attend translate-file model memory.tmx memory.de.tmx --source-language en "
      "--target-language de");
  command_line.Positional("MODEL", &model, "the model directory")
      .Positional("IN", &source,
                  fmt::format("the document: .html, .htm, {}", fmt::join(DocumentSuffixes(), ", ")))
      .Positional("OUT", &target, "the file to write, with the same ending")
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet"}));
  if (!command_line.Parse(arguments)) return 0;
  CheckMemoryIsNamed(options.memory, command_line);
  Json call = FieldsToJson(Fields(options));
  call.update({{"model", model},
               {"source", source},
               {"target", target},
               {"threads", common.threads},
               {"quiet", common.quiet}});
  RunInPython("translate-file", "attend.documents", call);
}

}  // namespace attend
