#include "train/tasks/label_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/nn/crf.h"
#include "base/files.h"
#include "base/sha256.h"
#include "model/config_file.h"
#include "nn/bf16_products.h"
#include "tasks/encoder_runner.h"
#include "text/utf8.h"
#include "train/device/environment.h"
#include "train/loop/training_speed.h"
#include "train/tasks/label_options.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

std::unique_ptr<const LabelledCorpus> MakeCorpus(
    const std::vector<std::string>& files, std::vector<LabelledItem> items,
    const std::shared_ptr<const Vocabulary>& vocabulary, const ModelConfig& model) {
  if (files.empty()) return nullptr;
  return std::make_unique<LabelledCorpus>(
      files, vocabulary, std::move(items), model.labels,
      LabelledOptions{model.pooling == Pooling::kTokens, MaxEncoderTokens(model)});
}

// Which rows of the packed ids have labels, and which; without rows where texts have one each.
struct LabelRows {
  torch::Tensor rows_N, labels_N, offsets_B1;
};

LabelRows LabelRowsOf(const Examples& examples, bool by_token) {
  std::vector<int64_t> rows, labels, offsets = {0};
  int64_t first = 0;
  for (const Example example : examples) {
    const std::span<const int32_t> found = example.Ids(1);
    for (size_t t = 0; t < found.size(); ++t) {
      if (found[t] == kNoLabel) continue;
      if (by_token) rows.push_back(first + static_cast<int64_t>(t));
      labels.push_back(found[t]);
    }
    first += example.Length(0);
    offsets.push_back(std::ssize(labels));
  }
  return {torch::tensor(rows, torch::kInt64), torch::tensor(labels, torch::kInt64),
          torch::tensor(offsets, torch::kInt64)};
}

int64_t LabelsIn(const Example& example) {
  const std::span<const int32_t> labels = example.Ids(1);
  return std::ssize(labels) - std::ranges::count(labels, kNoLabel);
}

}  // namespace

LabelTask::LabelTask(const TaskSetup& setup, std::shared_ptr<const Vocabulary> vocabulary,
                     LabelledTexts texts)
    : options_(*setup.options),
      vocabulary_(std::move(vocabulary)),
      threads_(setup.settings->threads),
      device_(setup.device),
      uploader_(setup.device),
      transformer_(MakeTransformer(options_, setup.device)),
      loss_(options_.optimization.label_smoothing, /*pad_id=*/-1,
            options_.optimization.label_smoothing_mass) {
  const LabelOptions& own = LabelOptionsOf(options_);
  train_ = MakeCorpus(own.train, std::move(texts.train), vocabulary_, config());
  valid_ = MakeCorpus(own.valid, std::move(texts.valid), vocabulary_, config());
  if (setup.group->first())
    test_ = MakeCorpus(own.test, std::move(texts.test), vocabulary_, config());
}

int64_t LabelTask::CountTargets(const Batch& batch) const {
  int64_t targets = 0;
  for (const Example example : batch.examples()) targets += LabelsIn(example);
  return targets;
}

double LabelTask::Work(const Example& example) const {
  return ProductOperations(config(), example.Length(0), LabelsIn(example));
}

LabelTask::Scored LabelTask::Score(const Examples& examples,
                                   const std::optional<nn::DropoutKey>& dropout) {
  const bool by_token = config().pooling == Pooling::kTokens;
  const nn::PackedIds read = PackIds(examples, 0, 0, 0);
  LabelRows wanted = LabelRowsOf(examples, by_token);
  torch::Tensor hidden_RD;
  if (device_.is_cpu()) {
    hidden_RD = transformer_->PackedEncode(read, dropout);
  } else {
    const std::vector<torch::Tensor> there = uploader_.Upload(
        {PadIds(read, config().special_ids.pad), PaddedRows(read), wanted.rows_N, wanted.labels_N});
    hidden_RD = transformer_->Encode(there[0]).hidden_BSD.flatten(0, 1).index_select(0, there[1]);
    wanted.rows_N = there[2];
    wanted.labels_N = there[3];
  }
  const torch::Tensor labelled_ND =
      by_token ? hidden_RD.index_select(0, wanted.rows_N) : transformer_->Pool(hidden_RD, read);
  return {transformer_->Logits(labelled_ND), wanted.labels_N, wanted.offsets_B1};
}

nn::LossSums LabelTask::LossOf(const Scored& scored) {
  if (!config().crf) return loss_->forward(scored.logits_NL, scored.labels_N);
  const torch::Tensor loss =
      nn::CrfLoss(scored.logits_NL, scored.labels_N, scored.offsets_B1, transformer_->head->crf);
  return {loss, scored.labels_N.size(0), loss.detach()};
}

torch::Tensor LabelTask::Loss(const Shard& shard, uint64_t seed) {
  // What does not take its numbers from the key takes them from LibTorch's generator.
  if (!device_.is_cpu()) torch::manual_seed(seed + static_cast<uint64_t>(shard.examples_before));
  const nn::Bf16Products bf16(device_, options_.optimization.Bf16Products());
  std::optional<nn::DropoutKey> key;
  if (device_.is_cpu()) key = nn::DropoutKey{seed, shard.tokens_before[0], 0};
  return LossOf(Score(shard.examples, key)).loss;
}

ValidationResult LabelTask::Validate() {
  constexpr int64_t kSamples = 8;
  const ExampleTable& table = valid_->table();
  const BatchPlan batches = BatchesByLength(table, {.tokens = options_.optimization.batch_tokens});
  std::vector<double> sums(batches.size());
  std::vector<std::vector<float>> scores(table.size());  // by row
  ThreadPool pool(device_.is_cpu() ? threads_ : 1);
  ParallelForTorch(&pool, std::ssize(batches), [&](int64_t batch) {
    const torch::NoGradGuard no_grad;
    const nn::Bf16Products bf16(device_, options_.optimization.Bf16Products());
    const Scored scored = Score(Examples(&table, batches[batch]), std::nullopt);
    sums[batch] = LossOf(scored).nll.item<double>();
    const torch::Tensor logits_NL = scored.logits_NL.cpu().contiguous();
    const float* from = logits_NL.const_data_ptr<float>();
    const int64_t* offsets = scored.offsets_B1.const_data_ptr<int64_t>();
    for (size_t i = 0; i < batches[batch].size(); ++i) {
      scores[batches[batch][i]].assign(from + offsets[i] * Choices(),
                                       from + offsets[i + 1] * Choices());
    }
  });
  ValidationResult result;
  double sum = 0;
  int64_t targets = 0;
  for (const double each : sums) sum += each;
  std::vector<std::vector<float>> by_item(valid_->items().size());
  for (int64_t row = 0; row < table.size(); ++row) {
    std::vector<float>& item = by_item[valid_->item_of()[row]];
    item.insert(item.end(), scores[row].begin(), scores[row].end());
    targets += LabelsIn(table[row]);
  }
  BeginPrediction();
  Predictions found;
  for (const std::vector<float>& item : by_item) found.push_back(Choose(item));
  result.metrics = Figures(valid_->items(), found);
  result.metrics["loss"] = sum / static_cast<double>(targets);
  for (int64_t i = 0; i < std::min(kSamples, std::ssize(found)); ++i)
    result.samples.push_back(SampleOf(valid_->items()[i], found[i]));
  return result;
}

std::vector<std::string> LabelTask::NamesOf(std::span<const int32_t> labels) const {
  std::vector<std::string> names;
  for (const int32_t label : labels) names.push_back(config().labels[label]);
  return names;
}

Model LabelTask::CurrentModel() { return CopyModel(transformer_); }

Json LabelTask::Digests() const {
  Json digests = Json::object();
  AddDigests("train", train_.get(), &digests);
  AddDigests("valid", valid_.get(), &digests);
  digests["vocabulary"] = Sha256(vocabulary_->bytes());
  return digests;
}

// Texts, and their ids, that the exported model is to prove itself on.
Json LabelTask::ForExport() const {
  constexpr int64_t kTexts = 8, kMostTokens = 64;
  const LabelledCorpus& corpus = valid_ != nullptr ? *valid_ : *train_;
  Json texts = Json::array(), ids = Json::array();
  for (int64_t row = 0; row < corpus.table().size() && std::ssize(texts) < kTexts; ++row) {
    const std::span<const int32_t> own = corpus.table()[row].Ids(0);
    std::string text;
    for (const std::string& word : corpus.items()[corpus.item_of()[row]].words)
      text += (text.empty() ? "" : " ") + word;
    text = RepairUtf8(text);
    const std::vector<int32_t> found = ReadLabelled(config(), *vocabulary_, text);
    // Not a part of a sentence, nor words that hold blanks.
    if (std::ssize(own) > kMostTokens || !std::ranges::equal(own, found)) continue;
    texts.push_back(text);
    ids.push_back(found);
  }
  return {{"sample_texts", texts}, {"sample_ids", ids}};
}

void LabelTask::SaveFiles(const std::filesystem::path& directory) const {
  WriteFileAtomically(directory / kJointVocabularyFile, vocabulary_->bytes());
}

void LabelTask::Describe(const Log& log) const {
  log(LogLevel::kInfo, fmt::format("training text: {}; {} labels", train_->Text(), Choices()));
  if (valid_ != nullptr) log(LogLevel::kInfo, fmt::format("validation text: {}", valid_->Text()));
  const bool by_token = config().pooling == Pooling::kTokens;
  const auto tell = [&](const char* name, const LabelledCorpus* corpus) {
    if (corpus == nullptr || corpus->longer().count == 0) return;
    log(by_token ? LogLevel::kInfo : LogLevel::kWarning,
        fmt::format("{} items of the {} text ({}) are longer than the {} tokens that the model can "
                    "read and are {}",
                    corpus->longer().count, name, corpus->longer().Text(),
                    MaxEncoderTokens(config()), by_token ? "divided between words" : "cut"));
  };
  tell("training", train_.get());
  tell("validation", valid_.get());
  tell("test", test_.get());
}

// Warns of a vocabulary that does not fit the text.
Json LabelTask::CheckData(const Log& log) const {
  constexpr double kMany = 0.01;
  Json counts = Json::object();
  const auto check = [&](const char* name, const LabelledCorpus* corpus) {
    if (corpus == nullptr) return;
    const int64_t tokens = corpus->report().tokens[0];
    counts[name] = {{"unknown_tokens", corpus->unknown_tokens()}, {"tokens", tokens}};
    const double share =
        static_cast<double>(corpus->unknown_tokens()) / static_cast<double>(tokens);
    if (share < kMany) return;
    log(LogLevel::kWarning,
        fmt::format("{:.1f} % of the tokens of the {} text are unknown to the vocabulary",
                    100 * share, name));
  };
  check("training", train_.get());
  check("validation", valid_.get());
  check("test", test_.get());
  return counts;
}

Json LabelTask::Plan(const CorpusReport& /*read*/) const {
  Json plan = Json::object();
  plan["train"] = train_->Text();
  plan["train_lines"] = ToJson(train_->report());
  if (valid_ != nullptr) plan["valid"] = valid_->Text();
  if (test_ != nullptr) plan["test"] = test_->Text();
  plan["vocabulary"] = vocabulary_->size();
  plan["labels"] = config().labels;
  return plan;
}

Json LabelTask::Test(const TestSetting& setting) {
  if (test_ == nullptr) return Json();
  setting.tell(fmt::format("labelling the test text: {}", test_->Text()));
  Json scores = TestModel(setting, test_->items(), threads_);
  WriteFileAtomically(setting.output / "result.json", scores.dump() + "\n");
  return scores;
}

}  // namespace attend
