// What commands of the program attend leave to LibTorch: models on a GPU, and those of other
// architectures than the Transformer.
#include "cli/score_command.h"
#include "cli/train_commands.h"
#include "cli/translate_command.h"
#include "cli/verify_command.h"
#include "train/device/device.h"
#include "train/device/environment.h"
#include "train/search/torch_stepper.h"
#include "train/tasks/run_model.h"
#include "train/tasks/samples_by_torch.h"

namespace attend {
namespace {

// Threads share sentences, not products.
std::shared_ptr<const LoadedModel> OnDevice(std::shared_ptr<const Model> model,
                                            const std::string& device) {
  SetUpTorch(/*threads=*/1);
  auto module = SequenceModelOf(*model, DeviceOf(device, World{}));
  return RunByTorch(std::move(model), std::move(module));
}

}  // namespace

int RunTranslateByTorch(const std::vector<std::string>& arguments) {
  return Translate(arguments, OnDevice);
}

int RunScoreByTorch(const std::vector<std::string>& arguments) {
  return Score(arguments, OnDevice);
}

int RunVerifyByTorch(const std::vector<std::string>& arguments) {
  return Verify(arguments, [](const Model& model, std::span<const Sample> samples) {
    SetUpTorch(/*threads=*/1);
    return ReplaySamplesByTorch(SequenceModelOf(model, torch::kCPU).get(), samples);
  });
}

}  // namespace attend
