#include "engine/forward.h"

namespace attend {

void Encode(const Weights& weights, std::span<const std::span<const int32_t>> sentences,
            const Sinks& sinks, Activations* activations) {
  weights.encoder->Run(sentences, &activations->encoder_positions, &activations->scratch, sinks,
                       &activations->memory_SD);
}

void Start(const Weights& weights, std::span<const NewSentence> sentences, const Sinks& sinks,
           Activations* activations, DecoderCache* cache) {
  activations->sources.clear();
  activations->new_sources.clear();
  for (const NewSentence& sentence : sentences) {
    activations->sources.push_back(sentence.source);
    activations->new_sources.push_back({sentence.place, std::ssize(sentence.source)});
  }
  if (weights.encoder) Encode(weights, activations->sources, sinks, activations);
  WorkTimer& timer = activations->scratch.timer;
  timer.Book(&WorkSeconds::encoder);
  weights.decoder->Start(activations->new_sources, activations->memory_SD.Get(0),
                         &activations->scratch, cache);
  timer.Book(&WorkSeconds::cross_attention);
}

void StartAll(const Weights& weights, std::span<const std::vector<int32_t>> sources,
              const Sinks& sinks, Activations* activations, DecoderCache* cache) {
  std::vector<NewSentence> sentences;
  for (const std::vector<int32_t>& source : sources) {
    sentences.push_back({std::ssize(sentences), source});
  }
  weights.decoder->Reset(1, cache);
  Start(weights, sentences, sinks, activations, cache);
}

void Decode(const Weights& weights, std::span<const DecoderRow> rows, const Sinks& sinks,
            Activations* activations, DecoderCache* cache) {
  weights.decoder->Run(rows, cache, &activations->decoder_positions, &activations->scratch, sinks,
                       &activations->hidden_RD);
}

}  // namespace attend
