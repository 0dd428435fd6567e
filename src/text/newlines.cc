#include "text/newlines.h"

#include <algorithm>
#include <optional>

#include "text/byte_bpe.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace attend {
namespace {

// Of tokens that spell white space. Vocabulary::Decode would make spaces of LF.
std::string TextOfBytes(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::string text;
  size_t begin = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::optional<std::string> bytes = BytesOfToken(vocabulary.Piece(ids[i]));
    if (!bytes || bytes->find('\n') == bytes->npos) continue;
    text += vocabulary.Decode(ids.subspan(begin, i - begin)) + *bytes;
    begin = i + 1;
  }
  return RepairUtf8(text + vocabulary.Decode(ids.subspan(begin)));
}

}  // namespace

int32_t NewlineId(const Vocabulary& vocabulary) {
  const int32_t id = vocabulary.Id(kNewline);
  return id == vocabulary.special_ids().unk ? -1 : id;
}

std::vector<int32_t> EncodeText(const Vocabulary& vocabulary, std::string_view text) {
  const int32_t newline = NewlineId(vocabulary);
  if (newline < 0 && vocabulary.tokenizer().SpellsWhiteSpace()) return vocabulary.Encode(text);
  if (newline < 0) {
    std::string line(text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return vocabulary.Encode(line);
  }
  std::vector<int32_t> ids;
  while (true) {
    const size_t end = text.find('\n');
    const std::vector<int32_t> line = vocabulary.Encode(text.substr(0, end));
    ids.insert(ids.end(), line.begin(), line.end());
    if (end == text.npos) return ids;
    ids.push_back(newline);
    text.remove_prefix(end + 1);
  }
}

std::string DecodeText(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  const int32_t newline = NewlineId(vocabulary);
  if (newline < 0 && vocabulary.tokenizer().SpellsWhiteSpace()) return TextOfBytes(vocabulary, ids);
  std::string text;
  while (true) {
    const auto end = std::ranges::find(ids, newline);
    const auto length = static_cast<size_t>(end - ids.begin());
    text += vocabulary.Decode(ids.first(length));
    if (end == ids.end()) return text;
    text += '\n';
    ids = ids.subspan(length + 1);
  }
}

}  // namespace attend
