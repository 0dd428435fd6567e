#include "tasks/encoder_attention.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "media/patch_numbers.h"
#include "tasks/attention_sink.h"
#include "tasks/encoder_runner.h"
#include "tasks/picture_inputs.h"
#include "text/mask_token.h"
#include "text/text_words.h"
#include "text/utf8.h"
#include "text/word_ids.h"

namespace attend {
namespace {

std::vector<int32_t> ReadText(const LoadedModel& loaded, const std::string& text) {
  const ModelConfig& config = loaded.config();
  const Vocabulary& vocabulary = loaded.source();
  const int64_t most = MaxEncoderTokens(config);
  const bool labels = config.head == HeadKind::kLabels;
  if (labels && config.pooling == Pooling::kTokens) {
    std::vector<std::string> words;
    for (const auto& [begin, end] : WordsOfText(text))
      words.push_back(text.substr(begin, end - begin));
    std::vector<WordPart> parts = EncodeWords(vocabulary, words, most);
    if (parts.size() == 1) return std::move(parts[0].ids);
  } else {
    TextIds read =
        labels ? EncodeCut(vocabulary, text, most) : EncodeWithMasks(vocabulary, text, most);
    if (!read.cut) return std::move(read.ids);
  }
  throw Error(ErrorKind::kInput,
              fmt::format("the text is longer than the {} tokens that the model can read at once; "
                          "shorten it",
                          most));
}

}  // namespace

AttentionWeights AttentionOfRead(const LoadedModel& loaded, const EncoderItem& read) {
  AttentionWeights weights;
  const Sinks sinks = {KeepAttention(*loaded.config().encoder, &weights), nullptr};
  Activations activations;
  Encode(loaded.weights, {&read, 1}, sinks, &activations);
  return weights;
}

EncoderAttention AttentionOfEncoder(const LoadedModel& loaded, const std::string& text) {
  CheckReads(loaded.config(), /*pictures=*/false);
  EncoderAttention found;
  found.ids = ReadText(loaded, RepairUtf8(text));
  found.weights = AttentionOfRead(loaded, EncoderItem(std::span<const int32_t>(found.ids)));
  return found;
}

AttentionWeights AttentionOfPicture(const LoadedModel& loaded, std::span<const uint8_t> pixels) {
  CheckReads(loaded.config(), /*pictures=*/true);
  const std::vector<float> numbers = PatchNumbers(*loaded.config().patches).Of(pixels);
  return AttentionOfRead(loaded, EncoderItem(std::span<const float>(numbers)));
}

}  // namespace attend
