#include "model/shortlist.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "base/sha256.h"
#include "model/safetensors.h"

namespace attend {
namespace {

[[noreturn]] void Damaged(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorKind::kInput, fmt::format("'{}' is not a shortlist: {}", path.string(), what));
}

// 64 hexadecimal digits, source then target.
std::string VocabularyDigests(const Model& model) {
  return Sha256(model.source_vocabulary) + Sha256(model.target_vocabulary);
}

template <class T>
TensorView View(const std::string& name, TensorType type, const T& values) {
  return {name, type, {std::ssize(values)}, reinterpret_cast<const std::byte*>(values.data())};
}

template <class T>
std::span<const T> Values(const TensorTable& tensors, const std::string& name, TensorType type,
                          const std::filesystem::path& path) {
  const TensorView* tensor = tensors.Find(name);
  if (tensor == nullptr) Damaged(path, fmt::format("tensor '{}' is missing", name));
  if (tensor->type != type || tensor->shape.size() != 1) {
    Damaged(path, fmt::format("tensor '{}' is not a list of {}", name, TensorTypeName(type)));
  }
  return {reinterpret_cast<const T*>(tensor->data), static_cast<size_t>(tensor->elements())};
}

std::vector<int32_t> Ids(std::span<const int32_t> ids, int64_t size,
                         const std::filesystem::path& path) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= size) {
      Damaged(path, fmt::format("holds id {}, expected 0 to {}", id, size - 1));
    }
  }
  return {ids.begin(), ids.end()};
}

}  // namespace

std::vector<int32_t> Shortlist::Columns(std::span<const int32_t> source) const {
  std::vector<int32_t> columns = frequent;
  for (const int32_t id : source) {
    if (id >= 0 && id < std::ssize(candidates)) {
      columns.insert(columns.end(), candidates[id].begin(), candidates[id].end());
    }
  }
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

void SaveShortlist(const Shortlist& shortlist, const Model& model,
                   const std::filesystem::path& path) {
  std::vector<int64_t> ends;
  std::vector<int32_t> targets;
  for (const std::vector<int32_t>& candidates : shortlist.candidates) {
    targets.insert(targets.end(), candidates.begin(), candidates.end());
    ends.push_back(std::ssize(targets));
  }
  const std::string digests = VocabularyDigests(model);
  TensorTable tensors;
  tensors.Add(View("vocabularies", TensorType::kU8, digests));
  tensors.Add(View("frequent", TensorType::kI32, shortlist.frequent));
  tensors.Add(View("candidates", TensorType::kI32, targets));
  tensors.Add(View("candidates_end", TensorType::kI64, ends));
  SaveSafetensors(tensors, path);
}

Shortlist LoadShortlist(const std::filesystem::path& path, const Model& model) {
  const TensorTable tensors = LoadSafetensors(path);
  const auto digests = Values<char>(tensors, "vocabularies", TensorType::kU8, path);
  const std::string expected = VocabularyDigests(model);
  if (!std::ranges::equal(digests, expected)) {
    throw Error(ErrorKind::kInput,
                fmt::format("'{}' was made for other vocabularies than the model's; make one with "
                            "`attend shortlist --model` of this model",
                            path.string()));
  }
  const int64_t size = model.config.target_vocab_size;
  Shortlist shortlist;
  shortlist.frequent =
      Ids(Values<int32_t>(tensors, "frequent", TensorType::kI32, path), size, path);
  const auto targets = Values<int32_t>(tensors, "candidates", TensorType::kI32, path);
  int64_t begin = 0;
  for (const int64_t end : Values<int64_t>(tensors, "candidates_end", TensorType::kI64, path)) {
    if (end < begin || end > std::ssize(targets)) Damaged(path, "candidates_end does not rise");
    shortlist.candidates.push_back(Ids(targets.subspan(begin, end - begin), size, path));
    begin = end;
  }
  return shortlist;
}

}  // namespace attend
