#include "tasks/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/thread_pool.h"
#include "engine/forward.h"
#include "engine/output_layer.h"
#include "media/patch_numbers.h"
#include "media/sound_frames.h"
#include "search/scores.h"
#include "tasks/loaded_model.h"
#include "tasks/task_threads.h"

namespace attend {
namespace {

// What the encoder reads of a sample. The sample must outlive it.
class SampleInput {
 public:
  SampleInput(const ModelConfig& config, const Sample& sample) : ids_(sample.source_ids) {
    if (sample.nodes) nodes_ = *sample.nodes;
    if (config.fusion && !sample.pixels.empty())
      numbers_ = PatchNumbers(config.fusion->patches).Of(sample.pixels);
    if (config.patches) numbers_ = PatchNumbers(*config.patches).Of(sample.pixels);
    if (config.frames)
      numbers_ = SoundFrames(*config.frames).Of(OfSixteenBits(sample.sound), "a sample");
  }
  EncoderItem item() const {
    EncoderItem item(ids_);
    item.numbers = numbers_;
    item.nodes = nodes_;
    return item;
  }

 private:
  std::span<const int32_t> ids_, nodes_;
  std::vector<float> numbers_;
};

Sample::SharedVectors SharedVectorsOfSample(const Weights& weights, const Sample& sample) {
  Activations activations;
  const SampleInput input(weights.config(), sample);
  const EncoderItem item = input.item();
  const auto vector = [&](FusedInput::Part part) {
    const float* const begin = SharedVectorsOf(weights, part, {&item, 1}, &activations);
    return std::vector<double>(begin, begin + weights.config().fusion->shared_width);
  };
  Sample::SharedVectors found;
  if (!item.ids.empty()) found.text_W = vector(FusedInput::Part::kText);
  if (!item.numbers.empty()) found.picture_W = vector(FusedInput::Part::kPicture);
  return found;
}

// Of a model without decoder: one row for each token, or one for the text.
std::vector<float> EncodedLogits(const Weights& weights, const Sample& sample) {
  Activations activations;
  const SampleInput input(weights.config(), sample);
  const EncoderItem item = input.item();
  const int64_t length = weights.encoder->RowsOf(item);
  Encode(weights, {&item, 1}, {}, &activations);
  const int64_t rows = Pool(weights, weights.config().pooling, {&length, 1}, &activations);
  if (rows != std::ssize(sample.target_ids)) {
    throw Error(ErrorKind::kInput, fmt::format("a sample has {} target_ids, expected {}",
                                               sample.target_ids.size(), rows));
  }
  EncoderLogits(weights, rows, &activations);
  const float* logits = activations.logits.Get(0);
  return {logits, logits + rows * weights.config().head_width()};
}

// Labels or tokens that an encoder's head finds likeliest.
void Label(const Weights& weights, Sample* sample) {
  const bool of_tokens = weights.config().pooling == Pooling::kTokens;
  sample->target_ids.assign(of_tokens ? sample->source_ids.size() : 1, 0);
  const std::vector<float> logits = EncodedLogits(weights, *sample);
  const int64_t width = weights.config().head_width();
  for (int64_t row = 0; row < std::ssize(sample->target_ids); ++row) {
    const auto begin = logits.begin() + row * width;
    sample->target_ids[row] = static_cast<int32_t>(std::max_element(begin, begin + width) - begin);
  }
}

// Runs the decoder over the sample's own output; logits [T, V].
std::vector<float> ForcedLogits(const Weights& weights, const Sample& sample) {
  if (weights.encoder_head) return EncodedLogits(weights, sample);
  Activations activations;
  DecoderCache cache;
  const SampleInput input(weights.config(), sample);
  const EncoderItem item = input.item();
  StartAll(weights, {&item, 1}, {}, &activations, &cache);
  std::vector<DecoderRow> rows;
  std::vector<int32_t> asking;
  const std::vector<int32_t> prompt = weights.config().TargetFrame().begin;
  for (const int32_t id : prompt) rows.push_back({0, id});
  for (const int32_t id : sample.target_ids) {
    asking.push_back(static_cast<int32_t>(rows.size()) - 1);
    rows.push_back({0, id});
  }
  // Its prompt is bos alone.
  for (size_t t = 0; t < sample.next_words.size(); ++t) rows[t].source_row = sample.next_words[t];
  rows.pop_back();  // nothing follows it
  Decode(weights, rows, {}, &activations, &cache);
  KeepRows(weights, asking, &activations);
  std::vector<float> logits_TV(asking.size() * weights.config().head_width());
  Logits(weights, std::ssize(asking), &activations, logits_TV.data());
  return logits_TV;
}

TopLogits TopOf(std::span<const float> logits_V, int64_t position) {
  std::vector<int32_t> ids(logits_V.size());
  std::iota(ids.begin(), ids.end(), 0);
  TopLogits top{position, BestIds(logits_V, std::move(ids), kSampleTopLogits), {}};
  for (const int32_t id : top.ids) top.logits.push_back(logits_V[id]);
  return top;
}

void Translate(const Translator& translator, const ModelConfig& config, Sample* sample) {
  const auto eos = static_cast<int32_t>(config.special_ids.eos);
  const std::span<const int32_t> tokens = config.SourceTokens(sample->source_ids);
  const std::vector<std::vector<int32_t>> sources = {{tokens.begin(), tokens.end()}};
  const Hypothesis found = translator.TranslateIds(sources, {.beam_size = 1})[0].hypotheses[0];
  sample->target_ids = found.ids;
  if (found.finished) sample->target_ids.push_back(eos);
}

void Transcribe(const Transcriber& transcriber, const ModelConfig& config, Sample* sample) {
  constexpr int64_t kLongest = 64;  // tokens; models of speech may find no end where nobody speaks
  const std::vector<float> samples = OfSixteenBits(sample->sound);
  const RecordingSamples recording{samples, transcriber.rate()};
  const Hypothesis found =
      transcriber.Transcribe({&recording, 1}, {.beam_size = 1, .max_length = kLongest})[0]
          .hypotheses[0];
  sample->target_ids = found.ids;
  if (found.finished) sample->target_ids.push_back(static_cast<int32_t>(config.special_ids.eos));
}

// Of each of these ids by its row of logits.
std::vector<double> LogProbabilities(std::span<const float> logits_TV,
                                     std::span<const int32_t> ids) {
  std::vector<double> found;
  for (size_t t = 0; t < ids.size(); ++t) {
    const size_t width = logits_TV.size() / ids.size();
    const std::span<const float> logits_V = logits_TV.subspan(t * width, width);
    found.push_back(logits_V[ids[t]] - ExpSum(logits_V).Log());
  }
  return found;
}

void Rescore(const Weights& weights, Sample* sample) {
  sample->top_logits.clear();
  const std::vector<float> logits_TV = ForcedLogits(weights, *sample);
  sample->token_log_probabilities = LogProbabilities(logits_TV, sample->target_ids);
  const int64_t width = weights.config().head_width();
  for (int64_t t = 0; t < std::ssize(sample->target_ids); ++t) {
    const std::span<const float> logits_V(logits_TV.data() + t * width, width);
    sample->top_logits.push_back(TopOf(logits_V, t));
  }
  const auto& fusion = weights.config().fusion;
  if (fusion && fusion->shared_width > 0) sample->shared = SharedVectorsOfSample(weights, *sample);
  sample->score = std::accumulate(sample->token_log_probabilities.begin(),
                                  sample->token_log_probabilities.end(), 0.0);
}

void CheckReplayable(const Weights& weights) {
  if (weights.vocabulary_head || weights.encoder_head) return;
  throw Error(ErrorKind::kUsage, "the model has no head; its samples can't be replayed");
}

}  // namespace

std::vector<std::vector<double>> ReplaySamples(const LoadedModel& loaded,
                                               std::span<const Sample> samples, int threads) {
  CheckReplayable(loaded.weights);
  TaskThreads running(threads);
  std::vector<std::vector<double>> found(samples.size());
  running.pool.ParallelFor(std::ssize(samples), [&](int64_t i, int worker) {
    if (loaded.weights.encoder_head) {
      found[i] = LogProbabilities(EncodedLogits(loaded.weights, samples[i]), samples[i].target_ids);
      return;
    }
    ForcedDecoding& decoding = running.forced[worker];
    const TextFrame frame{loaded.config().TargetFrame().begin, {}};
    const SampleInput input(loaded.config(), samples[i]);
    const EncoderItem item = input.item();
    decoding.Start(loaded.weights, {&item, 1}, {});
    decoding.Add(0, frame.Around(samples[i].target_ids), frame.size() - 1, samples[i].next_words);
    for (const Candidate& answer : decoding.Run(loaded.weights, {})) {
      found[i].push_back(answer.log_probability);
    }
  });
  return found;
}

std::vector<Sample::SharedVectors> ReplaySharedVectors(const LoadedModel& loaded,
                                                       std::span<const Sample> samples,
                                                       int threads) {
  std::vector<Sample::SharedVectors> found(samples.size());
  ThreadPool(threads).ParallelFor(std::ssize(samples), [&](int64_t i, int /*worker*/) {
    found[i] = SharedVectorsOfSample(loaded.weights, samples[i]);
  });
  return found;
}

Sample SampleOf(const ModelConfig& config, const Vocabulary& vocabulary, const std::string& text) {
  Sample sample;
  if (!config.encoder) {
    sample.target_ids = vocabulary.Encode(text);
    return sample;
  }
  sample.source = text;
  sample.source_ids = config.EncoderIds(vocabulary.Encode(text));
  if (config.fusion) sample.nodes.emplace();
  if (!config.decoder)
    sample.source_ids.insert(sample.source_ids.begin(),
                             static_cast<int32_t>(config.special_ids.bos));
  return sample;
}

std::vector<Sample> RemakeSamples(const std::shared_ptr<const Model>& model,
                                  std::vector<Sample> samples) {
  // Plain C++ takes minutes for a recording that is filled up to 30 seconds; other instruction sets
  // give the same bits.
  const auto loaded =
      Load(model, {.instruction_set = model->config.frames ? std::string() : "reference"});
  CheckReplayable(loaded->weights);
  const bool symbols = !loaded->config().constituents.empty();  // which are kept as they are
  // Outputs are the same by every instruction set; this machine's finds them soonest.
  if (loaded->config().frames) {
    const Transcriber transcriber(Load(model, {}), /*threads=*/1);
    for (Sample& sample : samples) Transcribe(transcriber, loaded->config(), &sample);
  } else if (loaded->config().encoder && loaded->config().decoder && !symbols) {
    const Translator translator(Load(model, {}), {.threads = 1});
    for (Sample& sample : samples) Translate(translator, loaded->config(), &sample);
  }
  ThreadPool(DefaultThreads()).ParallelFor(std::ssize(samples), [&](int64_t i, int /*worker*/) {
    Sample& sample = samples[i];
    if (loaded->weights.encoder_head && sample.target_ids.empty()) Label(loaded->weights, &sample);
    Rescore(loaded->weights, &sample);
    if (loaded->target_vocabulary != nullptr && loaded->weights.vocabulary_head && !symbols)
      sample.target = loaded->target().Decode(sample.target_ids);
  });
  return samples;
}

}  // namespace attend
