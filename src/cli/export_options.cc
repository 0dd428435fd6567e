#include "cli/export_options.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {
namespace {

const std::vector<std::string> kFormats = {"attend", "transformers", "ctranslate2"};

FieldList Fields(ExportOptions& options) {
  FieldList fields;
  fields
      .Add("format", &options.format, kFormats,
           "attend: a model directory of checkpoints; the others: that toolkit's form of a model "
           "directory")
      .Add("output", &options.output, "directory to write")
      .Group("of checkpoints")
      .Add("checkpoint", &options.checkpoints,
           "checkpoint directories of one run to average, or the run's directory for its newest "
           "one")
      .Nest("", Fields(options.common, {"threads", "json"}))
      .Group("for another toolkit")
      .Add("model", &options.model, "model directory")
      .Add("positions", &options.positions, 1, 1e6,
           "tokens that a text may have where the other toolkit needs a table of positions; "
           "learned positions keep their number")
      .Add("verify", &options.verify,
           "compare the model's samples with what the other toolkit makes of them, where it is "
           "installed");
  return fields;
}

void Refuse(const std::string& message) {
  throw Error(ErrorKind::kUsage, "attend export: " + message);
}

void Check(const CommandLine& given, const ExportOptions& options) {
  const bool averages = options.format == ExportFormat::kAttend;
  if (averages && options.checkpoints.empty()) {
    Refuse(options.model.empty()
               ? "--checkpoint is missing: checkpoints to average; or give --format transformers "
                 "or ctranslate2 and --model"
               : "--model is for --format transformers or ctranslate2; add one of them");
  }
  if (!averages && options.model.empty()) Refuse("--model is missing: model directory");
  for (const char* name : {"checkpoint", "threads", "json"}) {
    if (!averages && given.IsSet(name)) {
      Refuse(fmt::format("--{} is for checkpoints, not for --format {}; leave it out", name,
                         NameOf(options.format)));
    }
  }
  for (const char* name : {"model", "positions", "verify"}) {
    if (averages && given.IsSet(name))
      Refuse(fmt::format("--{} is not for checkpoints; leave it out", name));
  }
}

}  // namespace

const std::string& NameOf(ExportFormat format) { return kFormats[static_cast<size_t>(format)]; }

bool ParseExport(const std::vector<std::string>& arguments, ExportOptions* options) {
  CommandLine command_line(
      "export", "average checkpoints into a model directory, or give a model to another toolkit",
      "attend export --checkpoint runs/en-de --output model\n"
      "attend export --checkpoint runs/en-de/checkpoints/update-* --output model --json\n"
      "attend export --format transformers --model en-de --output hf-en-de --verify\n"
      "attend export --format ctranslate2 --model en-de --output ct2-en-de");
  command_line.Options(Fields(*options))
      .Options(Fields(options->common, {"quiet"}))
      .Required({"output"});
  if (!command_line.Parse(arguments)) return false;
  Check(command_line, *options);
  return true;
}

}  // namespace attend
