#include "data/masking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/error.h"
#include "base/random.h"
#include "text/mask_token.h"

namespace attend {

FieldList Fields(MaskingOptions& options) {
  FieldList fields;
  fields
      .Add("mask_tokens", &options.mask_tokens, 0.001, 1,
           "share of the tokens that the model has to find again")
      .Add("mask_hidden", &options.mask_hidden, 0, 1, "of those, the share that becomes [MASK]")
      .Add("mask_random", &options.mask_random, 0, 1,
           "of those, the share that becomes a random token; the others stay")
      .Add("mask_whole_words", &options.mask_whole_words, "hide all tokens of a word together");
  return fields;
}

Masking::Masking(const MaskingOptions& options, const Vocabulary& vocabulary)
    : options_(options), mask_id_(MaskId(vocabulary)) {
  if (mask_id_ < 0) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("the vocabulary has no {} token, which a masked language model needs; "
                            "make one with `attend vocab --mask`",
                            kMaskToken));
  }
  if (options.mask_hidden + options.mask_random > 1 + 1e-9) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("mask_hidden ({}) and mask_random ({}) are more than 1 together",
                            options.mask_hidden, options.mask_random));
  }
  const SpecialIds special = vocabulary.special_ids();
  kinds_ = TokenKinds(vocabulary, {special.pad, special.unk, special.bos, special.eos, mask_id_});
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    if (kinds_[id] != TokenKind::kSpecial) ordinary_.push_back(id);
}

std::vector<Masking::Unit> Masking::UnitsOf(std::span<const int32_t> ids) const {
  std::vector<Unit> units;
  bool in_word = false;
  for (int64_t i = 0; i < std::ssize(ids); ++i) {
    const TokenKind kind = kinds_[ids[i]];
    if (kind == TokenKind::kSpecial) {
      in_word = false;
    } else if (options_.mask_whole_words && in_word && kind == TokenKind::kContinues) {
      units.back().end = i + 1;
    } else {
      units.push_back({i, i + 1});
      in_word = true;
    }
  }
  return units;
}

MaskedTokens Masking::Mask(std::span<const int32_t> ids, uint64_t key) const {
  MaskedTokens masked{{ids.begin(), ids.end()}, {}};
  std::vector<Unit> units = UnitsOf(ids);
  int64_t candidates = 0;
  for (const Unit& unit : units) candidates += unit.end - unit.begin;
  if (candidates == 0) return masked;
  const auto wanted =
      std::max<int64_t>(1, std::llround(options_.mask_tokens * static_cast<double>(candidates)));
  Random random({key, 0x6D61736B});
  random.Shuffle(&units);
  for (const Unit& unit : units) {
    const int64_t with_unit = std::ssize(masked.chosen) + unit.end - unit.begin;
    if (with_unit > wanted && !masked.chosen.empty()) continue;
    for (int64_t i = unit.begin; i < unit.end; ++i) {
      masked.chosen.push_back(i);
      const double draw = random.Uniform();
      if (draw < options_.mask_hidden) {
        masked.ids[i] = mask_id_;
      } else if (draw < options_.mask_hidden + options_.mask_random) {
        masked.ids[i] = ordinary_[random.Below(ordinary_.size())];
      }
    }
    if (std::ssize(masked.chosen) >= wanted) break;
  }
  std::ranges::sort(masked.chosen);
  return masked;
}

}  // namespace attend
