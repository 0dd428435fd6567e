#include "model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "base/json.h"

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian");

constexpr size_t kLengthBytes = 8;
constexpr size_t kDataAlignment = 64;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own bound
constexpr size_t kMaxRank = 8;
constexpr size_t kMaxNameBytes = 512;
constexpr const char* kMetadata = "__metadata__";

constexpr TensorType kTypes[] = {TensorType::kF32, TensorType::kI8, TensorType::kI32,
                                 TensorType::kI64, TensorType::kU8};

struct Entry {
  std::string name;
  std::optional<TensorType> type;
  std::vector<int64_t> shape;
  std::vector<uint64_t> offsets;  // first byte and the one after the last, from the data's start
  bool has_shape = false, has_offsets = false;
};

// Takes the header's events as they are read, so that no more is ever held than the entries
// themselves. Every callback returns true or throws.
class HeaderReader {
 public:
  HeaderReader(std::string_view header, const std::string& where)
      : header_(header), where_(where) {}
  std::vector<Entry> entries;

  bool null() { return Unexpected("null"); }
  bool boolean(bool) { return Unexpected("true or false"); }
  bool number_float(double, const std::string& text) { return Unexpected(text); }
  bool binary(nlohmann::json::binary_t&) { return Unexpected("bytes"); }
  bool number_integer(int64_t value) { return Unexpected(std::to_string(value)); }

  bool number_unsigned(uint64_t value) {
    if (list_ == List::kShape) {
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return Unexpected(std::to_string(value));
      if (entry().shape.size() == kMaxRank)
        Fail(fmt::format("tensor '{}' has more than {} dimensions", entry().name, kMaxRank));
      entry().shape.push_back(static_cast<int64_t>(value));
    } else if (list_ == List::kOffsets && entry().offsets.size() < 2) {
      entry().offsets.push_back(value);
    } else {
      return Unexpected(std::to_string(value));
    }
    return true;
  }

  bool string(std::string& value) {
    if (in_metadata_ && depth_ == 2) return true;
    if (depth_ != 2 || key_ != "dtype" || list_ != List::kNone) return Unexpected(value);
    for (const TensorType type : kTypes) {
      if (value == TensorTypeName(type)) entry().type = type;
    }
    if (!entry().type) {
      Fail(fmt::format("tensor '{}' has type '{}', expected F32, I8, I32, I64 or U8", entry().name,
                       Excerpt(value)));
    }
    return true;
  }

  bool start_object(size_t) {
    if (depth_ == 2 || list_ != List::kNone) return Unexpected("an object");
    ++depth_;
    return true;
  }

  bool end_object() {
    if (--depth_ == 0 || in_metadata_) {
      in_metadata_ = false;
      return true;
    }
    const Entry& done = entry();
    if (!done.type || !done.has_shape || !done.has_offsets || done.offsets.size() != 2) {
      Fail(fmt::format("tensor '{}' lacks one of dtype, shape and two data_offsets", done.name));
    }
    return true;
  }

  bool start_array(size_t) {
    if (depth_ != 2 || in_metadata_ || list_ != List::kNone) return Unexpected("a list");
    if (key_ == "shape" && !entry().has_shape) {
      list_ = List::kShape;
      entry().has_shape = true;
    } else if (key_ == "data_offsets" && !entry().has_offsets) {
      list_ = List::kOffsets;
      entry().has_offsets = true;
    } else {
      return Unexpected("a list");
    }
    return true;
  }

  bool end_array() {
    list_ = List::kNone;
    return true;
  }

  bool key(std::string& name) {
    if (depth_ == 1) {
      StartEntry(name);
    } else if (!in_metadata_) {
      const bool repeated = (name == "dtype" && entry().type) ||
                            (name == "shape" && entry().has_shape) ||
                            (name == "data_offsets" && entry().has_offsets);
      if (repeated)
        Fail(fmt::format("tensor '{}': key '{}' appears twice", entry().name, Excerpt(name)));
      if (name != "dtype" && name != "shape" && name != "data_offsets") {
        Fail(fmt::format("tensor '{}' has an unknown key '{}', expected dtype, shape, data_offsets",
                         entry().name, Excerpt(name)));
      }
      key_ = name;
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    const bool large = dynamic_cast<const nlohmann::json::out_of_range*>(&error) != nullptr;
    Fail(fmt::format("the header is not valid JSON at its byte {}: {}", position,
                     large ? "a number is too large" : JsonFault(header_, position)));
  }

 private:
  enum class List { kNone, kShape, kOffsets };

  [[noreturn]] void Fail(const std::string& message) const {
    throw Error(ErrorKind::kInput, fmt::format("{}: {}", where_, message));
  }

  bool Unexpected(const std::string& what) const {
    const std::string place = in_metadata_      ? kMetadata
                              : entries.empty() ? "the header"
                                                : "tensor '" + entries.back().name + "'";
    Fail(fmt::format("{} holds {}, which the format has no place for there", place, Excerpt(what)));
  }

  void StartEntry(const std::string& name) {
    if (name == kMetadata) {
      if (seen_metadata_) Fail("__metadata__ appears twice");
      in_metadata_ = seen_metadata_ = true;
      return;
    }
    if (name.empty() || name.size() > kMaxNameBytes) {
      Fail(fmt::format("a tensor's name has {} bytes, expected 1 to {}: '{}'", name.size(),
                       kMaxNameBytes, Excerpt(name)));
    }
    entries.emplace_back();
    entries.back().name = name;
    key_.clear();
  }

  Entry& entry() { return entries.back(); }

  const std::string_view header_;
  const std::string& where_;
  int depth_ = 0;
  bool in_metadata_ = false, seen_metadata_ = false;
  List list_ = List::kNone;
  std::string key_;
};

// Bytes of an entry's data, or nothing where the sizes multiply past what a file can hold. Zeros
// count as ones in the bound, so that products in any order stay in range.
std::optional<uint64_t> ByteCount(const Entry& entry) {
  uint64_t bound = TensorTypeSize(*entry.type), bytes = bound;
  for (const int64_t size : entry.shape) {
    const uint64_t factor = std::max<uint64_t>(static_cast<uint64_t>(size), 1);
    if (factor > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / bound)
      return std::nullopt;
    bound *= factor;
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

void CheckEntry(const Entry& entry, std::span<const std::byte> data, const std::string& where) {
  const auto fail = [&](const std::string& message) {
    throw Error(ErrorKind::kInput, fmt::format("{}: tensor '{}' {}", where, entry.name, message));
  };
  const uint64_t begin = entry.offsets[0], end = entry.offsets[1];
  if (begin > end || end > data.size()) {
    fail(fmt::format("has data_offsets [{}, {}], but the file holds {} bytes of data", begin, end,
                     data.size()));
  }
  const std::optional<uint64_t> bytes = ByteCount(entry);
  if (!bytes) fail("has a shape whose sizes multiply past 2^63 bytes");
  if (*bytes != end - begin) {
    fail(fmt::format("has {} bytes of data, expected {} by its shape and type", end - begin,
                     *bytes));
  }
  if (reinterpret_cast<uintptr_t>(data.data() + begin) % TensorTypeSize(*entry.type) != 0) {
    fail(fmt::format("is not aligned: expected a multiple of its {} bytes a value",
                     TensorTypeSize(*entry.type)));
  }
}

// Data follows data without overlap, hole or rest.
void CheckTiling(const std::vector<Entry>& entries, uint64_t data_bytes, const std::string& where) {
  std::vector<const Entry*> by_offset;
  for (const Entry& entry : entries) by_offset.push_back(&entry);
  std::sort(by_offset.begin(), by_offset.end(),
            [](const Entry* a, const Entry* b) { return a->offsets < b->offsets; });
  uint64_t end = 0;
  for (const Entry* entry : by_offset) {
    if (entry->offsets[0] != end) {
      throw Error(
          ErrorKind::kInput,
          fmt::format("{}: tensor '{}' starts at byte {} of the data, expected {}: the data {}",
                      where, entry->name, entry->offsets[0], end,
                      entry->offsets[0] < end ? "overlaps" : "has a hole"));
    }
    end = entry->offsets[1];
  }
  if (end != data_bytes) {
    throw Error(ErrorKind::kInput,
                fmt::format("{}: the file holds {} bytes of data, expected {} by its header", where,
                            data_bytes, end));
  }
}

// Where each tensor's data begins: widest types first, so that every value stands at a multiple of
// its size without a hole between tensors, which the format does not allow.
std::vector<size_t> DataOrder(const std::vector<TensorView>& tensors) {
  std::vector<size_t> order(tensors.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return TensorTypeSize(tensors[a].type) > TensorTypeSize(tensors[b].type);
  });
  return order;
}

std::string Header(const std::vector<TensorView>& tensors, const std::vector<size_t>& order) {
  std::vector<uint64_t> begin(tensors.size());
  uint64_t end = 0;
  for (const size_t i : order) {
    begin[i] = end;
    end += tensors[i].bytes();
  }
  std::string header = "{";
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Json entry = {{"dtype", TensorTypeName(tensors[i].type)},
                        {"shape", tensors[i].shape},
                        {"data_offsets", {begin[i], begin[i] + tensors[i].bytes()}}};
    header += (i == 0 ? "" : ",") + Json(tensors[i].name).dump() + ":" + entry.dump();
  }
  header += "}";
  header.append((kDataAlignment - (kLengthBytes + header.size()) % kDataAlignment) % kDataAlignment,
                ' ');
  return header;
}

}  // namespace

TensorTable LoadSafetensors(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::Open(path);
  TensorTable tensors = ParseSafetensors(file->bytes(), file, path.string());
  tensors.set_release_pages([file] { file->ReleasePages(); });
  return tensors;
}

TensorTable ParseSafetensors(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const std::string& where) {
  const auto fail = [&](const std::string& message) {
    throw Error(ErrorKind::kInput, fmt::format("{}: {}", where, message));
  };
  if (bytes.size() < kLengthBytes) {
    fail(fmt::format("has {} bytes, expected a safetensors file: the length of its header first",
                     bytes.size()));
  }
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  if (header_bytes > bytes.size() - kLengthBytes || header_bytes > kMaxHeaderBytes) {
    fail(
        fmt::format("asks for a header of {} bytes, but the file has {} (at most {} are allowed); "
                    "expected a safetensors file",
                    header_bytes, bytes.size(), kMaxHeaderBytes));
  }
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes,
                                header_bytes);
  if (header.empty() || header[0] != '{') fail("the header does not start with '{'");
  HeaderReader reader(header, where);
  nlohmann::json::sax_parse(header.begin(), header.end(), &reader);

  const std::span<const std::byte> data = bytes.subspan(kLengthBytes + header_bytes);
  for (const Entry& entry : reader.entries) CheckEntry(entry, data, where);
  CheckTiling(reader.entries, data.size(), where);
  TensorTable table(std::move(owner));
  for (Entry& entry : reader.entries) {
    if (table.Find(entry.name)) fail(fmt::format("tensor '{}' appears twice", entry.name));
    table.Add({std::move(entry.name), *entry.type, std::move(entry.shape),
               data.data() + entry.offsets[0]});
  }
  return table;
}

void SaveSafetensors(const TensorTable& tensors, const std::filesystem::path& path) {
  AtomicFile file(path);
  SaveSafetensors(tensors, &file);
}

void SaveSafetensors(const TensorTable& tensors, AtomicFile* file) {
  const std::vector<TensorView>& views = tensors.tensors();
  const std::vector<size_t> order = DataOrder(views);
  const std::string header = Header(views, order);
  const uint64_t header_bytes = header.size();
  file->Write({reinterpret_cast<const char*>(&header_bytes), kLengthBytes});
  file->Write(header);
  for (const size_t i : order) {
    file->Write({reinterpret_cast<const char*>(views[i].data), views[i].bytes()});
  }
  file->Commit();
}

}  // namespace attend
