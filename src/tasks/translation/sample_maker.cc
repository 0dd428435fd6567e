#include "tasks/translation/sample_maker.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/translator.h"
#include "attend/vocabulary.h"
#include "engine/transformer.h"

namespace attend {
namespace {

// Runs the decoder over the sample's own output; logits [T, V].
std::vector<float> ForcedLogits(const Transformer& transformer, const Sample& sample) {
  Workspace workspace;
  transformer.StartAll({&sample.source_ids, 1}, {}, &workspace);
  auto previous = static_cast<int32_t>(transformer.config().special_ids.bos);
  for (const int32_t id : sample.target_ids) {
    workspace.rows.push_back({0, previous});
    previous = id;
  }
  transformer.Decode({}, &workspace);
  std::vector<float> logits_TV(sample.target_ids.size() * transformer.config().target_vocab_size);
  transformer.Logits(&workspace, logits_TV.data());
  return logits_TV;
}

TopLogits TopOf(std::span<const float> logits_V, int64_t position) {
  std::vector<int32_t> order(logits_V.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<int64_t>(kSampleTopLogits, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int32_t a, int32_t b) {
    return logits_V[a] != logits_V[b] ? logits_V[a] > logits_V[b] : a < b;
  });
  TopLogits top{position, {order.begin(), order.begin() + count}, {}};
  for (const int32_t id : top.ids) top.logits.push_back(logits_V[id]);
  return top;
}

double LogSum(std::span<const float> logits_V) {
  const double largest = *std::ranges::max_element(logits_V);
  double sum = 0;
  for (const float logit : logits_V) sum += std::exp(logit - largest);
  return largest + std::log(sum);
}

void Remake(const Translator& translator, const Transformer& transformer, Sample* sample) {
  const auto eos = static_cast<int32_t>(transformer.config().special_ids.eos);
  std::vector<int32_t> source = sample->source_ids;
  if (!source.empty() && source.back() == eos) source.pop_back();
  const Hypothesis found = translator.TranslateIds({{source}}, {.beam_size = 1})[0].hypotheses[0];
  sample->target_ids = found.ids;
  if (found.finished) sample->target_ids.push_back(eos);
  sample->token_log_probabilities.clear();
  sample->top_logits.clear();
  const std::vector<float> logits_TV = ForcedLogits(transformer, *sample);
  const int64_t width = transformer.config().target_vocab_size;
  for (int64_t t = 0; t < std::ssize(sample->target_ids); ++t) {
    const std::span<const float> logits_V(logits_TV.data() + t * width, width);
    sample->token_log_probabilities.push_back(logits_V[sample->target_ids[t]] - LogSum(logits_V));
    sample->top_logits.push_back(TopOf(logits_V, t));
  }
  sample->score = std::accumulate(sample->token_log_probabilities.begin(),
                                  sample->token_log_probabilities.end(), 0.0);
}

}  // namespace

std::vector<Sample> RemakeSamples(const std::shared_ptr<const Model>& model,
                                  std::vector<Sample> samples) {
  const Translator translator(model, {.threads = 1, .instruction_set = "reference"});
  const Transformer transformer(model, "reference");
  for (Sample& sample : samples) Remake(translator, transformer, &sample);
  if (model->target_vocabulary.empty()) return samples;
  const auto vocabulary = Vocabulary::FromBytes(model->target_vocabulary, "target vocabulary");
  for (Sample& sample : samples) sample.target = vocabulary->Decode(sample.target_ids);
  return samples;
}

}  // namespace attend
