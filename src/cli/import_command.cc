// `attend import`: starts attend.convert of the Python package, which reads what other toolkits
// write.
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/python_package.h"

namespace attend {
namespace {

struct ImportOptions {
  std::string output;
  bool verify = false;
};

FieldList Fields(ImportOptions& options) {
  FieldList fields;
  fields.Add("output", &options.output, "model directory to write")
      .Add("verify", &options.verify,
           "compare the model's samples with the program that it comes from, where that is "
           "installed");
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
                           "attend import model.npz --output en-de");
  command_line.Positional("SOURCE", &source, "the model's folder or file")
      .Options(Fields(options))
      .Options(Fields(common, {"quiet"}))
      .Required({"output"});
  if (!command_line.Parse(arguments)) return 0;
  std::vector<std::string> call = {source, "--output", options.output};
  if (options.verify) call.emplace_back("--verify");
  if (common.quiet) call.emplace_back("--quiet");
  RunInPython("import", "attend.convert", call);
}

}  // namespace attend
