#include "train/tasks/fusion/fusion_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "model/config_file.h"
#include "nn/bf16_products.h"
#include "tasks/encoder_runner.h"
#include "train/loop/training_speed.h"
#include "train/tasks/class_validation.h"
#include "train/tasks/fusion/fusion.h"
#include "train/tasks/fusion/fusion_export.h"
#include "train/tasks/fusion/fusion_options.h"
#include "train/tasks/fusion/item_scores.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

nn::FusionModel MakeModel(const TrainOptions& options, const KnowledgeGraph& graph) {
  TrainOptions copy = options;
  const auto shape = GraphShapeOf(graph, FieldsToJson(RecordedFields(copy)), "options");
  const OptimizationOptions& how = options.optimization;
  nn::FusionModel model(
      options.model, shape,
      nn::Dropout{how.dropout, how.dropout, how.attention_dropout, how.activation_dropout},
      static_cast<uint64_t>(options.seed));
  if (FusionOptionsOf(options).contrastive_weight > 0) model->LearnScale();
  if (FusionOptionsOf(options).single_input_weight > 0) model->LearnAlone();
  return model;
}

torch::Tensor LabelsOf(const Examples& examples) {
  std::vector<int64_t> labels;
  for (const Example example : examples) labels.push_back(example.Ids(kItemLabelColumn)[0]);
  return torch::tensor(labels, torch::kInt64);
}

std::string Shown(const Item& item) {
  if (item.text) return *item.text;
  return item.id.empty() ? ShortName(item.picture) : item.id;
}

}  // namespace

FusionTask::FusionTask(const TaskSetup& setup, ItemCorpora items)
    : options_(*setup.options),
      threads_(setup.settings->threads),
      items_(std::move(items)),
      model_(MakeModel(options_, items_.graph)),
      loss_(options_.optimization.label_smoothing, /*pad_id=*/-1,
            options_.optimization.label_smoothing_mass),
      picture_work_(ProductOperations(options_.model, 0, 1)) {
  token_work_ = ProductOperations(options_.model, 1, 1) - picture_work_;
}

const TaskInfo& FusionTask::info() const { return TrainableFusion().info; }

double FusionTask::Work(const Example& example) const {
  const bool picture = example.Length(kItemPatchColumn) > 0;
  return token_work_ * static_cast<double>(1 + example.Length(kItemTextColumn)) +
         (picture ? picture_work_ : 0);
}

torch::Tensor FusionTask::Loss(const Shard& shard, uint64_t seed) {
  const nn::Bf16Products bf16(torch::kCPU, options_.optimization.Bf16Products());
  nn::FusionDropoutKey key;
  key.seed = seed;
  key.text_row = shard.tokens_before[kItemTextColumn];
  key.picture_row = shard.tokens_before[kItemPatchColumn];
  key.joint_row =
      shard.examples_before + key.text_row + key.picture_row + shard.tokens_before[kItemNodeColumn];
  const nn::FusionOutput output = model_->Read(PackItems(shard.examples, patches()), key);
  const FusionOptions& own = FusionOptionsOf(options_);
  const torch::Tensor labels_B = LabelsOf(shard.examples);
  torch::Tensor loss = loss_->forward(output.logits_BL, labels_B).loss;
  for (const auto& [logits_AL, items_A] : output.alone) {
    const torch::Tensor labels_A = labels_B.index_select(0, items_A);
    loss = loss + own.single_input_weight * loss_->forward(logits_AL, labels_A).loss;
  }
  if (own.contrastive_weight == 0 || !output.texts_PW.defined()) return loss;
  return loss + own.contrastive_weight *
                    nn::ContrastiveLoss(output.texts_PW, output.pictures_PW, model_->log_scale);
}

ValidationResult FusionTask::Validate() {
  const ItemCorpus& valid = *items_.valid;
  const PredictedClasses found =
      PredictClasses(valid, options_, torch::kCPU, threads_, [&](const Examples& examples) {
        const torch::Tensor logits_BL = model_->forward(PackItems(examples, patches()));
        return ScoredExamples{logits_BL, loss_->forward(logits_BL, LabelsOf(examples))};
      });
  std::vector<std::string> expected;
  for (int64_t i = 0; i < valid.size(); ++i) expected.push_back(valid.item(i).label);
  ValidationResult result;
  result.metrics = ClassMetrics(found, expected);
  for (const int64_t i : ShownOf(valid.size())) {
    std::string picture;
    if (std::vector<uint8_t> pixels = valid.Pixels(i); !pixels.empty()) {
      Picture shown(patches().width, patches().height, patches().channels);
      shown.pixels = std::move(pixels);
      picture = ReportPicture(shown);
    }
    result.samples.push_back(
        {Shown(valid.item(i)), expected[i], found.names[i], std::move(picture)});
  }
  return result;
}

Json FusionTask::Digests() const {
  Json digests = Json::object();
  digests["train_items"] = items_.train->sha256();
  if (items_.valid != nullptr) digests["valid_items"] = items_.valid->sha256();
  if (!items_.graph.nodes.empty()) digests["graph"] = Sha256(GraphText(items_.graph));
  digests["vocabulary"] = Sha256(items_.vocabulary->bytes());
  return digests;
}

Json FusionTask::ForExport() const {
  const ItemCorpus& from = items_.valid != nullptr ? *items_.valid : *items_.train;
  return {{"sample_items", SampleItems(from, *options_.model.fusion)}};
}

void FusionTask::SaveFiles(const std::filesystem::path& directory) const {
  WriteFileAtomically(directory / kJointVocabularyFile, items_.vocabulary->bytes());
  if (!items_.graph.nodes.empty())
    WriteFileAtomically(directory / kGraphFile, GraphText(items_.graph));
}

void FusionTask::Describe(const Log& log) const {
  const auto tell = [&](const char* name, const ItemCorpus* items) {
    if (items == nullptr) return;
    log(LogLevel::kInfo, fmt::format("{}: {}", name, items->Summary()));
    if (items->cut() == 0) return;
    log(LogLevel::kWarning,
        fmt::format("{} texts of these are longer than the {} tokens that the model can read and "
                    "are cut",
                    items->cut(), MaxEncoderTokens(options_.model)));
  };
  tell("training items", items_.train.get());
  tell("validation items", items_.valid.get());
  const KnowledgeGraph& graph = items_.graph;
  log(LogLevel::kInfo,
      fmt::format("{} labels; a graph of {} nodes, {} relations and {} triples", Choices(),
                  graph.nodes.size(), graph.relations.size(), graph.triples.size()));
}

Json FusionTask::CheckData(const Log& /*log*/) const { return Json::object(); }

Json FusionTask::Plan(const CorpusReport& /*read*/) const {
  return ClassPlan(items_, options_.model.labels);
}

Json FusionTask::Test(const TestSetting& setting) {
  if (items_.test == nullptr) return {};
  setting.tell(fmt::format("classifying the test items: {}", items_.test->Summary()));
  return TestItems(setting, *items_.test, threads_);
}

}  // namespace attend
