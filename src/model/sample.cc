#include "model/sample.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "base/hex.h"

namespace attend {
namespace {

// Reads the members of one JSON object of known keys.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::vector<std::string> keys, std::string where)
      : object_(object), where_(std::move(where)) {
    if (!object.is_object()) Fail("is not a JSON object");
    for (const auto& [key, value] : object.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        Fail(fmt::format("has an unknown key '{}'{}", Excerpt(key), DidYouMean(key, keys)));
      }
    }
    for (const std::string& key : keys) {
      if (!object.contains(key)) Fail(fmt::format("lacks '{}'", key));
    }
  }

  std::string Text(const char* key) const {
    const Json& value = object_.at(key);
    if (!value.is_string()) Fail(fmt::format("{} is not a text", key));
    return value.get<std::string>();
  }

  double Number(const char* key) const { return NumberOf(object_.at(key), key); }

  std::vector<double> Numbers(const char* key) const {
    std::vector<double> numbers;
    for (const Json& value : List(key)) numbers.push_back(NumberOf(value, key));
    return numbers;
  }

  // Whole numbers in [0, bound).
  std::vector<int32_t> Ids(const char* key, int64_t bound) const {
    std::vector<int32_t> ids;
    for (const Json& value : List(key))
      ids.push_back(static_cast<int32_t>(WholeOf(value, key, bound)));
    return ids;
  }

  int64_t Whole(const char* key, int64_t bound) const {
    return WholeOf(object_.at(key), key, bound);
  }

  const Json& List(const char* key) const {
    const Json& value = object_.at(key);
    if (!value.is_array()) Fail(fmt::format("{} is not a list", key));
    return value;
  }

  [[noreturn]] void Fail(const std::string& message) const {
    throw Error(ErrorKind::kInput, fmt::format("{} {}", where_, message));
  }

 private:
  double NumberOf(const Json& value, const char* key) const {
    if (!value.is_number())
      Fail(fmt::format("{} holds {}, expected a number", key, Excerpt(value.dump())));
    return value.get<double>();
  }

  int64_t WholeOf(const Json& value, const char* key, int64_t bound) const {
    // Lists made in memory hold signed numbers, those read from a file unsigned ones.
    const bool whole = value.is_number_integer() &&
                       (value.is_number_unsigned() || value.get<int64_t>() >= 0) &&
                       value.get<uint64_t>() < static_cast<uint64_t>(bound);
    if (!whole) {
      Fail(fmt::format("{} holds {}, expected a whole number below {}", key, Excerpt(value.dump()),
                       bound));
    }
    return value.get<int64_t>();
  }

  const Json& object_;
  std::string where_;
};

// Two bytes a number, the low one first.
std::vector<uint8_t> BytesOf(const std::vector<int16_t>& sound) {
  std::vector<uint8_t> bytes;
  for (const int16_t number : sound) {
    const auto bits = static_cast<uint16_t>(number);
    bytes.push_back(static_cast<uint8_t>(bits & 0xff));
    bytes.push_back(static_cast<uint8_t>(bits >> 8));
  }
  return bytes;
}

// None for what is no sound, or an empty one.
std::optional<std::vector<int16_t>> SoundOfHex(const std::string& digits) {
  const auto bytes = BytesOfHex(digits);
  if (!bytes || bytes->empty() || bytes->size() % 2 != 0) return std::nullopt;
  std::vector<int16_t> sound;
  for (size_t i = 0; i < bytes->size(); i += 2)
    sound.push_back(static_cast<int16_t>((*bytes)[i] | ((*bytes)[i + 1] << 8)));
  return sound;
}

// What the encoder reads.
void ReadInput(const ObjectReader& reader, const ModelConfig& config, Sample* sample) {
  const bool tokens = config.encoder && config.ReadsTokens();
  sample->source = reader.Text("source");
  sample->source_ids = reader.Ids("source_ids", tokens ? config.source_vocab_size : int64_t{0});
  if (tokens && !config.fusion && sample->source_ids.empty())
    reader.Fail("has no source_ids, expected at least one");
  if (config.frames) {
    const auto sound = SoundOfHex(reader.Text("sound"));
    if (!sound) reader.Fail("has a sound that is not four hexadecimal digits a sample");
    sample->sound = *sound;
  }
  if (config.fusion) sample->nodes = reader.Ids("nodes", std::ssize(config.fusion->nodes));
  if (!config.patches && !config.fusion) return;
  auto pixels = BytesOfHex(reader.Text("pixels"));
  if (!pixels) reader.Fail("has pixels that are not two hexadecimal digits a byte");
  sample->pixels = std::move(*pixels);
  if (config.fusion && sample->pixels.empty()) return;
  const int64_t expected = (config.fusion ? config.fusion->patches : *config.patches).bytes();
  if (std::ssize(sample->pixels) != expected) {
    reader.Fail(
        fmt::format("has pixels of {} bytes, expected {}", sample->pixels.size(), expected));
  }
}

// One that the item has an input for is of the model's width, one that it has none for is empty; so
// are both where nothing is said of the item yet.
void ReadVectors(const ObjectReader& reader, int64_t width, Sample* sample) {
  const auto read = [&](const char* key, bool has) {
    const int64_t expected = has && !sample->target_ids.empty() ? width : 0;
    std::vector<double> vector = reader.Numbers(key);
    if (std::ssize(vector) == expected) return vector;
    reader.Fail(fmt::format("has a {} of {} numbers, expected {}", key, vector.size(), expected));
  };
  sample->shared = {.text_W = read("text_vector", !sample->source_ids.empty()),
                    .picture_W = read("picture_vector", !sample->pixels.empty())};
}

// Empty where nothing is said of the input yet.
void ReadTargets(const ObjectReader& reader, const ModelConfig& config, Sample* sample) {
  sample->target = reader.Text("target");
  sample->target_ids = reader.Ids("target_ids", config.head_width());
  if (config.decoder || sample->target_ids.empty()) return;
  const bool of_tokens = config.pooling == Pooling::kTokens;
  const size_t expected = of_tokens ? sample->source_ids.size() : 1;
  if (sample->target_ids.size() == expected) return;
  reader.Fail(fmt::format("has {} target_ids, expected {}, one for {}", sample->target_ids.size(),
                          expected, of_tokens ? "each of source_ids" : "the whole input"));
}

Sample SampleFromJson(const Json& object, const ModelConfig& config, const std::string& where) {
  std::vector<std::string> keys = {"source",     "source_ids", "target",
                                   "target_ids", "score",      "token_log_probabilities",
                                   "top_logits"};
  if (config.next_word_input) keys.emplace_back("next_words");
  if (config.patches || config.fusion) keys.emplace_back("pixels");
  if (config.fusion) keys.emplace_back("nodes");
  const int64_t shared_width = config.fusion ? config.fusion->shared_width : 0;
  if (shared_width > 0) keys.insert(keys.end(), {"text_vector", "picture_vector"});
  if (config.frames) keys.emplace_back("sound");
  const ObjectReader reader(object, std::move(keys), where);
  Sample sample;
  ReadInput(reader, config, &sample);
  ReadTargets(reader, config, &sample);
  if (shared_width > 0) ReadVectors(reader, shared_width, &sample);
  sample.score = reader.Number("score");
  sample.token_log_probabilities = reader.Numbers("token_log_probabilities");
  const size_t steps = sample.target_ids.size();
  if (config.next_word_input) {
    sample.next_words = reader.Ids("next_words", std::ssize(sample.source_ids));
    if (sample.next_words.size() != steps) {
      reader.Fail(fmt::format("has {} next_words, expected one for each of {} ids",
                              sample.next_words.size(), steps));
    }
  }
  if (sample.token_log_probabilities.size() != steps) {
    reader.Fail(fmt::format("has {} token_log_probabilities, expected one for each of {} ids",
                            sample.token_log_probabilities.size(), steps));
  }
  double sum = 0;
  for (const double value : sample.token_log_probabilities) sum += value;
  if (!(std::abs(sum - sample.score) <= 1e-6 * (1 + std::abs(sum)))) {
    reader.Fail(fmt::format("has score {}, expected the sum of its token_log_probabilities, {}",
                            sample.score, sum));
  }
  for (const Json& item : reader.List("top_logits")) {
    const ObjectReader top(item, {"position", "ids", "logits"}, where + ": top_logits");
    sample.top_logits.push_back({top.Whole("position", static_cast<int64_t>(steps)),
                                 top.Ids("ids", config.head_width()), top.Numbers("logits")});
    if (sample.top_logits.back().ids.size() != sample.top_logits.back().logits.size())
      top.Fail("has lists of different length, expected a logit for each id");
  }
  return sample;
}

}  // namespace

Json SamplesToJson(const std::vector<Sample>& samples) {
  Json list = Json::array();
  for (const Sample& sample : samples) {
    Json top_logits = Json::array();
    for (const TopLogits& top : sample.top_logits) {
      top_logits.push_back({{"position", top.position}, {"ids", top.ids}, {"logits", top.logits}});
    }
    list.push_back({{"source", sample.source},
                    {"source_ids", sample.source_ids},
                    {"target", sample.target},
                    {"target_ids", sample.target_ids},
                    {"score", sample.score},
                    {"token_log_probabilities", sample.token_log_probabilities},
                    {"top_logits", std::move(top_logits)}});
    if (sample.nodes || !sample.pixels.empty()) list.back()["pixels"] = HexOf(sample.pixels);
    if (sample.nodes) list.back()["nodes"] = *sample.nodes;
    if (sample.shared) {
      list.back()["text_vector"] = sample.shared->text_W;
      list.back()["picture_vector"] = sample.shared->picture_W;
    }
    if (!sample.sound.empty()) list.back()["sound"] = HexOf(BytesOf(sample.sound));
    if (!sample.next_words.empty()) list.back()["next_words"] = sample.next_words;
  }
  return list;
}

std::vector<Sample> SamplesFromJson(const Json& list, const ModelConfig& config,
                                    const std::string& where) {
  if (!list.is_array())
    throw Error(ErrorKind::kInput, fmt::format("{}: expected a list of samples", where));
  std::vector<Sample> samples;
  for (const Json& item : list) {
    samples.push_back(
        SampleFromJson(item, config, fmt::format("{}: sample {}", where, samples.size())));
  }
  return samples;
}

}  // namespace attend
