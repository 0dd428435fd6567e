#include "tasks/fusion/item_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "attend/error.h"
#include "media/fit_picture.h"
#include "tasks/classification/picture_attention.h"
#include "tasks/encoder_attention.h"
#include "text/lines.h"

namespace attend {
namespace {

void KeepText(const std::string& text, std::span<const int32_t> ids, const Vocabulary& vocabulary,
              ItemAttention* found) {
  for (const int32_t id : ids) found->pieces.push_back(id < 0 ? "" : vocabulary.Piece(id));
  found->words = WordsOfLine(text);
  found->piece_words = vocabulary.WordsOfLine(text);
  found->piece_words.resize(ids.size() - 2);  // the text may be cut; bos and eos stand around it
  found->piece_words.insert(found->piece_words.begin(), -1);
  found->piece_words.push_back(-1);
}

AttentionWeights WeightsOf(const LoadedModel& loaded, const EncoderInput& input) {
  EncoderItem item;
  item.ids = input.ids;
  item.numbers = input.numbers;
  item.nodes = input.nodes;
  const int64_t rows = loaded.weights.encoder->RowsOf(item);
  if (rows > kMostAttentionRows) {
    throw Error(ErrorKind::kInput,
                fmt::format("the item has {} tokens, patches and links, expected at most {} where "
                            "attention is asked for; shorten it",
                            rows - 1, kMostAttentionRows - 1));
  }
  return AttentionOfRead(loaded, item);
}

// Where an input's rows stand.
struct Place {
  size_t first = 0, count = 0;
  std::vector<float> Of(const std::vector<double>& rows) const {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  float ShareOf(const std::vector<double>& rows) const {
    double sum = 0;
    for (size_t row = first; row < first + count; ++row) sum += rows[row];
    return static_cast<float>(sum);
  }
};

// [layers][heads][rows of an input]
AttentionMaps MapsOf(const RowAttention& rows, const Place& place) {
  AttentionMaps maps;
  for (const auto& layer : rows.heads) {
    auto& heads = maps.emplace_back();
    for (const auto& head : layer) heads.push_back(place.Of(head));
  }
  return maps;
}

Json SharesOf(const RowAttention& rows, const Place& place) {
  Json heads = Json::array();
  for (const auto& layer : rows.heads) {
    std::vector<float> shares;
    for (const auto& head : layer) shares.push_back(place.ShareOf(head));
    heads.push_back(FloatsToJson(shares));
  }
  const float rollout[] = {place.ShareOf(rows.rollout)};
  return {{"heads", std::move(heads)}, {"rollout", FloatsToJson(rollout)[0]}};
}

// Adds the maps to what the input's rows are.
Json WithMaps(Json json, const RowAttention& rows, const Place& place) {
  json["heads"] = MapsToJson(MapsOf(rows, place));
  json["rollout"] = FloatsToJson(place.Of(rows.rollout));
  return json;
}

}  // namespace

ItemAttention AttentionOfItem(const ItemReader& reader, const ClassifiedItem& item) {
  ClassifiedItem fitted = item;
  const PatchInput& patches = reader.config().fusion->patches;
  if (!item.picture.empty()) {
    fitted.pixels = DecodeFitted(item.picture, "the picture", patches).pixels;
    fitted.picture.clear();
  }
  const EncoderInput input = reader.Read(fitted).input;
  ItemAttention found;
  const AttentionWeights weights = WeightsOf(reader.loaded(), input);
  found.rows = AttentionOfRows(weights, FirstRow(weights[0][0].size()));
  if (!input.ids.empty()) KeepText(*item.text, input.ids, reader.loaded().source(), &found);
  if (!fitted.pixels.empty()) {
    found.picture = Picture(patches.width, patches.height, patches.channels);
    found.picture.pixels = std::move(fitted.pixels);
  }
  for (const int32_t node : input.nodes) found.links.push_back(reader.config().fusion->nodes[node]);
  return found;
}

Json ItemAttentionToJson(const ItemAttention& attention, int64_t patch) {
  const RowAttention& rows = attention.rows;
  PictureAttention patches{.rows = attention.picture.height / patch,
                           .columns = attention.picture.width / patch};
  const Place summary{0, 1}, text{1, attention.pieces.size()},
      picture{text.first + text.count, static_cast<size_t>(patches.rows * patches.columns)},
      links{picture.first + picture.count, attention.links.size()};
  Json json = {{"text", nullptr}, {"picture", nullptr}, {"links", nullptr}};
  if (text.count > 0) {
    json["text"] = WithMaps({{"words", attention.words},
                             {"pieces", attention.pieces},
                             {"piece_words", attention.piece_words}},
                            rows, text);
  }
  if (picture.count > 0) {
    patches.heads = MapsOf(rows, picture);
    patches.rollout = picture.Of(rows.rollout);
    json["picture"] = PictureAttentionToJson(patches, attention.picture);
  }
  if (links.count > 0) json["links"] = WithMaps({{"nodes", attention.links}}, rows, links);
  json["shares"] = {{"summary", SharesOf(rows, summary)},
                    {"text", SharesOf(rows, text)},
                    {"picture", SharesOf(rows, picture)},
                    {"links", SharesOf(rows, links)}};
  return json;
}

}  // namespace attend
