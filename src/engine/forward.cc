#include "engine/forward.h"

#include <algorithm>
#include <numeric>

namespace attend {

void Encode(const Weights& weights, std::span<const EncoderItem> items, const Sinks& sinks,
            Activations* activations) {
  weights.encoder->Run(items, &activations->encoder_positions, &activations->scratch, sinks,
                       &activations->memory_SD);
}

void KeepEncoded(const Weights& weights, std::span<const int64_t> rows, Activations* activations) {
  const int64_t width = weights.config().encoder->d_model;
  float* const memory_SD = activations->memory_SD.Get(0);
  for (int64_t r = 0; r < std::ssize(rows); ++r) {
    if (rows[r] != r) std::copy_n(memory_SD + rows[r] * width, width, memory_SD + r * width);
  }
}

int64_t Pool(const Weights& weights, Pooling pooling, std::span<const int64_t> lengths,
             Activations* activations) {
  const int64_t rows = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  if (pooling == Pooling::kTokens) return rows;
  const int64_t width = weights.config().encoder->d_model;
  float* const memory_SD = activations->memory_SD.Get(0);
  if (pooling == Pooling::kMean) {
    MeanRows(lengths, width, memory_SD);
    return std::ssize(lengths);
  }
  std::vector<int64_t> first_rows;
  for (int64_t first = 0; const int64_t length : lengths) {
    first_rows.push_back(first);
    first += length;
  }
  KeepEncoded(weights, first_rows, activations);
  return std::ssize(lengths);
}

const float* SharedVectorsOf(const Weights& weights, FusedInput::Part part,
                             std::span<const EncoderItem> items, Activations* activations) {
  float* const vectors_BW =
      activations->memory_SD.Get(std::ssize(items) * weights.config().fusion->shared_width);
  weights.encoder->fused()->ApplyShared(part, items, &activations->encoder_positions,
                                        &activations->scratch, vectors_BW);
  return vectors_BW;
}

void EncoderLogits(const Weights& weights, int64_t rows, Activations* activations) {
  float* logits = activations->logits.Get(rows * weights.encoder_head->width());
  weights.encoder_head->Apply(activations->memory_SD.Get(0), rows, &activations->scratch, logits);
}

void Start(const Weights& weights, std::span<const NewSentence> sentences, const Sinks& sinks,
           Activations* activations, DecoderCache* cache) {
  activations->sources.clear();
  activations->new_sources.clear();
  for (const NewSentence& sentence : sentences) {
    const EncoderItem& item = activations->sources.emplace_back(
        sentence.numbers.empty() ? EncoderItem(sentence.source) : EncoderItem(sentence.numbers));
    const int64_t rows = weights.encoder ? weights.encoder->RowsOf(item) : 0;
    activations->new_sources.push_back({sentence.index, rows});
  }
  if (weights.encoder) Encode(weights, activations->sources, sinks, activations);
  WorkTimer& timer = activations->scratch.timer;
  timer.Book(&WorkSeconds::encoder);
  weights.decoder->Start(activations->new_sources, activations->memory_SD.Get(0),
                         &activations->scratch, cache);
  timer.Book(&WorkSeconds::cross_attention);
}

void StartAll(const Weights& weights, std::span<const EncoderItem> sources, const Sinks& sinks,
              Activations* activations, DecoderCache* cache) {
  std::vector<NewSentence> sentences;
  for (const EncoderItem& source : sources)
    sentences.push_back({std::ssize(sentences), source.ids, {}, source.numbers});
  weights.decoder->Reset(1, cache);
  Start(weights, sentences, sinks, activations, cache);
}

void Decode(const Weights& weights, std::span<const DecoderRow> rows, const Sinks& sinks,
            Activations* activations, DecoderCache* cache) {
  weights.decoder->Run(rows, cache, &activations->decoder_positions, &activations->scratch, sinks,
                       &activations->hidden_RD);
}

}  // namespace attend
