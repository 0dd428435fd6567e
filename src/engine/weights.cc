#include "engine/weights.h"

#include <utility>

#include "kernels/inference/dispatch.h"

namespace attend {

Weights::Weights(std::shared_ptr<const Model> given, const std::string& instruction_set)
    : model(std::move(given)), kernels(SelectKernels(instruction_set)) {
  CheckTensors(model->tensors, config(), "model");
  Pack(nullptr);
}

Weights::Weights(const AdaptedModel& adapted, std::shared_ptr<const Weights> of_base)
    : model(adapted.rest), base(std::move(of_base)), kernels(base->kernels) {
  Pack(&adapted.matrices);
}

void Weights::Pack(const TensorTable* adapted) {
  if (config().architecture != Architecture::kTransformer) return;
  const WeightSource source{kernels, model->tensors, &packed, adapted,
                            base == nullptr ? nullptr : &base->packed};
  if (config().encoder) encoder.emplace(source, config());
  if (config().decoder) decoder.emplace(source, config());
  if (config().decoder && config().head == HeadKind::kVocabulary) {
    vocabulary_head.emplace(source, std::vector{OutputWeightName(config())}, "head.bias");
  }
  if (!config().decoder && config().head != HeadKind::kNone) encoder_head.emplace(source, config());
  model->tensors.ReleasePages();  // all but the embeddings is packed now
}

}  // namespace attend
