#include "cli/export_options.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "tasks/merge_directory.h"

namespace attend {
namespace {

const std::vector<std::string> kFormats = {"attend", "transformers", "ctranslate2"};

FieldList Fields(ExportOptions& options) {
  FieldList fields;
  fields
      .Add("format", &options.format, kFormats,
           "attend: a model directory of checkpoints or of an adapter; the others: that toolkit's "
           "form of a model directory")
      .Add("output", &options.output, "directory to write: a model, or an adapter of its run")
      .Add("model", &options.model,
           "model directory that the adapter is for, or that another toolkit is to have; with "
           "--checkpoint of an adapter's run where its model has moved")
      .Group("of checkpoints")
      .Add("checkpoint", &options.checkpoints,
           "checkpoint directories of one run to average, or the run's directory for its newest "
           "one")
      .Nest("", Fields(options.common, {"threads", "json"}))
      .Group("of an adapter")
      .Add("adapter", &options.adapter, "directory of an adapter to merge into --model")
      .Group("for another toolkit")
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

void CheckModelDirectory(const CommandLine& given) {
  const bool checkpoint = given.IsSet("checkpoint"), adapter = given.IsSet("adapter");
  if (checkpoint && adapter)
    Refuse("there are both --checkpoint and --adapter, which is merged into --model; give one");
  if (!checkpoint && !adapter) {
    Refuse(given.IsSet("model")
               ? "--model is for --adapter, or for --format transformers or ctranslate2; add one "
                 "of them"
               : "--checkpoint is missing: checkpoints to average; or give --adapter and --model, "
                 "or --format transformers or ctranslate2 and --model");
  }
  if (adapter && !given.IsSet("model"))
    Refuse("--model is missing, the model that the adapter is for");
  if (adapter && given.IsSet("threads"))
    Refuse("--threads is for --checkpoint, merging an adapter takes one thread; leave it out");
  for (const char* name : {"positions", "verify"}) {
    if (given.IsSet(name))
      Refuse(fmt::format("--{} is for --format transformers or ctranslate2; leave it out", name));
  }
}

void CheckForOther(const CommandLine& given, const ExportOptions& options) {
  if (options.model.empty()) Refuse("--model is missing: model directory");
  for (const char* name : {"checkpoint", "adapter", "threads", "json"}) {
    if (given.IsSet(name)) {
      Refuse(
          fmt::format("--{} is not for --format {}; leave it out", name, NameOf(options.format)));
    }
  }
}

}  // namespace

const std::string& NameOf(ExportFormat format) { return kFormats[static_cast<size_t>(format)]; }

bool ParseExport(const std::vector<std::string>& arguments, ExportOptions* options) {
  CommandLine command_line(
      "export",
      "average checkpoints or merge an adapter into a model directory, or give a model to another "
      "toolkit",
      "attend export --checkpoint runs/en-de --output model\n"
      "attend export --checkpoint runs/en-de/checkpoints/update-* --output model --json\n"
      "attend export --adapter runs/customer/adapter --model model --output customer-model\n"
      "attend export --format transformers --model en-de --output hf-en-de --verify\n"
      "attend export --format ctranslate2 --model en-de --output ct2-en-de");
  command_line.Options(Fields(*options))
      .Options(Fields(options->common, {"quiet"}))
      .Required({"output"});
  if (!command_line.Parse(arguments)) return false;
  if (options->format == ExportFormat::kAttend) {
    CheckModelDirectory(command_line);
  } else {
    CheckForOther(command_line, *options);
  }
  return true;
}

void MergeAdapter(const ExportOptions& options) {
  MergeDirectory(options.model, options.adapter, options.output);
  options.common.MakeLog()(LogLevel::kInfo, fmt::format("wrote {}", options.output));
  PrintReport(options.common, {{"model", options.output}});
}

}  // namespace attend
