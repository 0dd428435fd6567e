#include "train/tasks/masked_language_model/masked_language_model_task.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "attend/error.h"
#include "text/mask_token.h"
#include "train/loop/parameters.h"
#include "train/loop/training_speed.h"
#include "train/tasks/masked_language_model/masked_language_model.h"
#include "train/tasks/masked_language_model/masked_language_model_export.h"
#include "train/tasks/masked_language_model/masked_language_model_options.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/validation.h"

namespace attend {
namespace {

int64_t CountHidden(const Example& example) {
  return std::ranges::count_if(example.Ids(1), [](int32_t label) { return label != kNotMasked; });
}

std::unique_ptr<const MaskedCorpus> MaskedText(const std::shared_ptr<const PlainTextCorpus>& text,
                                               const TrainOptions& options,
                                               const Vocabulary& vocabulary) {
  if (text == nullptr) return nullptr;
  auto masking =
      std::make_shared<const Masking>(MaskedLanguageModelOf(options).masking, vocabulary);
  return std::make_unique<MaskedCorpus>(text, std::move(masking),
                                        static_cast<uint64_t>(options.seed));
}

// What the text's contexts are judged by.
ExampleTable Masked(const MaskedCorpus& corpus, const DocumentCorpus& text, const char* option) {
  ExampleTable contexts = corpus.Mask(text.documents().Contexts());
  if (contexts.size() > 0) return contexts;
  throw Error(ErrorKind::kInput,
              fmt::format("{} has no token that the vocabulary knows, so none can be hidden; make "
                          "the vocabulary from text like it",
                          option));
}

}  // namespace

MaskedLanguageModelTask::MaskedLanguageModelTask(const TaskSetup& setup, PlainText text)
    : TextTask(setup, text.texts()),
      text_(std::move(text)),
      train_(MaskedText(text_.train, options_, *text_.vocabulary)),
      valid_(MaskedText(text_.valid, options_, *text_.vocabulary)) {
  if (valid_ != nullptr) valid_contexts_ = Masked(*valid_, *text_.valid, "valid_text");
  if (const auto test = MaskedText(text_.test, options_, *text_.vocabulary); test != nullptr)
    test_contexts_ = Masked(*test, *text_.test, "test_text");
}

const TaskInfo& MaskedLanguageModelTask::info() const {
  return TrainableMaskedLanguageModel().info;
}

int64_t MaskedLanguageModelTask::CountTargets(const Examples& examples) const {
  int64_t targets = 0;
  for (const Example example : examples) targets += CountHidden(example);
  return targets;
}

double MaskedLanguageModelTask::Work(const Example& example) const {
  return ProductOperations(options_.model, example.Length(0), CountHidden(example));
}

MaskedLanguageModelTask::Hidden MaskedLanguageModelTask::HiddenTokens(
    const Examples& examples, const std::optional<nn::DropoutKey>& dropout) {
  const torch::Tensor labels_R = PackIds(examples, 1, 0, 0).ids_R;
  torch::Tensor rows_R = (labels_R != kNotMasked).nonzero().flatten();
  torch::Tensor tokens_R = labels_R.index_select(0, rows_R);
  const torch::Tensor hidden_RD =
      HiddenOf(PackIds(examples, 0, 0, 0), dropout, {&rows_R, &tokens_R});
  return {transformer_->HeadInput(hidden_RD.index_select(0, rows_R)), tokens_R};
}

nn::LossSums MaskedLanguageModelTask::LossOfHidden(const Hidden& hidden) {
  return loss_->FromHidden(hidden.input_RD, transformer_->OutputWeight(),
                           transformer_->OutputBias(), hidden.tokens_R);
}

nn::LossSums MaskedLanguageModelTask::LossOf(const Examples& examples,
                                             const std::optional<nn::DropoutKey>& dropout) {
  return LossOfHidden(HiddenTokens(examples, dropout));
}

std::map<std::string, double> MaskedLanguageModelTask::FiguresOf(const ExampleTable& contexts) {
  struct Counts {
    double loss = 0;
    int64_t right = 0, tokens = 0;
  };
  Counts all;
  for (const Counts& each : MeasureBatches<Counts>(
           contexts, options_.optimization, device_, threads_, [&](std::span<const int64_t> rows) {
             const Hidden hidden = HiddenTokens(Examples(&contexts, rows), std::nullopt);
             const torch::Tensor right_R =
                 transformer_->Project(hidden.input_RD).argmax(-1).eq(hidden.tokens_R);
             return Counts{LossOfHidden(hidden).nll.item<double>(), right_R.sum().item<int64_t>(),
                           hidden.tokens_R.size(0)};
           })) {
    all.loss += each.loss;
    all.right += each.right;
    all.tokens += each.tokens;
  }
  const auto tokens = static_cast<double>(all.tokens);
  return {{"loss", all.loss / tokens},
          {"perplexity", std::exp(all.loss / tokens)},
          {"accuracy", 100 * static_cast<double>(all.right) / tokens}};
}

ValidationResult MaskedLanguageModelTask::Validate() {
  ValidationResult result;
  result.metrics = FiguresOf(*valid_contexts_);
  ShowSamples(&result);
  return result;
}

// The first contexts, and what the model puts where tokens are hidden.
void MaskedLanguageModelTask::ShowSamples(ValidationResult* result) {
  constexpr int64_t kShown = 4;
  const torch::NoGradGuard no_grad;
  for (int64_t row = 0; row < std::min(kShown, valid_contexts_->size()); ++row) {
    const Example example = (*valid_contexts_)[row];
    const torch::Tensor best_R =
        transformer_
            ->Project(HiddenTokens(Examples(&*valid_contexts_, {&row, 1}), std::nullopt).input_RD)
            .argmax(-1)
            .cpu();
    std::vector<int32_t> read(example.Ids(0).begin(), example.Ids(0).end()), was = read,
                                                                             filled = read;
    int64_t next = 0;
    for (size_t i = 0; i < read.size(); ++i) {
      if (example.Ids(1)[i] == kNotMasked) continue;
      was[i] = example.Ids(1)[i];
      filled[i] = static_cast<int32_t>(best_R[next++].item<int64_t>());
    }
    const Vocabulary& vocabulary = *text_.vocabulary;
    result->samples.push_back(
        {DecodeWithMasks(vocabulary, read), vocabulary.Decode(was), vocabulary.Decode(filled)});
  }
}

Json MaskedLanguageModelTask::ForExport() const {
  const MaskedCorpus& masked = valid_ != nullptr ? *valid_ : *train_;
  return {{"samples", MaskedSamples(masked.Mask(
                          text_.ValidationOrTraining().beginning().Contexts(kExportedSamples)))}};
}

Json MaskedLanguageModelTask::TestText(const TestSetting& setting) {
  setting.tell("finding the hidden tokens of the test text");
  ReadParameters(setting.model->tensors, transformer_.ptr().get());
  transformer_->eval();
  return FiguresOf(*test_contexts_);
}

std::unique_ptr<TrainingTask> SetUpMaskedLanguageModel(const TaskSetup& setup) {
  constexpr int64_t kBosAndEos = 2;
  ModelConfig& model = setup.options->model;
  const bool has_head = !setup.options->init.empty() &&
                        (setup.init == nullptr || setup.init->config.task == model.task);
  if (!has_head) {  // BERT's
    model.head_transform = true;
    if (!setup.settings->is_given("head_bias")) model.head_bias = true;
  }
  PlainText text = SetUpPlainText(setup, &MaskedLanguageModelOf(*setup.options).text, kBosAndEos);
  return std::make_unique<MaskedLanguageModelTask>(setup, std::move(text));
}

}  // namespace attend
