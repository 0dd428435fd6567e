#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/sha256.h"
#include "fuzz/harness.h"
#include "train/checkpoint/checkpoint_store.h"
#include "train/checkpoint/train_state.h"
#include "train/tasks/registry.h"
#include "train/tasks/translation/translation_train_options.h"
#include "train/train_options.h"

// The registry without what needs Torch.
namespace attend {

const TrainableTask& FindTask(const std::string& name) {
  static const TrainableTask task{
      {.name = "translation", .encoder = true, .decoder = true, .validation = {{"loss", "loss"}}},
      []() -> std::unique_ptr<TaskOptions> { return std::make_unique<TranslationTrainOptions>(); },
      nullptr,
      nullptr};
  if (name != task.info.name) throw Error(ErrorKind::kInput, "unknown task");
  return task;
}

std::vector<std::string> TaskNames() { return {"translation"}; }

}  // namespace attend

// A state.json with its right digest, so that what reads it is reached.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    const auto directory = std::filesystem::temp_directory_path() /
                           ("attend_fuzz_checkpoint_" + std::to_string(getpid()));
    std::filesystem::create_directories(directory);
    std::ofstream(directory / kStateFile, std::ios::binary) << bytes;
    std::ofstream(directory / kDigestsFile) << Sha256(bytes) << "  " << kStateFile << "\n";
    struct Remove {
      const std::filesystem::path& path;
      ~Remove() { std::filesystem::remove_all(path); }
    } remove{directory};
    const StoredCheckpoint checkpoint = ReadCheckpoint(directory);
    const TrainState state = TrainStateFromJson(checkpoint.state, kStateFile);
    if (state.update < 0 || state.data.epoch < 0 || !state.changes.is_array()) std::abort();
    TrainOptions options;
    const Json recorded = FieldsToJson(RecordedFields(options));
    const RunIdentity run = RunOf(checkpoint.state, kStateFile);
    CompareOptions(run.options, recorded);
    ModelConfigOf(run.model, kStateFile);
  });
}
