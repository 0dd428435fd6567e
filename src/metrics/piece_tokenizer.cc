#include "metrics/piece_tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <unicode/unistr.h>

#include <vector>

#include "attend/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "metrics/characters.h"
#include "metrics/metric_fields.h"
#include "text/normalization.h"
#include "text/utf8.h"

namespace attend {

struct PieceTokenizer::Impl {
  sentencepiece::SentencePieceProcessor processor;
};

PieceTokenizer::PieceTokenizer(const std::string& path) {
  const std::string bytes = ReadFile(path);
  CheckCharacterMaps(bytes, path);
  auto impl = std::make_unique<Impl>();
  constexpr int kSilent = 3;
  sentencepiece::SetMinLogLevel(kSilent);
  std::string reason = bytes.empty() ? "it is empty" : "";
  try {
    if (reason.empty()) reason = impl->processor.LoadFromSerializedProto(bytes).message();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (!reason.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("tokenize_model: '{}' is no SentencePiece model: {}", path, reason));
  }
  impl_ = std::move(impl);
  digest_ = Sha256(bytes).substr(0, 8);
}

PieceTokenizer::~PieceTokenizer() = default;

std::u32string PieceTokenizer::Tokenize(std::u32string_view line) const {
  std::string text, joined;
  icu::UnicodeString::fromUTF32(reinterpret_cast<const UChar32*>(line.data()),
                                static_cast<int32_t>(line.size()))
      .toUTF8String(text);
  std::vector<std::string> pieces;
  if (const auto status = impl_->processor.Encode(text, &pieces); !status.ok()) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("SentencePiece can't cut a line for BLEU: {}", status.ToString()));
  }
  for (const std::string& piece : pieces) joined.append(piece).append(1, ' ');
  return CodePoints(joined);
}

std::shared_ptr<const PieceTokenizer> LoadPieceTokenizer(const BleuOptions& options) {
  const bool needed = options.tokenize >= BleuTokenizer::kFlores101;
  if (needed != options.tokenize_model.empty())
    return needed ? std::make_shared<const PieceTokenizer>(options.tokenize_model) : nullptr;
  BleuOptions named = options;
  const std::string name = Fields(named).Get("tokenize", "").ValueText();
  throw Error(
      ErrorKind::kConfiguration,
      needed ? fmt::format("tokenize is {}, which needs tokenize_model, a SentencePiece model's "
                           "file (sacreBLEU keeps its own in ~/.sacrebleu/models)",
                           name)
             : fmt::format("tokenize_model is '{}', but tokenize is {}; expected spm, flores101, "
                           "flores200 or spBLEU-1K, or no tokenize_model",
                           options.tokenize_model, name));
}

}  // namespace attend
