#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "fuzz/harness.h"
#include "text/mask_token.h"
#include "text/newlines.h"
#include "text/word_ids.h"

namespace attend {
namespace {

constexpr int64_t kMostTokens = 7;  // that a model can read

void Check(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  for (const int32_t id : ids) vocabulary.Piece(id);
  vocabulary.Decode(ids);
  DecodeText(vocabulary, ids);
}

// In each way in which a task reads text.
void Encode(const Vocabulary& vocabulary, const std::string& text) {
  Check(vocabulary, vocabulary.Encode(text));
  Check(vocabulary, EncodeText(vocabulary, text + "\n" + text));
  Check(vocabulary, EncodeWithMasks(vocabulary, text + " [MASK]", kMostTokens).ids);
  const std::vector<std::string> words = {"paku", text + "x", ",", text + "y"};
  int64_t first = 0;
  for (const WordPart& part : EncodeWords(vocabulary, words, kMostTokens)) {
    if (part.first_word != first || part.ids.size() > kMostTokens + 2) std::abort();
    first += std::ssize(part.first_tokens);
    for (const int32_t place : part.first_tokens) {
      if (place < 0 || place >= std::ssize(part.ids)) std::abort();
    }
    Check(vocabulary, part.ids);
  }
  if (first != std::ssize(words)) std::abort();
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    const auto vocabulary = Vocabulary::FromBytes(bytes, "vocab.spm");
    for (const char* line :
         {"", "lumi tavo, keri?", "\xff\xf0\x9f ÄÖÜ \xe2\x96\x81 x", "paku\tneri  dosa"}) {
      Encode(*vocabulary, line);
    }
  });
}
