// A model and an adapter of it, put together.
#ifndef ATTEND_MODEL_ADAPTED_MODEL_H_
#define ATTEND_MODEL_ADAPTED_MODEL_H_

#include <filesystem>
#include <memory>
#include <string>

#include "model/adapter.h"

namespace attend {

struct AdaptedModel {
  // All but the matrices that the adapter changes, in the running base's types. Shares the base's
  // tensors, and leaves out its vocabularies.
  std::shared_ptr<const Model> rest;
  TensorTable matrices;
};

// Whether a model that was trained from `base` has a head of its own: for another task, or for
// other labels.
inline bool HasOwnHead(const ModelConfig& base, const ModelConfig& trained) {
  return base.task != trained.task || base.labels != trained.labels;
}

// What an adapter makes of its base is the base in all but task and languages and, where it has one
// of its own, the `head`; the vocabulary of a stack that the model has not says nothing. Throws
// Error(kInput), which names the key; `where` opens the message.
void CheckAdapted(const ModelConfig& base, ModelConfig adapted, bool head,
                  const std::string& where);

// The adapter was trained on these weights, or on those that `attend quantize` made them of.
bool IsBase(const Model& base, const Adapter& adapter);

// W + (alpha / rank) B A, added up in f64 and rounded once. Matrices of an int8 base are taken back
// to f32, added to and quantised again. `running` is the base or, where an f32 base runs in int8,
// what QuantizeModel makes of it. Throws Error(kInput) where the adapter is another model's, and
// for tensors that do not fit; `where` opens the message.
AdaptedModel AdaptModel(const std::shared_ptr<const Model>& base,
                        const std::shared_ptr<const Model>& running,
                        const std::shared_ptr<const Adapter>& adapter, const std::string& where);

// The same as one model, with the base's vocabularies.
std::shared_ptr<Model> MergeAdapter(const std::shared_ptr<const Model>& base,
                                    const std::shared_ptr<const Adapter>& adapter,
                                    const std::string& where);

// A model, with an adapter of it merged in unless `adapter` is empty.
std::shared_ptr<const Model> LoadModelWith(const std::filesystem::path& directory,
                                           const std::string& adapter);

}  // namespace attend

#endif  // ATTEND_MODEL_ADAPTED_MODEL_H_
