// Tensors by name, and the names and shapes that a ModelConfig calls for: the contract between
// training and inference.
#ifndef ATTEND_MODEL_TENSOR_TABLE_H_
#define ATTEND_MODEL_TENSOR_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attend/model_config.h"

namespace attend {

// The vectors [nodes, d_model] of a graph's nodes, as a joint encoder reads them.
inline constexpr const char* kNodesName = "encoder.nodes.weight";

enum class TensorType { kF32, kI8, kI32, kI64, kU8 };

size_t TensorTypeSize(TensorType type);       // bytes an element
const char* TensorTypeName(TensorType type);  // safetensors' name: "F32", "I8" ...

// A dense row-major tensor whose bytes belong to somebody else.
struct TensorView {
  std::string name;
  TensorType type = TensorType::kF32;
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;

  int64_t elements() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * TensorTypeSize(type); }
  // Precondition: type is kF32.
  const float* f32() const { return reinterpret_cast<const float*>(data); }
  // Precondition: type is kI8.
  const int8_t* i8() const { return reinterpret_cast<const int8_t*>(data); }
};

// Tensors in the order they were added. The table keeps `owner` alive, which must keep the bytes
// alive. Safe to read from many threads.
class TensorTable {
 public:
  explicit TensorTable(std::shared_ptr<const void> owner = nullptr) : owner_(std::move(owner)) {}

  // Lets go of memory that can be had again from a file, for whoever has made copies.
  void ReleasePages() const {
    if (release_pages_) release_pages_();
  }
  void set_release_pages(std::function<void()> release) { release_pages_ = std::move(release); }

  // Throws Error(kInput) where the name is taken.
  void Add(TensorView tensor);
  const TensorView* Find(const std::string& name) const;
  // Throws Error(kInput) naming what is missing.
  const TensorView& Get(const std::string& name) const;
  const std::vector<TensorView>& tensors() const { return tensors_; }

 private:
  std::shared_ptr<const void> owner_;
  std::function<void()> release_pages_;  // empty: nothing can be let go
  std::vector<TensorView> tensors_;
  std::map<std::string, size_t> positions_;
};

struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;  // matrices are [out, in]
};

// Every weight of a model in file order; tied embeddings stand once, under the name that comes
// first. docs/model_file.md says which of them there are when.
//   STACK.embedding.weight [V, D], or encoder.patches.{weight,bias} [D, patch size] and
//   encoder.patches.class_token [D], or encoder.convolutions.N.{weight,bias} [D, kernel * in]
//   STACK.positions.weight [max_positions, D], or STACK.relative_bias.weight [buckets, H]
//   STACK.layers.N.ATTENTION.{query,key}.weight [H*K, D], .value.weight [H*Kv, D]
//   STACK.layers.N.ATTENTION.output.weight [D, H*Kv]
//   STACK.layers.N.feed_forward.{inner,gate}.weight [F, D], .outer.weight [D, F]
//   STACK.layers.N.{ATTENTION,feed_forward}_norm and STACK.norm: {weight,bias} [D]
//   head.weight [V, D]                   head.bias [V]
std::vector<TensorSpec> ExpectedTensors(const ModelConfig& config);

// A matrix that may be stored as int8: all but tables of positions and
// of distances. Products of rows that are
// longer than kMostInt8Columns could overflow the 32 bits in which they are summed.
constexpr int64_t kMostInt8Columns = int64_t{1} << 16;
bool MayBeInt8(const TensorSpec& spec);

// Name under which the decoder's embedding, or the output projection, is stored once ties are
// resolved.
std::string DecoderEmbeddingName(const ModelConfig& config);
std::string OutputWeightName(const ModelConfig& config);

// Sum of the elements of ExpectedTensors.
int64_t ParameterCount(const ModelConfig& config);

// Throws Error(kInput) naming the first tensor that is missing, has another shape or type than the
// configuration calls for, or is not called for at all (with the nearest known name). All matrices
// that may be int8 are, or none is; int8 ones have an F32 `<name>_scale` [out] beside them.
void CheckTensors(const TensorTable& tensors, const ModelConfig& config, const std::string& where);

}  // namespace attend

#endif  // ATTEND_MODEL_TENSOR_TABLE_H_
