#include "tasks/merge_directory.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "model/adapted_model.h"
#include "model/directory_writer.h"
#include "model/quantize.h"
#include "tasks/samples.h"

namespace attend {
namespace fs = std::filesystem;

void MergeDirectory(const fs::path& model, const fs::path& adapter, const fs::path& to) {
  CheckReplaceable(to);
  for (const fs::path& from : {model, adapter}) {
    std::error_code not_there;
    if (fs::equivalent(from, to, not_there)) {
      throw Error(ErrorKind::kUsage, fmt::format("the output '{}' is also what is merged, which "
                                                 "would be lost; name another directory",
                                                 to.string()));
    }
    const std::vector<std::string> wrong = CheckDigests(from);
    if (!wrong.empty()) throw Error(ErrorKind::kInput, wrong[0]);
  }
  const std::shared_ptr<const Adapter> added = LoadAdapter(adapter);
  const std::shared_ptr<Model> merged = MergeAdapter(LoadModel(model), added, adapter.string());
  merged->provenance["adapter_of"] = added->facts.base_sha256;
  if (IsInt8(*merged)) {
    merged->provenance["quantization"] = "int8";
    merged->samples = SamplesToJson(
        RemakeSamples(merged, SamplesFromJson(merged->samples, merged->config, adapter.string())));
  }
  SaveModel(*merged, to);
}

}  // namespace attend
