#include "train/tasks/language_model/language_model_export.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "attend/nn/transformer.h"
#include "attend/vocabulary.h"
#include "model/sample.h"
#include "text/newlines.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_export.h"

namespace attend {
namespace {

constexpr int64_t kSampleTokens = 32;  // at most

Sample ScoreSample(nn::Transformer& transformer, const Vocabulary& vocabulary,
                   const std::vector<int32_t>& ids) {
  const torch::NoGradGuard no_grad;
  Sample sample;
  std::vector<int64_t> read = {transformer->config().special_ids.bos};
  read.insert(read.end(), ids.begin(), ids.end() - 1);
  const torch::Tensor hidden_TD =
      transformer->Decode(torch::tensor(read, torch::kInt64).unsqueeze(0)).squeeze(0);
  const torch::Tensor logits_TV = transformer->Logits(hidden_TD).to(torch::kFloat64);
  for (int64_t t = 0; t < std::ssize(ids); ++t) AddStep(logits_TV[t], ids[t], &sample);
  sample.target = DecodeText(vocabulary, ids);
  return sample;
}

}  // namespace

Json SampleIds(const Documents& documents, const ModelConfig& model) {
  Json samples = Json::array();
  const int64_t most = std::min(kSampleTokens, MaxTokens(*model.decoder));
  for (int64_t i = 0; i < std::min(kExportedSamples, documents.text_size().documents); ++i) {
    const std::span<const int32_t> ids = documents[i];
    const auto taken = ids.first(std::min(most, std::ssize(ids)));
    samples.push_back(std::vector<int32_t>(taken.begin(), taken.end()));
  }
  return samples;
}

void CompleteLanguageModel(const ExportedRun& run, Model* model) {
  auto [vocabulary, transformer] = CompleteTextModel(run, model);
  std::vector<Sample> samples;
  for (const auto& ids :
       MemberOf<std::vector<std::vector<int32_t>>>(run.identity.task, "sample_ids", run.where))
    samples.push_back(ScoreSample(transformer, *vocabulary, ids));
  model->samples = SamplesToJson(samples);
}

}  // namespace attend
