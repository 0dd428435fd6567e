#include "train/tasks/translation/translation_export.h"

#include <algorithm>
#include <limits>

#include "tasks/translation/protection.h"
#include "tasks/translation/translation_search.h"
#include "text/target_order.h"
#include "text/tokenizer.h"
#include "train/tasks/run_model.h"
#include "train/tasks/translation/translation_train_options.h"
#include "train/tasks/vocabulary_choice.h"

namespace attend {
namespace {

torch::Tensor Row(const std::vector<int32_t>& ids) {
  return torch::tensor(std::vector<int64_t>(ids.begin(), ids.end()), torch::kInt64).unsqueeze(0);
}

// One step of greedy decoding; returns false after eos.
bool Step(nn::SequenceModelImpl& model, const std::vector<int32_t>& source,
          std::vector<int32_t>* prefix, Sample* sample) {
  const SpecialIds ids = model.config().special_ids;
  const torch::Tensor hidden_BTD =
      model.PaddedHidden(Row(source), Row(*prefix), /*source_padded=*/false);
  const torch::Tensor logits_V =
      model.Logits(hidden_BTD.select(1, -1)).squeeze(0).to(torch::kFloat64);
  torch::Tensor allowed_V = logits_V.clone();
  for (const int64_t id : {ids.pad, ids.bos, ids.unk})
    if (id >= 0 && id != ids.eos) allowed_V[id] = -std::numeric_limits<double>::infinity();
  const auto next = static_cast<int32_t>(allowed_V.argmax().item<int64_t>());
  AddStep(logits_V, next, sample);
  prefix->push_back(next);
  return next != ids.eos;
}

}  // namespace

Json DescribeTokenization(const TrainOptions& options, const Vocabularies& vocabularies) {
  Json tokenization = Json::object();
  tokenization["kind"] = TypeName(vocabularies.source->type());
  tokenization["joint"] = vocabularies.joint();
  VocabularyOptions vocabulary = TranslationOf(options).corpus.vocabulary;
  tokenization["case"] = Fields(vocabulary).Find("case")->ValueText();
  AddProtection(TranslationOf(options).corpus.protection, &tokenization);
  AddTargetOrder(TranslationOf(options).corpus.right_to_left, &tokenization);
  return tokenization;
}

Json SampleSources(const std::vector<std::string>& lines) {
  Json sources = Json::array();
  for (const std::string& line : lines) {
    if (sources.size() < kExportedSamples) sources.push_back(line);
  }
  return sources;
}

Sample WriteGreedily(nn::SequenceModelImpl& model, std::vector<int32_t> source, int64_t limit) {
  const torch::NoGradGuard no_grad;
  Sample sample;
  std::vector<int32_t> prefix = model.config().TargetFrame().begin;
  for (int64_t step = 0; step < limit && Step(model, source, &prefix, &sample); ++step) {
  }
  sample.source_ids = std::move(source);
  return sample;
}

Sample MakeSample(nn::SequenceModelImpl& model, const Vocabularies& vocabularies,
                  const std::string& source) {
  const ModelConfig& config = model.config();
  const std::vector<int32_t> tokens = vocabularies.source->Encode(source);
  Sample sample = WriteGreedily(model, config.EncoderIds(tokens),
                                config.MaxOutput(std::ssize(tokens) + kExtraLength));
  sample.source = source;
  sample.target = vocabularies.target->Decode(sample.target_ids);
  return sample;
}

void CompleteTranslationModel(const ExportedRun& run, Model* model) {
  Vocabularies vocabularies = LoadVocabularies(run.directory());
  CheckTrainedWith(run, "source vocabulary", *vocabularies.source);
  CheckTrainedWith(run, "target vocabulary", *vocabularies.target);
  model->source_vocabulary = vocabularies.source->bytes();
  model->target_vocabulary = vocabularies.target->bytes();
  model->tokenization = MemberOf<Json>(run.identity.task, "tokenization", run.where);
  if (WritesRightToLeft(model->tokenization)) vocabularies.target = vocabularies.target->Reversed();
  const Json text = run.identity.task.value("training_text", Json());  // none in older versions
  if (!text.is_null()) FieldsFromJson(text, Fields(model->training_text.emplace()), run.where);
  const auto module = SequenceModelOf(*model, torch::kCPU);
  std::vector<Sample> samples;
  for (const std::string& source :
       MemberOf<std::vector<std::string>>(run.identity.task, "sample_sources", run.where))
    samples.push_back(MakeSample(*module, vocabularies, source));
  model->samples = SamplesToJson(samples);
}

}  // namespace attend
