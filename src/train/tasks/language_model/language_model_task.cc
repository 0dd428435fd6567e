#include "train/tasks/language_model/language_model_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attend/error.h"
#include "attend/generator.h"
#include "text/newlines.h"
#include "train/loop/training_speed.h"
#include "train/tasks/language_model/language_model.h"
#include "train/tasks/language_model/language_model_export.h"
#include "train/tasks/language_model/language_model_options.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/validation.h"

namespace attend {
namespace {

// Of a text whose tokens have this summed negative log-probability.
std::map<std::string, double> FiguresOf(double sum, const TextSize& text) {
  const auto each = [&](int64_t count) { return sum / static_cast<double>(count); };
  return {{"loss", each(text.tokens)},
          {"perplexity", std::exp(each(text.tokens))},
          {"word_perplexity", std::exp(each(text.words))},
          {"bits_per_character", each(text.characters) / std::log(2.0)}};
}

}  // namespace

LanguageModelTask::LanguageModelTask(const TaskSetup& setup, PlainText text)
    : TextTask(setup, text.texts()), text_(std::move(text)) {
  if (text_.valid != nullptr) valid_contexts_ = text_.valid->documents().Contexts();
}

const TaskInfo& LanguageModelTask::info() const { return TrainableLanguageModel().info; }

int64_t LanguageModelTask::CountTargets(const Examples& examples) const {
  int64_t targets = 0;
  for (const Example example : examples) targets += example.Length(0) - 1;
  return targets;
}

double LanguageModelTask::Work(const Example& example) const {
  return ProductOperations(options_.model, 0, 1) * static_cast<double>(example.Length(0) - 1);
}

nn::LossSums LanguageModelTask::LossOf(const Examples& examples,
                                       const std::optional<nn::DropoutKey>& dropout) {
  torch::Tensor next_R = PackIds(examples, 0, 1, 0).ids_R;
  const torch::Tensor hidden_RD = HiddenOf(PackIds(examples, 0, 0, 1), dropout, {&next_R});
  return loss_->FromHidden(hidden_RD, transformer_->OutputWeight(), transformer_->OutputBias(),
                           next_R);
}

double LanguageModelTask::ValidationSum() {
  const auto sums = MeasureBatches<double>(
      *valid_contexts_, options_.optimization, device_, threads_,
      [&](std::span<const int64_t> rows) {
        return LossOf(Examples(&*valid_contexts_, rows), std::nullopt).nll.item<double>();
      });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

ValidationResult LanguageModelTask::Validate() {
  ValidationResult result;
  result.metrics = FiguresOf(ValidationSum(), text_.valid->text_size());
  WriteSamples(&result);
  return result;
}

// What the model writes after the beginnings of the validation text.
void LanguageModelTask::WriteSamples(ValidationResult* result) {
  constexpr int64_t kShown = 4, kPrompt = 16, kWritten = 64;
  std::vector<std::vector<int32_t>> prompts, references;
  for (int64_t i = 0; i < std::min(kShown, text_.valid->text_size().documents); ++i) {
    const std::span<const int32_t> ids = text_.valid->documents()[i];
    const auto prompt = std::min(kPrompt, std::ssize(ids) - 1);
    const auto end = std::min(prompt + kWritten, std::ssize(ids));
    prompts.emplace_back(ids.begin(), ids.begin() + prompt);
    references.emplace_back(ids.begin() + prompt, ids.begin() + end);
  }
  const int64_t room = MaxTokens(*options_.model.decoder);
  if (room < 2 * kPrompt) return;
  const Generator generator(CurrentModel(), {.threads = threads_});
  GenerationOptions options;
  options.max_tokens = kWritten;
  options.temperature = 0.8;
  options.seed = options_.seed;
  const auto outputs = generator.GenerateIds(prompts, options);
  for (size_t i = 0; i < prompts.size(); ++i) {
    result->samples.push_back({DecodeText(*text_.vocabulary, prompts[i]),
                               DecodeText(*text_.vocabulary, references[i]), outputs[i][0].text});
  }
}

std::shared_ptr<Model> LanguageModelTask::CurrentModel() {
  auto model = std::make_shared<Model>(CopyModel(*transformer_));
  model->source_vocabulary = model->target_vocabulary = text_.vocabulary->bytes();
  return model;
}

Json LanguageModelTask::ForExport() const {
  return {{"sample_ids", SampleIds(text_.ValidationOrTraining().beginning(), options_.model)}};
}

void LanguageModelTask::Describe(const Log& log) const {
  TextTask::Describe(log);
  if (NewlineId(*text_.vocabulary) >= 0) return;
  log(LogLevel::kWarning,
      fmt::format("the vocabulary has no {} token, so the model does not learn where lines end; "
                  "make one with `attend vocab --newline`",
                  kNewline));
}

// Each document in windows of a context's length that move on by half of one.
Json LanguageModelTask::TestText(const TestSetting& setting) {
  std::vector<std::vector<int32_t>> documents;
  for (int64_t i = 0; i < text_.test->text_size().documents; ++i) {
    const std::span<const int32_t> ids = text_.test->documents()[i];
    documents.emplace_back(ids.begin(), ids.end() - 1);  // the end is scored besides
  }
  const int64_t context = LanguageModelOf(options_).text.context.context_tokens;
  setting.tell(fmt::format("scoring {} documents of the test text", documents.size()));
  const Generator generator(setting.model, {.threads = threads_});
  double sum = 0;
  for (const TextScore& score : generator.ScoreIds(
           documents, {.window = context, .stride = std::max<int64_t>(context / 2, 1)}))
    sum -= score.log_probability;
  Json scores = Json::object();
  for (const auto& [name, value] : FiguresOf(sum, text_.test->text_size())) scores[name] = value;
  return scores;
}

std::unique_ptr<TrainingTask> SetUpLanguageModel(const TaskSetup& setup) {
  // A context's last token is not read, but bos is.
  PlainText text =
      SetUpPlainText(setup, &LanguageModelOf(*setup.options).text, /*tokens_at_ends=*/0);
  return std::make_unique<LanguageModelTask>(setup, std::move(text));
}

}  // namespace attend
