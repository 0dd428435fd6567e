#include "text/normalization.h"

#include <fmt/format.h>
#include <sentencepiece_trainer.h>
#include <stdlib.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <vector>

#include "attend/error.h"
#include "base/files.h"

namespace attend {
namespace {

[[noreturn]] void Damaged(const std::string& where, const char* what) {
  throw Error(ErrorKind::kInput,
              fmt::format("{}: {}; expected a SentencePiece model", where, what));
}

// Fields of SentencePiece's model, and of the normalisations in it.
constexpr uint64_t kNormalizer = 3, kDenormalizer = 5, kCompiledMap = 2;

// Protocol buffers' wire format, as much as it takes to find a field.

uint64_t ReadVarint(std::string_view* bytes, const std::string& where) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes->empty()) Damaged(where, "the file is cut short");
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  Damaged(where, "a number is too long");
}

// Calls use(content) for each length-delimited field `number` of a message.
template <class Use>
void ForEachField(std::string_view message, uint64_t number, const std::string& where,
                  const Use& use) {
  while (!message.empty()) {
    const uint64_t tag = ReadVarint(&message, where);
    uint64_t size = 0;
    switch (tag & 7) {
      case 0:
        ReadVarint(&message, where);
        break;
      case 1:
        size = 8;
        break;
      case 2:
        size = ReadVarint(&message, where);
        break;
      case 5:
        size = 4;
        break;
      default:
        Damaged(where, "a field has an unknown type");
    }
    if (size > message.size()) Damaged(where, "the file is cut short");
    if ((tag & 7) == 2 && tag >> 3 == number) use(message.substr(0, size));
    message.remove_prefix(size);
  }
}

// Calls use(compiled) for each map of each part `number` of a SentencePiece model; returns how many
// such parts there are.
template <class Use>
int ForEachMap(std::string_view model, uint64_t number, const std::string& where, const Use& use) {
  int parts = 0;
  ForEachField(model, number, where, [&](std::string_view part) {
    ++parts;
    ForEachField(part, kCompiledMap, where, [&](std::string_view compiled) {
      if (!compiled.empty()) use(compiled);
    });
  });
  return parts;
}

// The double-array trie (Darts-clone), 32-bit units.

class DoubleArray {
 public:
  DoubleArray(std::string_view compiled, const std::string& where) : where_(where) {
    uint32_t bytes = 0;
    if (compiled.size() < sizeof(bytes)) Damaged(where, "its normalisation is cut short");
    std::memcpy(&bytes, compiled.data(), sizeof(bytes));
    compiled.remove_prefix(sizeof(bytes));
    if (bytes == 0 || bytes % 1024 != 0 || bytes >= compiled.size() || compiled.back() != '\0') {
      Damaged(where, "its normalisation has a wrong size");
    }
    units_.resize(bytes / sizeof(uint32_t));
    std::memcpy(units_.data(), compiled.data(), bytes);
    texts_ = compiled.substr(bytes);
  }

  // No unit's children, present or not, lie outside the array.
  void Check() const {
    for (uint32_t node = 0; node < units_.size(); ++node) {
      if (IsValue(node)) {
        if ((units_[node] & 0x7FFFFFFF) >= texts_.size())
          Damaged(where_, "its normalisation has a wrong text");
      } else if ((Children(node) | 0xFF) >= units_.size()) {
        Damaged(where_, "its normalisation has a wrong link");
      }
    }
  }

  // Calls add(key, text) for each entry under `node`. Precondition: Check().
  template <class Add>
  void Visit(uint32_t node, std::string* key, const Add& add) const {
    if (key->size() > 64) Damaged(where_, "its normalisation has no end");
    const uint32_t children = Children(node);
    if (units_[node] >> 8 & 1)
      add(*key, std::string_view(texts_.data() + (units_[children] & 0x7FFFFFFF)));
    for (uint32_t label = 1; label < 256; ++label) {
      const uint32_t child = children ^ label;
      if (IsValue(child) || (units_[child] & 0xFF) != label) continue;
      key->push_back(static_cast<char>(label));
      Visit(child, key, add);
      key->pop_back();
    }
  }

 private:
  bool IsValue(uint32_t node) const { return units_[node] >> 31 != 0; }
  uint32_t Children(uint32_t node) const {
    const uint32_t unit = units_[node];
    return node ^ (unit >> 10 << ((unit & 0x200) >> 6));
  }

  const std::string& where_;
  std::vector<uint32_t> units_;
  std::string_view texts_;
};

std::u32string ToCodePoints(std::string_view utf8) {
  const icu::UnicodeString text = icu::UnicodeString::fromUTF8(
      icu::StringPiece(utf8.data(), static_cast<int32_t>(utf8.size())));
  std::u32string points;
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1))
    points.push_back(text.char32At(i));
  return points;
}

std::u32string Lower(const std::u32string& points) {
  std::u32string lower;
  for (const char32_t point : points) {
    icu::UnicodeString one(static_cast<UChar32>(point));
    one.toLower(icu::Locale::getRoot());
    for (int32_t i = 0; i < one.length(); i = one.moveIndex32(i, 1))
      lower.push_back(one.char32At(i));
  }
  return lower;
}

// SentencePiece reads rules from a file only: one a line, code points in hexadecimal, a tab between
// the sides.
class RuleFile {
 public:
  explicit RuleFile(const CharacterMap& rules) {
    std::error_code missing;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(missing);
    if (missing) {
      throw Error(
          ErrorKind::kRuntime,
          fmt::format("TMPDIR is '{}', which is no folder; set it to one that can be written",
                      folder.string()));
    }
    std::string name = (folder / "attend-rules-").string();
    name.append(6, 'X');  // which mkstemp replaces
    const int descriptor = mkstemp(name.data());
    if (descriptor < 0) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("can't create '{}': {}; set TMPDIR to a folder that can be written",
                              name, std::strerror(errno)));
    }
    close(descriptor);
    path_ = name;
    std::string text;
    for (const auto& [from, to] : rules) {
      for (const char32_t point : from) text += fmt::format("{:X} ", static_cast<uint32_t>(point));
      text.back() = '\t';
      for (const char32_t point : to) text += fmt::format("{:X} ", static_cast<uint32_t>(point));
      text += '\n';
    }
    try {
      WriteFileSynced(path_, text);
    } catch (...) {
      unlink(path_.c_str());
      throw;
    }
  }
  ~RuleFile() { unlink(path_.c_str()); }
  RuleFile(const RuleFile&) = delete;
  RuleFile& operator=(const RuleFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The compiled map of a model with one normalisation.
std::string MapOf(const sentencepiece::SentencePieceNormalizer& normalizer) {
  std::string map;
  ForEachMap(normalizer.serialized_model_proto(), kNormalizer, "normalisation",
             [&](std::string_view compiled) { map = compiled; });
  return map;
}

std::string Compile(const CharacterMap& rules) {
  const RuleFile file(rules);
  sentencepiece::SentencePieceNormalizer normalizer;
  const auto status = normalizer.LoadFromRuleTSV(file.path());
  if (!status.ok()) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("SentencePiece can't compile the normalisation: {}", status.message()));
  }
  return MapOf(normalizer);
}

}  // namespace

void CheckCharacterMaps(std::string_view model, const std::string& where) {
  const auto check = [&](std::string_view compiled) { DoubleArray(compiled, where).Check(); };
  const int normalizers = ForEachMap(model, kNormalizer, where, check);
  ForEachMap(model, kDenormalizer, where, check);
  if (normalizers == 0) Damaged(where, "it has no normalisation part; the file may be cut short");
}

CharacterMap DecompileCharacterMap(std::string_view compiled, const std::string& where) {
  const DoubleArray array(compiled, where);
  array.Check();
  CharacterMap rules;
  std::string key;
  array.Visit(0, &key, [&](const std::string& from, std::string_view to) {
    rules[ToCodePoints(from)] = ToCodePoints(to);
  });
  return rules;
}

std::string CompileLowerCasingMap(Normalization normalization) {
  CharacterMap rules;
  if (normalization == Normalization::kNfkc) {
    sentencepiece::SentencePieceNormalizer normalizer;
    const auto status = normalizer.LoadFromRuleName("nmt_nfkc");
    if (!status.ok())
      throw Error(ErrorKind::kRuntime, "SentencePiece was built without its rule nmt_nfkc");
    rules = DecompileCharacterMap(MapOf(normalizer), "nmt_nfkc");
  }
  // Rules for single code points never displace a longer match, so the whole is exactly
  // lower(normalise(text)).
  for (auto& [from, to] : rules) to = Lower(to);
  for (char32_t point = 1; point <= 0x10FFFF; ++point) {
    if (!u_hasBinaryProperty(static_cast<UChar32>(point), UCHAR_CHANGES_WHEN_LOWERCASED)) continue;
    const std::u32string one(1, point);
    rules.try_emplace(one, Lower(one));
  }
  return Compile(rules);
}

}  // namespace attend
