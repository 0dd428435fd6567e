#include "train/tasks/label_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/nn/crf.h"
#include "tasks/encoder_runner.h"
#include "text/lines.h"
#include "text/text_words.h"
#include "text/utf8.h"
#include "train/loop/training_speed.h"
#include "train/tasks/label_options.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/validation.h"

namespace attend {
namespace {

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

// At most so many words.
std::string BeginningOf(const std::string& text, int64_t words) {
  const std::vector<size_t> ends = WordEnds(text);
  return std::ssize(ends) > words ? text.substr(0, ends[words - 1]) : text;
}

int64_t LabelsIn(const Example& example) {
  const std::span<const int32_t> labels = example.Ids(1);
  return std::ssize(labels) - std::ranges::count(labels, kNoLabel);
}

}  // namespace

LabelTask::LabelTask(const TaskSetup& setup, LabelCorpora text)
    : TextTask(setup, text.texts()), text_(std::move(text)) {
  const double share = LabelOptionsOf(*setup.options).word_dropout;
  if (share > 0)
    dropped_.emplace(text_.train.get(), vocabulary(), share, static_cast<uint64_t>(options_.seed));
}

const ExampleSource& LabelTask::examples() const {
  if (dropped_) return *dropped_;
  return *text_.train;
}

int64_t LabelTask::CountTargets(const Examples& examples) const {
  int64_t targets = 0;
  for (const Example example : examples) targets += LabelsIn(example);
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
  const torch::Tensor hidden_RD = HiddenOf(read, dropout, {&wanted.rows_N, &wanted.labels_N});
  const torch::Tensor labelled_ND =
      by_token ? hidden_RD.index_select(0, wanted.rows_N) : transformer_->Pool(hidden_RD, read);
  // On a GPU products in bf16 have such results.
  return {transformer_->Logits(labelled_ND).to(torch::kFloat32), wanted.labels_N,
          wanted.offsets_B1};
}

nn::LossSums LabelTask::LossOfScored(const Scored& scored) {
  if (!config().crf) return loss_->forward(scored.logits_NL, scored.labels_N);
  const torch::Tensor loss =
      nn::CrfLoss(scored.logits_NL, scored.labels_N, scored.offsets_B1, transformer_->head->crf);
  return {loss, scored.labels_N.size(0), loss.detach()};
}

nn::LossSums LabelTask::LossOf(const Examples& examples,
                               const std::optional<nn::DropoutKey>& dropout) {
  return LossOfScored(Score(examples, dropout));
}

std::vector<std::vector<float>> LabelTask::ScoreValidation(double* loss) {
  const ExampleTable& table = text_.valid->table();
  std::vector<std::vector<float>> by_row(table.size());
  const auto sums = MeasureBatches<nn::LossSums>(
      table, options_.optimization, device_, threads_, [&](std::span<const int64_t> rows) {
        const Scored scored = Score(Examples(&table, rows), std::nullopt);
        const torch::Tensor logits_NL = scored.logits_NL.cpu().contiguous();
        const float* from = logits_NL.const_data_ptr<float>();
        const int64_t* offsets = scored.offsets_B1.const_data_ptr<int64_t>();
        for (size_t i = 0; i < rows.size(); ++i)
          by_row[rows[i]].assign(from + offsets[i] * Choices(), from + offsets[i + 1] * Choices());
        return LossOfScored(scored);
      });
  *loss = MeanLoss(sums);
  std::vector<std::vector<float>> by_item(text_.valid->items().size());
  for (int64_t row = 0; row < table.size(); ++row) {
    std::vector<float>& item = by_item[text_.valid->item_of()[row]];
    item.insert(item.end(), by_row[row].begin(), by_row[row].end());
  }
  return by_item;
}

ValidationResult LabelTask::Validate() {
  double loss = 0;
  const std::vector<std::vector<float>> scores = ScoreValidation(&loss);
  BeginPrediction();
  Predictions found;
  for (const std::vector<float>& item : scores) found.push_back(Choose(item));
  const std::vector<LabelledItem>& items = text_.valid->items();
  ValidationResult result;
  result.metrics = Figures(items, found);
  result.metrics["loss"] = loss;
  for (const int64_t i : ShownOf(std::ssize(found)))
    result.samples.push_back(SampleOf(items[i], found[i]));
  return result;
}

std::vector<std::string> LabelTask::NamesOf(std::span<const int32_t> labels) const {
  std::vector<std::string> names;
  for (const int32_t label : labels) names.push_back(config().labels[label]);
  return names;
}

// Texts, and their ids, that the exported model is to prove itself on.
Json LabelTask::ForExport() const {
  constexpr int64_t kMostWords = 16, kMostTokens = 64;
  const LabelledCorpus& corpus = text_.valid != nullptr ? *text_.valid : *text_.train;
  Json texts = Json::array(), ids = Json::array();
  for (const LabelledItem& item : corpus.items()) {
    if (std::ssize(texts) == kExportedSamples) break;
    const std::string text = BeginningOf(RepairUtf8(JoinWords(item.words)), kMostWords);
    const std::vector<int32_t> found = ReadLabelled(config(), vocabulary(), text);
    if (std::ssize(found) > kMostTokens) continue;
    texts.push_back(text);
    ids.push_back(found);
  }
  return {{"sample_texts", texts}, {"sample_ids", ids}};
}

void LabelTask::Describe(const Log& log) const {
  TextTask::Describe(log);
  log(LogLevel::kInfo, fmt::format("{} labels", Choices()));
  const bool by_token = config().pooling == Pooling::kTokens;
  const auto tell = [&](const char* name, const LabelledCorpus* corpus) {
    if (corpus == nullptr || corpus->longer().count == 0) return;
    log(by_token ? LogLevel::kInfo : LogLevel::kWarning,
        fmt::format("{} items of the {} text ({}) are longer than the {} tokens that the model can "
                    "read and are {}",
                    corpus->longer().count, name, corpus->longer().Text(),
                    MaxEncoderTokens(config()), by_token ? "divided between words" : "cut"));
  };
  tell("training", text_.train.get());
  tell("validation", text_.valid.get());
  tell("test", text_.test.get());
}

Json LabelTask::Plan(const CorpusReport& read) const {
  Json plan = TextTask::Plan(read);
  plan["labels"] = config().labels;
  return plan;
}

Json LabelTask::TestText(const TestSetting& setting) {
  setting.tell(fmt::format("labelling the test text: {}", text_.test->Summary()));
  return TestModel(setting, text_.test->items());
}

}  // namespace attend
