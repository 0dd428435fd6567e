#include "train/tasks/masked_language_model/masked_language_model_export.h"

#include <algorithm>
#include <vector>

#include "attend/nn/transformer.h"
#include "attend/vocabulary.h"
#include "model/sample.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_export.h"

namespace attend {
namespace {

constexpr int64_t kSampleTokens = 32;  // at most

Sample SampleOf(nn::Transformer& transformer, const Vocabulary& vocabulary,
                std::vector<int32_t> read, const std::vector<int32_t>& hidden) {
  const torch::NoGradGuard no_grad;
  Sample sample;
  const torch::Tensor logits_SV =
      transformer->Logits(transformer->PackedEncode(PackIds(read))).to(torch::kFloat64);
  for (int64_t i = 0; i < std::ssize(read); ++i)
    AddStep(logits_SV[i], hidden[i] == kNotMasked ? read[i] : hidden[i], &sample);
  sample.target = vocabulary.Decode(sample.target_ids);
  sample.source_ids = std::move(read);
  return sample;
}

}  // namespace

Json MaskedSamples(const ExampleTable& contexts) {
  Json samples = Json::array();
  for (int64_t row = 0; row < std::min(kExportedSamples, contexts.size()); ++row) {
    const auto take = [&](int64_t column) {
      const std::span<const int32_t> ids = contexts[row].Ids(column);
      return std::vector<int32_t>(ids.begin(),
                                  ids.begin() + std::min(kSampleTokens, std::ssize(ids)));
    };
    samples.push_back({take(0), take(1)});
  }
  return samples;
}

void CompleteMaskedLanguageModel(const ExportedRun& run, Model* model) {
  auto [vocabulary, transformer] = CompleteTextModel(run, model);
  using Ids = std::vector<int32_t>;
  std::vector<Sample> samples;
  for (const std::vector<Ids>& ids :
       MemberOf<std::vector<std::vector<Ids>>>(run.identity.task, "samples", run.where))
    samples.push_back(SampleOf(transformer, *vocabulary, ids[0], ids[1]));
  model->samples = SamplesToJson(samples);
}

}  // namespace attend
