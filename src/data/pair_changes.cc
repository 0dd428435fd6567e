#include "data/pair_changes.h"

#include "base/random.h"

namespace attend {
namespace {

PairSpans Protect(const PairProtection& protection, const Origin& origin, uint64_t time,
                  std::vector<std::string>* texts) {
  constexpr uint64_t kProtectKey = 0x70726f74656374;  // "protect"
  if (protection.masker == nullptr) return {};
  std::string &source = texts->at(0), &target = texts->at(1);
  if (!protection.training) return protection.masker->MaskPair(&source, &target, nullptr);
  Random random{protection.seed, time, static_cast<uint64_t>(origin.file),
                static_cast<uint64_t>(origin.line), kProtectKey};
  const PairSpans spans = protection.masker->MaskPair(&source, &target, &random);
  const bool has_text = !source.empty() && !target.empty();
  if (has_text && random.Uniform() < protection.examples)
    protection.masker->AddPlaceholders(&source, &target, &random);
  return spans;
}

}  // namespace

TextChanges PairChanges(const PairProtection& protection, const CaseNoise& noise) {
  return [=](const Origin& origin, uint64_t time, std::vector<std::string>* texts) {
    const PairSpans spans = Protect(protection, origin, time, texts);
    noise.Apply(origin, time, texts);
    return spans;
  };
}

}  // namespace attend
