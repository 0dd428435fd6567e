// `attend import`: starts attend.convert of the Python package, which reads what other toolkits
// write. It gets all options as one JSON object.
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/python_package.h"

namespace attend {
namespace {

struct ImportOptions {
  std::string output, source_language, target_language, label_scheme = "auto";
  bool verify = false;
};

FieldList Fields(ImportOptions& options) {
  FieldList fields;
  fields
      .Add("output", &options.output,
           "model directory to write; by default the source's name, in the working directory")
      .Add(
          "source_language", &options.source_language,
          "what the model translates from, such as en; of several languages, as the model names it")
      .Add("target_language", &options.target_language, "what it translates to")
      .Add("verify", &options.verify,
           "compare the model's samples with the program that it comes from, where that is "
           "installed")
      .Add("label_scheme", &options.label_scheme, {"auto", "iob1", "iob2", "iobes", "iob", "none"},
           "how a tagger's labels spell entities, where it is known; auto: iob, any label after "
           "any, "
           "where they have B- and I-");
  return fields;
}

}  // namespace

int RunImport(const std::vector<std::string>& arguments) {
  CommonOptions common;
  ImportOptions options;
  std::string source;
  CommandLine command_line("import", "make a model directory from a model of another toolkit",
                           "attend import opus-mt-en-de --output en-de\n"
                           "attend import opus-mt-en-de --output en-de --verify\n"
                           "attend import model.npz --output en-de\n"
                           "attend import m2m100 --output en-fr --source-language en "
                           "--target-language fr");
  command_line.Positional("SOURCE", &source, "the model's folder or file")
      .Options(Fields(options))
      .Options(Fields(common, {"quiet"}));
  if (!command_line.Parse(arguments)) return 0;
  Json call = FieldsToJson(Fields(options));
  call["source"] = source;
  call["quiet"] = common.quiet;
  RunInPython("import", "attend.convert", call);
}

}  // namespace attend
