// int8 weights, one scale for each output channel.
#ifndef ATTEND_MODEL_QUANTIZE_H_
#define ATTEND_MODEL_QUANTIZE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "attend/running.h"
#include "model/model_directory.h"

namespace attend {

// The member of an int8 model's provenance that is the SHA-256 of the f32 weights it was made of,
// by which their adapters know it.
inline constexpr const char* kQuantizedFrom = "quantized_from";

struct Int8Matrix {
  std::vector<int8_t> integers;
  std::vector<float> scales;  // by row
};
// One matrix, as QuantizeModel makes them.
Int8Matrix QuantizeMatrix(const TensorSpec& spec, const float* values);

// The same model with every matrix but learned positions in int8: embeddings, projections and the
// output layer. Row r becomes round(W[r] / scale) with scale = max (|W[r][2j]| + |W[r][2j + 1]|) /
// 127, so that products with two neighbours fit 16 bits (see int8.inc); steps are about a third
// wider than by the largest weight alone. Samples stay those of `model`. Throws Error(kInput) for a
// weight that is not finite or a row that is too long for int8, Error(kUsage) for a model that is
// int8 already.
std::shared_ptr<Model> QuantizeModel(const Model& model);

// The model itself where its weights are of that type, else QuantizeModel of it. Throws
// Error(kUsage) for f32 of an int8 model.
std::shared_ptr<const Model> WithWeights(std::shared_ptr<const Model> model, WeightType type);

// Its matrices are int8.
bool IsInt8(const Model& model);

}  // namespace attend

#endif  // ATTEND_MODEL_QUANTIZE_H_
