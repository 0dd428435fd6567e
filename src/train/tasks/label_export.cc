#include "train/tasks/label_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_export.h"

namespace attend {

Sample LabelSample(nn::Transformer& transformer, const nn::PackedIds& read) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor hidden_RD = transformer->PackedEncode(read);
  const torch::Tensor logits_TL =
      transformer->Logits(transformer->Pool(hidden_RD, read)).to(torch::kFloat64);
  Sample sample;
  std::vector<std::string> names;
  for (int64_t t = 0; t < logits_TL.size(0); ++t) {
    const auto label = static_cast<int32_t>(logits_TL[t].argmax().item<int64_t>());
    AddStep(logits_TL[t], label, &sample);
    names.push_back(transformer->config().labels[label]);
  }
  sample.target = fmt::format("{}", fmt::join(names, " "));
  return sample;
}

void CompleteLabelModel(const ExportedRun& run, Model* model) {
  nn::Transformer transformer = CompleteTextModel(run, model).transformer;
  std::vector<Sample> samples;
  const auto texts =
      MemberOf<std::vector<std::string>>(run.identity.task, "sample_texts", run.where);
  const auto ids =
      MemberOf<std::vector<std::vector<int32_t>>>(run.identity.task, "sample_ids", run.where);
  for (size_t i = 0; i < std::min(texts.size(), ids.size()); ++i) {
    Sample& sample = samples.emplace_back(LabelSample(transformer, PackIds(ids[i])));
    sample.source = texts[i];
    sample.source_ids = ids[i];
  }
  model->samples = SamplesToJson(samples);
}

}  // namespace attend
