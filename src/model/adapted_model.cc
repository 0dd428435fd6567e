#include "model/adapted_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "attend/error.h"
#include "model/config_fields.h"
#include "model/quantize.h"

namespace attend {
namespace {

// Where the bytes lie that nobody else has, and whose bytes are shared.
struct Owner {
  std::shared_ptr<const void> base, adapter;
  std::vector<std::vector<float>> floats;
  std::vector<Int8Matrix> int8;
};

template <class Value>
const std::byte* Bytes(const std::vector<Value>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

void AddF32(const TensorSpec& spec, std::vector<float> values, Owner* owner, TensorTable* tensors) {
  owner->floats.push_back(std::move(values));
  tensors->Add({spec.name, TensorType::kF32, spec.shape, Bytes(owner->floats.back())});
}

void AddInt8(const TensorSpec& spec, const float* values, Owner* owner, TensorTable* tensors) {
  const Int8Matrix& matrix = owner->int8.emplace_back(QuantizeMatrix(spec, values));
  tensors->Add({spec.name, TensorType::kI8, spec.shape, Bytes(matrix.integers)});
  tensors->Add({spec.name + "_scale", TensorType::kF32, {spec.shape[0]}, Bytes(matrix.scales)});
}

// A base's tensor, or what belongs to it.
void AddShared(const TensorTable& from, const std::string& name, TensorTable* tensors) {
  const TensorView& tensor = from.Get(name);
  tensors->Add(tensor);
  if (tensor.type == TensorType::kI8) tensors->Add(from.Get(name + "_scale"));
}

// A row of the base's matrix as f64.
void ReadRow(const TensorTable& base, const TensorView& matrix, int64_t row,
             std::vector<double>* values) {
  const auto width = std::ssize(*values);
  if (matrix.type == TensorType::kF32) {
    const float* from = matrix.f32() + row * width;
    values->assign(from, from + width);
    return;
  }
  const float scale = base.Get(matrix.name + "_scale").f32()[row];
  for (int64_t k = 0; k < width; ++k) {
    (*values)[k] = static_cast<float>(matrix.i8()[row * width + k]) * scale;
  }
}

// Products of two f32 are exact in f64, so that a compiler that fuses them into sums changes no
// bit.
std::vector<float> Sum(const TensorTable& base, const Adapter& adapter, const TensorSpec& spec) {
  const TensorView &matrix = base.Get(spec.name),
                   &a = adapter.model.tensors.Get(AdapterAName(spec.name)),
                   &b = adapter.model.tensors.Get(AdapterBName(spec.name));
  const auto scale = static_cast<float>(adapter.facts.scale());
  const int64_t width = spec.shape[1], rank = adapter.facts.rank;
  std::vector<float> sums;
  sums.reserve(spec.shape[0] * width);
  std::vector<double> row(width);
  for (int64_t e = 0; e < spec.shape[0]; ++e) {
    ReadRow(base, matrix, e, &row);
    for (int64_t r = 0; r < rank; ++r) {
      const double factor = scale * b.f32()[e * rank + r];
      const float* a_row = a.f32() + r * width;
      for (int64_t k = 0; k < width; ++k) row[k] += factor * static_cast<double>(a_row[k]);
    }
    sums.insert(sums.end(), row.begin(), row.end());
  }
  return sums;
}

void CheckBase(const Model& base, const Adapter& adapter, const std::string& where) {
  if (!IsBase(base, adapter)) {
    Damaged(where, fmt::format("the adapter was trained on another model: on weights with SHA-256 "
                               "{}, and this model's are {}; name the model that it was trained "
                               "on, or one that this attend quantized from it",
                               adapter.facts.base_sha256,
                               base.tensor_digest.empty() ? "not of a file" : base.tensor_digest));
  }
  CheckAdapted(base.config, adapter.model.config, adapter.facts.head, where);
}

[[noreturn]] void RefuseShape(const TensorView& tensor, const std::vector<int64_t>& expected,
                              const std::string& where) {
  Damaged(where, fmt::format("tensor '{}' has shape [{}], expected [{}]", tensor.name,
                             fmt::join(tensor.shape, ", "), fmt::join(expected, ", ")));
}

// The adapter's tensors fit what they are added to, and the head is whole.
void CheckShapes(const Adapter& adapter, const std::string& where) {
  const TensorTable& tensors = adapter.model.tensors;
  std::set<std::string> matrices(adapter.facts.matrices.begin(), adapter.facts.matrices.end());
  const auto check = [&](const std::string& name, const std::vector<int64_t>& shape) {
    const TensorView& tensor = tensors.Get(name);
    if (tensor.shape != shape) RefuseShape(tensor, shape, where);
    if (tensor.type != TensorType::kF32) {
      Damaged(where, fmt::format("tensor '{}' has type {}, expected F32", name,
                                 TensorTypeName(tensor.type)));
    }
  };
  size_t of_head = 0;
  for (const TensorSpec& spec : ExpectedTensors(adapter.model.config)) {
    if (adapter.facts.head && IsOfHead(spec.name)) {
      if (tensors.Find(spec.name) == nullptr)
        Damaged(where, fmt::format("tensor '{}' is missing", spec.name));
      check(spec.name, spec.shape);
      ++of_head;
    } else if (MayBeInt8(spec) && matrices.erase(spec.name) > 0) {
      check(AdapterAName(spec.name), {adapter.facts.rank, spec.shape[1]});
      check(AdapterBName(spec.name), {spec.shape[0], adapter.facts.rank});
    }
  }
  if (!matrices.empty())
    Damaged(where, fmt::format("the model has no matrix '{}', which the adapter changes",
                               *matrices.begin()));
  for (const TensorView& tensor : tensors.tensors()) {
    if (IsOfHead(tensor.name)) --of_head;
  }
  if (of_head != 0) Damaged(where, "it holds tensors of a head that the model has not");
}

}  // namespace

void CheckAdapted(const ModelConfig& base, ModelConfig adapted, bool head,
                  const std::string& where) {
  ModelConfig expected = base;
  expected.task = adapted.task;
  expected.languages = adapted.languages;
  if (head) TakeHead(adapted, &expected);
  if (!expected.encoder) expected.source_vocab_size = adapted.source_vocab_size;
  if (!expected.decoder) expected.target_vocab_size = adapted.target_vocab_size;
  const FieldList wanted = Fields(expected), found = Fields(adapted);
  for (const Field& field : wanted.fields()) {
    const Field* other = found.Find(field.name);
    const std::string value = other == nullptr ? "nothing" : other->ValueText();
    if (value == field.ValueText()) continue;
    Damaged(where, fmt::format("{} is {} in the adapter's configuration and {} in its base's; an "
                               "adapter keeps its base's configuration",
                               field.name, value, field.ValueText()));
  }
  if (expected != adapted)
    Damaged(where, "the adapter's configuration is of another model than its base's");
}

bool IsBase(const Model& base, const Adapter& adapter) {
  const std::string& digest = adapter.facts.base_sha256;
  return base.tensor_digest == digest || base.provenance.value(kQuantizedFrom, Json()) == digest;
}

AdaptedModel AdaptModel(const std::shared_ptr<const Model>& base,
                        const std::shared_ptr<const Model>& running,
                        const std::shared_ptr<const Adapter>& adapter, const std::string& where) {
  CheckBase(*base, *adapter, where);
  CheckShapes(*adapter, where);
  const auto shared = std::make_shared<Owner>(Owner{running, adapter, {}, {}}),
             own = std::make_shared<Owner>();
  auto rest = std::make_shared<Model>(adapter->model);
  rest->tensors = TensorTable(shared);
  AdaptedModel adapted{rest, TensorTable(own)};
  const bool int8 = IsInt8(*running);
  const std::set<std::string> changed(adapter->facts.matrices.begin(),
                                      adapter->facts.matrices.end());
  for (const TensorSpec& spec : ExpectedTensors(rest->config)) {
    if (changed.contains(spec.name)) {
      std::vector<float> sum = Sum(base->tensors, *adapter, spec);
      if (int8) {
        AddInt8(spec, sum.data(), own.get(), &adapted.matrices);
      } else {
        AddF32(spec, std::move(sum), own.get(), &adapted.matrices);
      }
    } else if (!adapter->facts.head || !IsOfHead(spec.name)) {
      AddShared(running->tensors, spec.name, &rest->tensors);
    } else if (int8 && MayBeInt8(spec)) {
      AddInt8(spec, adapter->model.tensors.Get(spec.name).f32(), shared.get(), &rest->tensors);
    } else {
      AddShared(adapter->model.tensors, spec.name, &rest->tensors);
    }
  }
  return adapted;
}

std::shared_ptr<Model> MergeAdapter(const std::shared_ptr<const Model>& base,
                                    const std::shared_ptr<const Adapter>& adapter,
                                    const std::string& where) {
  auto parts = std::make_shared<AdaptedModel>(AdaptModel(base, base, adapter, where));
  auto merged = std::make_shared<Model>(*parts->rest);
  merged->source_vocabulary = base->source_vocabulary;
  merged->target_vocabulary = base->target_vocabulary;
  merged->graph = base->graph;
  merged->tensors = TensorTable(parts);
  for (const TensorSpec& spec : ExpectedTensors(merged->config)) {
    const bool changed = parts->matrices.Find(spec.name) != nullptr;
    AddShared(changed ? parts->matrices : parts->rest->tensors, spec.name, &merged->tensors);
  }
  return merged;
}

std::shared_ptr<const Model> LoadModelWith(const std::filesystem::path& directory,
                                           const std::string& adapter) {
  const std::shared_ptr<const Model> base = LoadModel(directory);
  return adapter.empty() ? base : MergeAdapter(base, LoadAdapter(adapter), adapter);
}

}  // namespace attend
