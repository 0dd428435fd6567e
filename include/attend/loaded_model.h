// A model ready to run: its weights packed for this machine, once for all that run it.
//
// A LoadedModel is immutable and safe to use from many threads and through a fork. Give one to a
// Translator and a Scorer, and both run the same weights; each has threads of its own. Models that
// are one base with several adapters share all weights that these leave as they are.
#ifndef ATTEND_LOADED_MODEL_H_
#define ATTEND_LOADED_MODEL_H_

#include <memory>
#include <string>

#include "attend/running.h"

namespace attend {

struct Model;

struct LoadOptions {
  WeightType type = WeightType::kStored;
  std::string instruction_set;  // empty: what ATTEND_ISA names, or the best of the machine
  std::string adapter;          // directory of an adapter of the model; empty: none
};

struct LoadedModel;

// Throws Error(kInput) for a file that can't be read or weights of a type it does not know,
// Error(kUsage) for f32 of a model stored as int8.
std::shared_ptr<const LoadedModel> Load(const std::string& directory,
                                        const LoadOptions& options = {});
std::shared_ptr<const LoadedModel> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options = {});

// `base` with the adapter in `directory`, in the base's type. Gives the bits that LoadOptions with
// this adapter gives. Throws Error(kInput) for an adapter of another model.
std::shared_ptr<const LoadedModel> WithAdapter(const std::shared_ptr<const LoadedModel>& base,
                                               const std::string& directory);

}  // namespace attend

#endif  // ATTEND_LOADED_MODEL_H_
