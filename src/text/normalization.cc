#include "text/normalization.h"

#include <fmt/format.h>
#include <sentencepiece_trainer.h>
#include <stdlib.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "attend/error.h"
#include "base/files.h"
#include "text/proto_fields.h"
#include "text/utf8.h"

namespace attend {
namespace {

// The bit of a unit that is an offset of a text.
constexpr uint32_t kValueUnit = 0x80000000;

constexpr std::string_view kFactorName = "_factor";

// Fields of SentencePiece's model, of what trained it, and of the normalisations in it.
constexpr uint64_t kTrainer = 2, kNormalizer = 3, kDenormalizer = 5;
constexpr uint64_t kUserDefinedSymbols = 31;
constexpr uint64_t kName = 1, kCompiledMap = 2, kAddDummyPrefix = 3, kRemoveExtraWhitespaces = 4,
                   kEscapeWhitespaces = 5;

// What nmt_nfkc takes for spaces, though words hold them: zero-width space, non-joiner, and the two
// direction marks.
constexpr char32_t kKept[] = {0x200B, 0x200C, 0x200E, 0x200F};

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
    if (compiled.size() < sizeof(bytes)) DamagedModel(where, "its normalisation is cut short");
    std::memcpy(&bytes, compiled.data(), sizeof(bytes));
    compiled.remove_prefix(sizeof(bytes));
    if (bytes == 0 || bytes % 1024 != 0 || bytes >= compiled.size() || compiled.back() != '\0') {
      DamagedModel(where, "its normalisation has a wrong size");
    }
    units_.resize(bytes / sizeof(uint32_t));
    std::memcpy(units_.data(), compiled.data(), bytes);
    texts_ = compiled.substr(bytes);
  }

  // No unit's children, present or not, lie outside the array.
  void Check() const {
    for (uint32_t node = 0; node < units_.size(); ++node) {
      if (IsValue(node)) {
        if ((units_[node] & ~kValueUnit) >= texts_.size())
          DamagedModel(where_, "its normalisation has a wrong text");
      } else if ((Children(node) | 0xFF) >= units_.size()) {
        DamagedModel(where_, "its normalisation has a wrong link");
      }
    }
  }

  // Calls add(key, text) for each entry under `node`. Precondition: Check().
  template <class Add>
  void Visit(uint32_t node, std::string* key, const Add& add) const {
    if (key->size() > 64) DamagedModel(where_, "its normalisation has no end");
    const uint32_t children = Children(node);
    if (units_[node] >> 8 & 1)
      add(*key, std::string_view(texts_.data() + (units_[children] & ~kValueUnit)));
    for (uint32_t label = 1; label < 256; ++label) {
      const uint32_t child = children ^ label;
      if (IsValue(child) || (units_[child] & 0xFF) != label) continue;
      key->push_back(static_cast<char>(label));
      Visit(child, key, add);
      key->pop_back();
    }
  }

  // Gives keys that are there, and that no longer key begins with, themselves as texts. Their
  // values move to a new block, since keys may share one. At most 255; precondition: Check().
  void KeepAsTheyAre(const std::vector<std::string>& keys) {
    constexpr uint32_t kBlock = 256, kOtherBits = 0x1FF;
    auto value = static_cast<uint32_t>(units_.size());
    units_.resize(units_.size() + kBlock);
    for (const std::string& key : keys) {
      uint32_t node = 0;
      for (const char label : key) node = Children(node) ^ static_cast<uint8_t>(label);
      units_[node] = (node ^ ++value) << 10 | (units_[node] & kOtherBits);
      units_[value] = kValueUnit | static_cast<uint32_t>(texts_.size());
      texts_.append(key).push_back('\0');
    }
  }

  // As SentencePiece has it.
  std::string Compiled() const {
    const auto bytes = static_cast<uint32_t>(sizeof(uint32_t) * units_.size());
    std::string compiled(sizeof(bytes) + bytes, '\0');
    std::memcpy(compiled.data(), &bytes, sizeof(bytes));
    std::memcpy(compiled.data() + sizeof(bytes), units_.data(), bytes);
    return compiled + texts_;
  }

 private:
  bool IsValue(uint32_t node) const { return (units_[node] & kValueUnit) != 0; }
  uint32_t Children(uint32_t node) const {
    const uint32_t unit = units_[node];
    return node ^ (unit >> 10 << ((unit & 0x200) >> 6));
  }

  const std::string& where_;
  std::vector<uint32_t> units_;
  std::string texts_;
};

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
      const char* set = std::getenv("TMPDIR");  // first of what temp_directory_path asks for
      throw Error(ErrorKind::kRuntime,
                  fmt::format("TMPDIR is '{}', which is not a folder; set it to one that can be "
                              "written",
                              set == nullptr ? "/tmp" : set));
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

// nmt_nfkc, in which each of kKept becomes itself; compiled anew it would take a second.
std::string NfkcMap() {
  sentencepiece::SentencePieceNormalizer normalizer;
  const auto status = normalizer.LoadFromRuleName("nmt_nfkc");
  if (!status.ok())
    throw Error(ErrorKind::kRuntime, "SentencePiece was built without its rule nmt_nfkc");
  const std::string where = "nmt_nfkc";
  DoubleArray array(MapOf(normalizer), where);
  array.Check();
  std::vector<std::string> kept;
  for (const char32_t character : kKept) AppendUtf8(character, &kept.emplace_back());
  array.KeepAsTheyAre(kept);
  return array.Compiled();
}

// Of text that is kept as it is: what SentencePiece would take for its own signs.
CharacterMap MaskRules() {
  return {{CodePoints(kSpaceSign), CodePoints(kMaskedSpaceSign)},
          {CodePoints("\t"), CodePoints(kMaskedTab)}};
}

}  // namespace

void CheckCharacterMaps(std::string_view model, const std::string& where) {
  const auto check = [&](std::string_view compiled) { DoubleArray(compiled, where).Check(); };
  const int normalizers = ForEachMap(model, kNormalizer, where, check);
  ForEachMap(model, kDenormalizer, where, check);
  if (normalizers == 0)
    DamagedModel(where, "it has no normalisation part; the file may be cut short");
}

CharacterMap DecompileCharacterMap(std::string_view compiled, const std::string& where) {
  const DoubleArray array(compiled, where);
  array.Check();
  CharacterMap rules;
  std::string key;
  array.Visit(0, &key, [&](const std::string& from, std::string_view to) {
    rules[CodePoints(from)] = CodePoints(to);
  });
  return rules;
}

std::string CompileCharacterMap(Normalization normalization, LetterCase letter_case) {
  const bool nfkc = normalization == Normalization::kNfkc;
  const std::string map = nfkc ? NfkcMap() : Compile(MaskRules());
  if (letter_case != LetterCase::kLower) return map;
  CharacterMap rules = DecompileCharacterMap(map, "normalisation");
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

std::string NormalizationName(Normalization normalization, LetterCase letter_case) {
  std::string name = normalization == Normalization::kNfkc ? "nfkc" : "none";
  if (letter_case == LetterCase::kLower) name += "_lower";
  if (letter_case == LetterCase::kFactor) name += kFactorName;
  return name;
}

std::string UnmaskingPart() {
  CharacterMap rules;
  for (const auto& [from, to] : MaskRules()) rules[to] = from;
  return ProtoField(kDenormalizer, ProtoField(kCompiledMap, Compile(rules)) +
                                       ProtoField(kAddDummyPrefix, false) +
                                       ProtoField(kRemoveExtraWhitespaces, false) +
                                       ProtoField(kEscapeWhitespaces, false));
}

bool UndoesMasks(std::string_view model, const std::string& where) {
  return ForEachMap(model, kDenormalizer, where, [](std::string_view) {}) > 0;
}

bool MarksCase(std::string_view model, const std::string& where) {
  bool marks = false;
  ForEachField(model, kNormalizer, where, [&](std::string_view part) {
    ForEachField(part, kName, where,
                 [&](std::string_view name) { marks = name.ends_with(kFactorName); });
  });
  return marks;
}

std::vector<std::string> UserDefinedSymbols(std::string_view model, const std::string& where) {
  std::vector<std::string> symbols;
  ForEachField(model, kTrainer, where, [&](std::string_view part) {
    ForEachField(part, kUserDefinedSymbols, where,
                 [&](std::string_view symbol) { symbols.emplace_back(symbol); });
  });
  return symbols;
}

}  // namespace attend
