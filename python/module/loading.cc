// attend.load: a model directory to the class of its task; what attend.torch reads of one.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "attend/classifier.h"
#include "attend/error.h"
#include "attend/generator.h"
#include "attend/tagger.h"
#include "attend/text_encoder.h"
#include "attend/translator.h"
#include "model/config_file.h"
#include "model/model_directory.h"
#include "python/module/bindings.h"
#include "python/module/model_runner.h"
#include "python/module/options.h"

namespace attend {
namespace nb = nanobind;
namespace {

using LoadedPtr = std::shared_ptr<const LoadedModel>;

struct TaskClass {
  const char* task;  // ModelConfig::task
  nb::object (*make)(const LoadedPtr& loaded, const LoadingOptions& options);
};

template <class Task>
nb::object MakeOfTask(const LoadedPtr& loaded, const LoadingOptions& options) {
  return nb::cast(std::make_shared<Runner<Task>>(loaded, options));
}

constexpr TaskClass kTaskClasses[] = {
    {"classification", MakeOfTask<Classifier>},
    {"fusion", MakeOfTask<ItemClassifier>},
    {"masked_language_model", MakeOfTask<TextEncoder>},
    {"parsing", MakeOfTask<Parser>},
    {"tagging", MakeOfTask<Tagger>},
    {"language_model", MakeOfTask<Generator>},
    {"transcription", MakeOfTask<Transcriber>},
    {"translation", [](const LoadedPtr& loaded, const LoadingOptions& options) {
       return nb::cast(std::make_shared<ModelRunner>(loaded, RunnerOptions{options, {}}));
     }}};

nb::object LoadOfTask(const std::filesystem::path& path, const nb::kwargs& arguments) {
  LoadingOptions options;
  SetOptions(Fields(options), arguments, "load");
  options.path = path;
  LoadedPtr loaded;
  {
    const WithoutGil released;
    loaded = LoadWith(options);
  }
  for (const TaskClass& one : kTaskClasses) {
    if (loaded->config().task == one.task) return one.make(loaded, options);
  }
  throw Error(ErrorKind::kUsage, fmt::format("the task of the model in '{}' is {}, which has no "
                                             "class here",
                                             path.string(), loaded->config().task));
}

// Of a directory of any version, with the values that older ones had no keys for.
std::string ConfigOf(const std::filesystem::path& path) {
  const WithoutGil released;
  return ModelConfigToJson(LoadModel(path)->config).dump();
}

}  // namespace

void BindLoading(nb::module_& module) {
  LoadingOptions options;
  const FieldList fields = Fields(options);
  module.def(
      "load", &LoadOfTask, nb::arg("path"), nb::arg("options"),
      nb::sig(fmt::format("def load(path: str | os.PathLike[str], {}) -> Translator | "
                          "Generator | Tagger | Parser | Classifier | ItemClassifier | Encoder | "
                          "Transcriber",
                          OptionsSignature(fields))
                  .c_str()),
      OptionsHelp("Loads the model directory at `path`: a Translator, Generator, Tagger,\n"
                  "Parser, Classifier, ItemClassifier, Encoder or Transcriber, as its task is.",
                  fields)
          .c_str());
  module.def(
      "model_config", &ConfigOf, nb::arg("path"),
      nb::sig("def model_config(path: str | os.PathLike[str]) -> str"),
      "`model` of the directory's config.json, as JSON. Checks the directory as loading does.");
}

}  // namespace attend
