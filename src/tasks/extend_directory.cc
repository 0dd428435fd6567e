#include "tasks/extend_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "model/directory_writer.h"
#include "model/quantize.h"
#include "tasks/samples.h"
#include "text/vocabulary_extension.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr size_t kSampleTokens = 8;  // new ones, in the sample of them

// What the tensors of an extended model point to.
struct Owned {
  std::shared_ptr<const Model> model;
  std::vector<std::vector<float>> tensors;
};

// A vocabulary before and after, and for each new token the old ones that stood for its text.
struct Extended {
  std::shared_ptr<const Vocabulary> now;
  std::vector<std::vector<int32_t>> parts;
};

// The ids without those that both begin with, such as that of the space before a word.
std::vector<int32_t> PartsOf(const std::vector<int32_t>& before, const std::vector<int32_t>& now) {
  const auto [first, other] = std::ranges::mismatch(before, now);
  return {first == before.end() ? before.begin() : first, before.end()};
}

Extended ExtendOne(const std::string& bytes, std::span<const std::string> tokens,
                   const std::string& where) {
  const auto before = Vocabulary::FromBytes(bytes, where);
  Extended extended{Extend(*before, tokens, where), {}};
  for (const std::string& token : tokens) {
    std::vector<int32_t> parts = PartsOf(before->Encode(token), extended.now->Encode(token));
    const int64_t unk = before->special_ids().unk, eos = before->special_ids().eos;
    if (parts.empty()) parts.push_back(static_cast<int32_t>(unk >= 0 ? unk : eos));
    extended.parts.push_back(std::move(parts));
  }
  return extended;
}

// The tensor with a row for each list of rows: their mean.
std::vector<float> WithMeans(const TensorView& tensor,
                             std::span<const std::vector<int32_t>> parts) {
  const int64_t width = tensor.elements() / tensor.shape[0];
  std::vector<float> values(tensor.f32(), tensor.f32() + tensor.elements());
  for (const std::vector<int32_t>& rows : parts) {
    for (int64_t d = 0; d < width; ++d) {
      double sum = 0;
      for (const int32_t row : rows) sum += tensor.f32()[row * width + d];
      values.push_back(static_cast<float>(sum / static_cast<double>(rows.size())));
    }
  }
  return values;
}

// A parser's targets are symbols: no vocabulary has them.
bool WritesSymbols(const ModelConfig& config) { return !config.constituents.empty(); }

// Which vocabulary the rows of a tensor belong to: null for none.
const Extended* OwnerOf(const std::string& name, const ModelConfig& config, const Extended& source,
                        const Extended& target) {
  if (name == "encoder.embedding.weight" || name == "text.embedding.weight") return &source;
  if (WritesSymbols(config)) return nullptr;
  if (name == "decoder.embedding.weight") return &target;
  const bool of_output = name == "head.weight" || name == "head.bias";
  return of_output && config.head == HeadKind::kVocabulary ? &target : nullptr;
}

}  // namespace

std::shared_ptr<Model> ExtendModel(const std::shared_ptr<const Model>& model,
                                   std::span<const std::string> tokens) {
  if (tokens.empty()) throw Error(ErrorKind::kUsage, "no new token is given, expected some");
  if (model->source_vocabulary.empty())
    throw Error(ErrorKind::kUsage, "the model has no vocabulary, which could get new tokens");
  if (IsInt8(*model)) {
    throw Error(ErrorKind::kInput,
                "the model has int8 weights, whose new rows could not be trained; extend the f32 "
                "model that it was made of, and `attend quantize` the result");
  }
  const bool joint = model->source_vocabulary == model->target_vocabulary;
  const Extended source = ExtendOne(model->source_vocabulary, tokens,
                                    joint ? "the vocabulary" : "the source vocabulary");
  const Extended target =
      joint ? source : ExtendOne(model->target_vocabulary, tokens, "the target vocabulary");
  auto owned = std::make_shared<Owned>();
  owned->model = model;
  auto extended = std::make_shared<Model>(*model);
  ModelConfig& config = extended->config;
  // 0: no stack has it
  if (config.source_vocab_size > 0) config.source_vocab_size += std::ssize(tokens);
  if (config.target_vocab_size > 0 && !WritesSymbols(config))
    config.target_vocab_size += std::ssize(tokens);
  extended->source_vocabulary = source.now->bytes();
  extended->target_vocabulary = target.now->bytes();
  Json& added = extended->provenance["added_tokens"];
  if (!added.is_array()) added = Json::array();
  for (const std::string& token : tokens) added.push_back(token);
  extended->tensors = TensorTable(owned);
  owned->tensors.reserve(model->tensors.tensors().size());
  for (TensorView tensor : model->tensors.tensors()) {
    if (const Extended* owner = OwnerOf(tensor.name, config, source, target)) {
      const std::vector<float>& values =
          owned->tensors.emplace_back(WithMeans(tensor, owner->parts));
      tensor.shape[0] += std::ssize(tokens);
      tensor.data = reinterpret_cast<const std::byte*>(values.data());
    }
    extended->tensors.Add(std::move(tensor));
  }
  return extended;
}

int64_t ExtendDirectory(const fs::path& from, std::span<const std::string> tokens,
                        const fs::path& to) {
  std::error_code not_there;
  if (fs::equivalent(from, to, not_there)) {
    throw Error(ErrorKind::kUsage, fmt::format("the output '{}' is the model itself; name another "
                                               "directory",
                                               to.string()));
  }
  CheckReplaceable(to);
  const auto model = LoadModel(from);
  const std::shared_ptr<Model> extended = ExtendModel(model, tokens);
  const ModelConfig& config = model->config;
  if (config.head != HeadKind::kNone) {
    std::vector<Sample> samples = SamplesFromJson(model->samples, config, from);
    if (!config.frames && !WritesSymbols(config)) {
      const auto vocabulary = Vocabulary::FromBytes(extended->source_vocabulary, "the vocabulary");
      const auto shown = tokens.first(std::min<size_t>(tokens.size(), kSampleTokens));
      samples.push_back(
          SampleOf(extended->config, *vocabulary, fmt::format("{}", fmt::join(shown, " "))));
    }
    extended->samples = SamplesToJson(RemakeSamples(extended, std::move(samples)));
  }
  SaveModel(*extended, to);
  return config.encoder && config.ReadsTokens() ? config.source_vocab_size
                                                : config.target_vocab_size;
}

}  // namespace attend
