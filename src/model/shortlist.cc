#include "model/shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/sha256.h"
#include "model/safetensors.h"

namespace attend {
namespace {

constexpr int32_t kVersion = 1;

[[noreturn]] void NotAShortlist(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::kInput, fmt::format("'{}' is not a shortlist: {}", where, what));
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
                          const std::string& where) {
  const TensorView* tensor = tensors.Find(name);
  if (tensor == nullptr) NotAShortlist(where, fmt::format("tensor '{}' is missing", name));
  if (tensor->type != type || tensor->shape.size() != 1) {
    NotAShortlist(where,
                  fmt::format("tensor '{}' is not a list of {}", name, TensorTypeName(type)));
  }
  return {reinterpret_cast<const T*>(tensor->data), static_cast<size_t>(tensor->elements())};
}

std::vector<int32_t> Ids(std::span<const int32_t> ids, int64_t size, const std::string& where) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= size) {
      NotAShortlist(where, fmt::format("holds id {}, expected 0 to {}", id, size - 1));
    }
  }
  return {ids.begin(), ids.end()};
}

void CheckVersion(const TensorTable& tensors, const std::string& where) {
  const auto version = Values<int32_t>(tensors, "version", TensorType::kI32, where);
  if (version.size() != 1 || version[0] < 1)
    NotAShortlist(where, "its version is not a number from 1");
  if (version[0] > kVersion) {
    throw Error(ErrorKind::kInput,
                fmt::format("'{}' is a shortlist of version {}, expected at most {}; use a newer "
                            "attend, or make it again with this one",
                            where, version[0], kVersion));
  }
}

void CheckNames(const TensorTable& tensors, const std::string& where) {
  const std::vector<std::string> known = {"version", "vocabularies", "frequent", "candidates",
                                          "candidates_end"};
  for (const TensorView& tensor : tensors.tensors()) {
    if (std::ranges::count(known, tensor.name) > 0) continue;
    NotAShortlist(where, fmt::format("tensor '{}' is unknown{}", tensor.name,
                                     DidYouMean(tensor.name, known)));
  }
}

std::vector<std::vector<int32_t>> Candidates(const TensorTable& tensors, const ModelConfig& config,
                                             const std::string& where) {
  const auto targets = Values<int32_t>(tensors, "candidates", TensorType::kI32, where);
  const auto ends = Values<int64_t>(tensors, "candidates_end", TensorType::kI64, where);
  if (std::ssize(ends) != config.source_vocab_size) {
    NotAShortlist(where, fmt::format("candidates_end has {} entries, expected {}", ends.size(),
                                     config.source_vocab_size));
  }
  std::vector<std::vector<int32_t>> candidates;
  int64_t begin = 0;
  for (const int64_t end : ends) {
    if (end < begin || end > std::ssize(targets))
      NotAShortlist(where, "candidates_end does not rise");
    candidates.push_back(Ids(targets.subspan(begin, end - begin), config.target_vocab_size, where));
    begin = end;
  }
  if (begin != std::ssize(targets)) {
    NotAShortlist(where,
                  fmt::format("candidates_end ends at {}, expected {}", begin, targets.size()));
  }
  return candidates;
}

}  // namespace

std::vector<int32_t> Shortlist::Columns(std::span<const int32_t> source) const {
  std::vector<uint64_t> marks;  // a bit for each id
  const auto mark = [&marks](const std::vector<int32_t>& ids) {
    for (const int32_t id : ids) {
      const size_t word = id / 64;
      if (word >= marks.size()) marks.resize(word + 1);
      marks[word] |= uint64_t{1} << (id % 64);
    }
  };
  mark(frequent);
  for (const int32_t id : source) {
    if (id >= 0 && id < std::ssize(candidates)) mark(candidates[id]);
  }
  std::vector<int32_t> columns;
  for (size_t word = 0; word < marks.size(); ++word) {
    for (uint64_t left = marks[word]; left != 0; left &= left - 1)
      columns.push_back(static_cast<int32_t>(64 * word + std::countr_zero(left)));
  }
  return columns;
}

void SaveShortlist(const Shortlist& shortlist, const Model& model, AtomicFile* file) {
  std::vector<int64_t> ends;
  std::vector<int32_t> targets;
  for (const std::vector<int32_t>& candidates : shortlist.candidates) {
    targets.insert(targets.end(), candidates.begin(), candidates.end());
    ends.push_back(std::ssize(targets));
  }
  const std::string digests = VocabularyDigests(model);
  const std::array version = {kVersion};
  TensorTable tensors;
  tensors.Add(View("version", TensorType::kI32, version));
  tensors.Add(View("vocabularies", TensorType::kU8, digests));
  tensors.Add(View("frequent", TensorType::kI32, shortlist.frequent));
  tensors.Add(View("candidates", TensorType::kI32, targets));
  tensors.Add(View("candidates_end", TensorType::kI64, ends));
  SaveSafetensors(tensors, file);
}

Shortlist LoadShortlist(const std::filesystem::path& path, const Model& model) {
  return ParseShortlist(LoadSafetensors(path), model, path.string());
}

Shortlist ParseShortlist(const TensorTable& tensors, const Model& model, const std::string& where) {
  CheckVersion(tensors, where);
  CheckNames(tensors, where);
  const auto digests = Values<char>(tensors, "vocabularies", TensorType::kU8, where);
  if (!std::ranges::equal(digests, VocabularyDigests(model))) {
    throw Error(ErrorKind::kInput,
                fmt::format("'{}' was made for other vocabularies than the model's; make one with "
                            "`attend shortlist --model` of this model",
                            where));
  }
  Shortlist shortlist;
  shortlist.frequent = Ids(Values<int32_t>(tensors, "frequent", TensorType::kI32, where),
                           model.config.target_vocab_size, where);
  shortlist.candidates = Candidates(tensors, model.config, where);
  return shortlist;
}

}  // namespace attend
