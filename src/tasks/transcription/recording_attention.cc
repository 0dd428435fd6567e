#include "tasks/transcription/recording_attention.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "media/picture_codec.h"
#include "tasks/transcription/transcription_json.h"

namespace attend {
namespace {

constexpr double kParts = 10000;  // of 1, in pages and answers

using RowToJson = std::function<Json(std::span<const float>)>;

Json InParts(std::span<const float> row) {
  Json list = Json::array();
  for (const float weight : row) list.push_back(std::lround(kParts * weight));
  return list;
}

Json RowsToJson(const std::vector<float>& map_WC, int64_t columns, const RowToJson& row) {
  Json rows = Json::array();
  for (auto begin = map_WC.begin(); begin != map_WC.end(); begin += columns)
    rows.push_back(row(std::span(begin, begin + columns)));
  return rows;
}

Json HeadsToJson(const SegmentAttention& attention, const RowToJson& row) {
  Json layers = Json::array();
  for (const auto& heads : attention.heads_WC) {
    Json& layer = layers.emplace_back(Json::array());
    for (const auto& map : heads) layer.push_back(RowsToJson(map, attention.columns, row));
  }
  return layers;
}

// Without the heads.
Json SegmentToJson(const TranscriptSegment& segment, const SegmentAttention& attention,
                   const RowToJson& row) {
  return {{"begin", InMilliseconds(segment.begin)},
          {"end", InMilliseconds(segment.end)},
          {"spectrogram", PngDataUrl(attention.spectrogram)},
          {"columns", attention.columns},
          {"words", WordsToJson(segment.words)},
          {"mean", RowsToJson(attention.mean_WC, attention.columns, row)},
          {"heads", nullptr}};
}

int64_t NumbersOf(const SegmentAttention& attention) {
  int64_t numbers = 0;
  for (const auto& heads : attention.heads_WC)
    for (const auto& map : heads) numbers += std::ssize(map);
  return numbers;
}

// Adds `share` of the weights of `rows` rows to columns, whose number divides them as evenly as
// can be.
void AddColumns(const float* weights_S, int64_t rows, float share, std::span<float> row_C) {
  const int64_t columns = std::ssize(row_C);
  for (int64_t c = 0; c < columns; ++c) {
    const int64_t end = (c + 1) * rows / columns;
    for (int64_t s = c * rows / columns; s < end; ++s) row_C[c] += share * weights_S[s];
  }
}

}  // namespace

AttentionCollector::AttentionCollector(const ModelConfig& config,
                                       std::span<const int64_t> word_of_token, int64_t rows,
                                       const AttentionBounds& bounds, SegmentAttention* attention)
    : config_(config), word_of_token_(word_of_token), rows_(rows), attention_(attention) {
  for (const int64_t word : word_of_token) {
    if (word < 0) continue;
    tokens_of_word_.resize(std::max<size_t>(tokens_of_word_.size(), word + 1));
    ++tokens_of_word_[word];
  }
  attention->columns = std::min(rows, bounds.columns);
  const int64_t layers = config.decoder->layers, heads = config.decoder->heads;
  const size_t numbers = tokens_of_word_.size() * attention->columns;
  attention->mean_WC.assign(numbers, 0);
  if (static_cast<int64_t>(numbers) > bounds.numbers / (layers * heads)) return;
  attention->heads_WC.assign(layers,
                             std::vector<std::vector<float>>(heads, std::vector<float>(numbers)));
}

void AttentionCollector::Add(int64_t layer, int64_t token, const float* weights_HS, int64_t keys) {
  if (token >= std::ssize(word_of_token_) || word_of_token_[token] < 0) return;
  const int64_t word = word_of_token_[token], heads = config_.decoder->heads;
  const float share = 1 / static_cast<float>(tokens_of_word_[word]);
  const auto row_of = [&](std::vector<float>& map_WC) {
    return std::span(map_WC).subspan(word * attention_->columns, attention_->columns);
  };
  for (int64_t h = 0; h < heads; ++h) {
    const float* weights_S = weights_HS + h * keys;
    if (!attention_->heads_WC.empty())
      AddColumns(weights_S, rows_, share, row_of(attention_->heads_WC[layer][h]));
    if (layer + 1 == config_.AlignmentLayer())
      AddColumns(weights_S, rows_, share / static_cast<float>(heads), row_of(attention_->mean_WC));
  }
}

void AttentionCollector::Finish(int64_t words) {
  const auto finish = [&](std::vector<float>& map_WC) {
    const int64_t columns = attention_->columns;
    for (int64_t word = 0; word < words; ++word) {
      if (word < std::ssize(tokens_of_word_) && tokens_of_word_[word] > 0) continue;
      map_WC.resize(std::max<size_t>(map_WC.size(), (word + 1) * columns));
      if (word == 0) continue;
      std::copy_n(map_WC.begin() + (word - 1) * columns, columns, map_WC.begin() + word * columns);
    }
    map_WC.resize(words * columns);
  };
  finish(attention_->mean_WC);
  for (auto& heads : attention_->heads_WC)
    for (auto& map : heads) finish(map);
}

Json RecordingAttentionToJson(const ModelConfig& config,
                              std::span<const TranscriptSegment> segments,
                              std::span<const SegmentAttention> attention, int64_t numbers) {
  Json list = Json::array();
  int64_t means_left = numbers, heads_left = numbers;
  for (size_t i = 0; i < attention.size(); ++i) {
    means_left -= std::ssize(attention[i].mean_WC);
    if (means_left < 0) break;
    Json& segment = list.emplace_back(SegmentToJson(segments[i], attention[i], InParts));
    const int64_t of_heads = NumbersOf(attention[i]);
    if (attention[i].heads_WC.empty() || of_heads > heads_left) continue;
    heads_left -= of_heads;
    segment["heads"] = HeadsToJson(attention[i], InParts);
  }
  return {{"alignment_layer", config.AlignmentLayer()}, {"segments", std::move(list)}};
}

Json SegmentAttentionToJson(const TranscriptSegment& segment, const SegmentAttention& attention) {
  Json json = SegmentToJson(segment, attention, FloatsToJson);
  json["heads"] = HeadsToJson(attention, FloatsToJson);
  return json;
}

}  // namespace attend
