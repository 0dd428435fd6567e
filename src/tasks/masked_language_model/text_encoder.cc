#include "attend/text_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "engine/blocks/layer.h"
#include "model/model_directory.h"
#include "search/scores.h"
#include "tasks/encoder_runner.h"
#include "tasks/picture_inputs.h"
#include "text/mask_token.h"
#include "text/tokenizer.h"
#include "text/utf8.h"
#include "text/word_ids.h"

namespace attend {
namespace {

constexpr EncoderRunner::Purpose kFilling = {"masked_language_model", HeadKind::kVocabulary,
                                             /*of_tokens=*/true};

struct Filling {
  int32_t id = 0;
  double probability = 0;
};

// The likeliest of the tokens that show, with their probabilities among all. Equal ones by id. At
// least one.
std::vector<Filling> LikeliestTokens(std::span<const float> logits_V, const SpecialIds& special,
                                     int32_t mask, int64_t top) {
  const ExpSum sum(logits_V);
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < static_cast<int32_t>(logits_V.size()); ++id) {
    const bool shows = id != special.pad && id != special.unk && id != special.bos &&
                       id != special.eos && id != mask;
    if (shows) ids.push_back(id);
  }
  if (ids.empty()) throw Error(ErrorKind::kInput, "the vocabulary has no token that shows");
  std::vector<Filling> fillings;
  for (const int32_t id : BestIds(logits_V, std::move(ids), top))
    fillings.push_back({id, sum.Share(static_cast<double>(logits_V[id]))});
  return fillings;
}

// The token for people, without the mark of a space before it.
std::string Shown(const Vocabulary& vocabulary, const TokenText& token, int32_t id) {
  return token.text.empty() ? vocabulary.Piece(id)
                            : OneLine(RepairUtf8(token.text, nullptr, Nul::kKept));
}

}  // namespace

struct TextEncoder::Impl {
  // Writes the vector of each input.
  void Vectors(std::span<const EncoderInput> inputs, const EmbeddingOptions& options,
               std::span<TextVector> vectors, const std::atomic<bool>* stop) const {
    const auto take = [&](size_t item, std::span<const float> vector_D) {
      std::vector<float>& values = vectors[item].values_D;
      values.assign(vector_D.begin(), vector_D.end());
      if (options.normalize) MakeUnit(values);
    };
    runner.Vectors(inputs, PoolingOf(options.pooling), take, stop);
  }

  EncoderRunner runner;
};

std::unique_ptr<TextEncoder> TextEncoder::Load(const std::string& directory,
                                               const TextEncoderOptions& options) {
  return std::make_unique<TextEncoder>(LoadModel(directory), options);
}

TextEncoder::TextEncoder(std::shared_ptr<const Model> model, const TextEncoderOptions& options)
    : TextEncoder(LoadWith(std::move(model), options), options.threads) {}

TextEncoder::TextEncoder(std::shared_ptr<const LoadedModel> loaded, int threads)
    : impl_(new Impl{EncoderRunner(std::move(loaded), threads)}) {
  if (!reads_pictures()) impl_->runner.loaded().source();  // throws where there is no vocabulary
}

TextEncoder::~TextEncoder() = default;

std::vector<FilledText> TextEncoder::Fill(std::span<const std::string> texts, int64_t top,
                                          const std::atomic<bool>* stop) const {
  const LoadedModel& loaded = impl_->runner.loaded();
  CheckReads(loaded.config(), /*pictures=*/false);
  EncoderRunner::CheckPurpose(loaded.config(), kFilling);
  const Vocabulary& vocabulary = loaded.source();
  const int32_t mask = MaskId(vocabulary);
  std::vector<EncoderInput> inputs;
  std::vector<FilledText> filled(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    TextIds read = EncodeWithMasks(vocabulary, texts[i], impl_->runner.max_tokens());
    filled[i].cut = read.cut;
    EncoderInput& input = inputs.emplace_back(EncoderInput{std::move(read.ids), {}});
    for (int32_t at = 0; at < std::ssize(input.ids); ++at)
      if (input.ids[at] == mask) input.rows.push_back(at);
    if (!input.rows.empty()) continue;
    throw Error(ErrorKind::kInput,
                read.cut && texts[i].find(kMaskToken) != std::string::npos
                    ? fmt::format("{} stands after the {} tokens that the model can read: '{}'",
                                  kMaskToken, impl_->runner.max_tokens(), Excerpt(texts[i]))
                    : fmt::format("a text has no {}, which says where a token is wanted: '{}'",
                                  kMaskToken, Excerpt(texts[i])));
  }
  std::vector<std::vector<int32_t>> likeliest(texts.size());  // a token for each mask
  const auto take = [&](size_t text, std::span<const float> logits_V) {
    const std::vector<Filling> best =
        LikeliestTokens(logits_V, vocabulary.special_ids(), mask, std::max<int64_t>(top, 1));
    likeliest[text].push_back(best[0].id);
    std::vector<FillingToken>& tokens = filled[text].masks.emplace_back();
    for (const Filling& each : best) {
      const TokenText token = vocabulary.tokenizer().TextOf(each.id);
      tokens.push_back({Shown(vocabulary, token, each.id), each.probability, token.begins_word});
    }
  };
  impl_->runner.Run(inputs, take, stop);
  for (size_t i = 0; i < texts.size(); ++i) {
    EncoderInput& read = inputs[i];
    for (size_t m = 0; m < read.rows.size(); ++m) read.ids[read.rows[m]] = likeliest[i][m];
    filled[i].text = vocabulary.Decode(read.ids);
  }
  return filled;
}

std::vector<TextVector> TextEncoder::Embed(std::span<const std::string> texts,
                                           const EmbeddingOptions& options,
                                           const std::atomic<bool>* stop) const {
  CheckReads(impl_->runner.loaded().config(), /*pictures=*/false);
  std::vector<EncoderInput> inputs;
  std::vector<TextVector> vectors(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    TextIds read =
        EncodeWithMasks(impl_->runner.loaded().source(), texts[i], impl_->runner.max_tokens());
    vectors[i].cut = read.cut;
    inputs.push_back({std::move(read.ids), {}});
  }
  impl_->Vectors(inputs, options, vectors, stop);
  return vectors;
}

std::vector<TextVector> TextEncoder::EmbedPictures(std::span<const std::string> files,
                                                   std::span<const std::string> names,
                                                   const EmbeddingOptions& options,
                                                   const std::atomic<bool>* stop) const {
  CheckReads(impl_->runner.loaded().config(), /*pictures=*/true);
  return EmbedPixels(PixelsOfFiles(files, names, *impl_->runner.loaded().config().patches), options,
                     stop);
}

std::vector<TextVector> TextEncoder::EmbedPixels(std::span<const std::vector<uint8_t>> pictures,
                                                 const EmbeddingOptions& options,
                                                 const std::atomic<bool>* stop) const {
  const ModelConfig& config = impl_->runner.loaded().config();
  CheckReads(config, /*pictures=*/true);
  std::vector<TextVector> vectors(pictures.size());
  ForPictures(pictures, *config.patches, [&](std::span<const EncoderInput> inputs, size_t first) {
    impl_->Vectors(inputs, options, std::span(vectors).subspan(first, inputs.size()), stop);
  });
  return vectors;
}

bool TextEncoder::reads_pictures() const {
  return impl_->runner.loaded().config().patches.has_value();
}

int64_t TextEncoder::width() const { return impl_->runner.loaded().config().encoder->d_model; }

std::string TextEncoder::instruction_set() const {
  return impl_->runner.loaded().weights.kernels.name;
}

}  // namespace attend
