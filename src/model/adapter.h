// A low-rank adapter (LoRA, Hu et al. 2021): to some matrices W of a model, its base, training
// added (alpha / rank) B A, and changed nothing else. Its directory holds A and B;
// docs/model_file.md is its grammar.
#ifndef ATTEND_MODEL_ADAPTER_H_
#define ATTEND_MODEL_ADAPTER_H_

#include <filesystem>
#include <memory>
#include <string>

#include "model/config_file.h"
#include "model/model_directory.h"

namespace attend {

// Immutable once made.
struct Adapter {
  AdapterFacts facts;
  // The base as it becomes: all but what stays the base's. `tensors` are NAME.adapter_a [rank, in]
  // and NAME.adapter_b [out, rank] of each matrix NAME.weight, and those of a head of its own;
  // there are no vocabularies.
  Model model;
};

// Names of what is added to the matrix `name`, which ends in ".weight".
std::string AdapterAName(const std::string& name);
std::string AdapterBName(const std::string& name);

// Of what stands on the last stack.
bool IsOfHead(const std::string& name);

// As LoadModel. What only the base tells is checked where both are put together.
std::shared_ptr<const Adapter> LoadAdapter(const std::filesystem::path& directory);
// As SaveModel; throws Error(kUsage) where a model is there.
void SaveAdapter(const Adapter& adapter, const std::filesystem::path& directory);

}  // namespace attend

#endif  // ATTEND_MODEL_ADAPTER_H_
