// `attend translate`, of both programs, and the device that `attend score` has too.
#ifndef ATTEND_CLI_TRANSLATE_COMMAND_H_
#define ATTEND_CLI_TRANSLATE_COMMAND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/loaded_model.h"
#include "base/fields.h"

namespace attend {

// Gives what runs a model through LibTorch on the device of this name.
using RunOnDevice = std::function<std::shared_ptr<const LoadedModel>(
    std::shared_ptr<const Model> model, const std::string& device)>;

inline constexpr const char* kEngine = "engine";  // the device without LibTorch
FieldList DeviceField(std::string* device);
// Throws Error(kUsage) where what `name` says is given, and the device is another one than engine.
void CheckForEngine(const std::string& device, bool given, const char* name);

int Translate(const std::vector<std::string>& arguments, const RunOnDevice& run_on_device);

}  // namespace attend

#endif  // ATTEND_CLI_TRANSLATE_COMMAND_H_
