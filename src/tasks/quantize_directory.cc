#include "tasks/quantize_directory.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "model/directory_writer.h"
#include "model/quantize.h"
#include "tasks/samples.h"

namespace attend {
namespace fs = std::filesystem;

bool QuantizeDirectory(const fs::path& from, const fs::path& to) {
  std::error_code not_there;
  if (fs::equivalent(from, to, not_there)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the output '{}' is the model itself, whose f32 weights would be lost; "
                            "name another directory",
                            to.string()));
  }
  CheckReplaceable(to);
  const auto model = LoadModel(from);
  const std::shared_ptr<Model> quantized = QuantizeModel(*model);
  quantized->provenance["quantization"] = "int8";
  quantized->provenance[kQuantizedFrom] = model->tensor_digest;
  const bool replayed = model->config.head != HeadKind::kNone;
  if (replayed) {
    quantized->samples = SamplesToJson(
        RemakeSamples(quantized, SamplesFromJson(model->samples, model->config, from)));
  }
  SaveModel(*quantized, to);
  return replayed;
}

}  // namespace attend
