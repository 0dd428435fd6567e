#include "text/normalization.h"

#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>

#include "text/utf8.h"

namespace attend {
namespace {

// Every code point, between characters that compose with none.
TEST(Normalization, NfkcIsNmtNfkcButForWhatItKeeps) {
  sentencepiece::SentencePieceNormalizer theirs;
  ASSERT_TRUE(theirs.LoadFromRuleName("nmt_nfkc").ok());
  const CharacterMap rules =
      DecompileCharacterMap(CompileCharacterMap(Normalization::kNfkc, LetterCase::kKeep), "test");
  for (char32_t point = 1; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    std::string character, mapped, expected;
    AppendUtf8(point, &character);
    const auto rule = rules.find({point});
    if (rule == rules.end())
      mapped = character;
    else
      for (const char32_t to : rule->second) AppendUtf8(to, &mapped);
    const bool kept = point == 0x200B || point == 0x200C || point == 0x200E || point == 0x200F;
    if (kept) {
      ASSERT_EQ(mapped, character);
      continue;
    }
    ASSERT_TRUE(theirs.Normalize("_" + character + "_", &expected).ok());
    Replace(" ", kSpaceSign, &mapped);
    ASSERT_EQ(std::string(kSpaceSign) + "_" + mapped + "_", expected)
        << std::hex << static_cast<uint32_t>(point);
  }
}

}  // namespace
}  // namespace attend
