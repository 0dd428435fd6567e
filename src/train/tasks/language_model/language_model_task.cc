#include "train/tasks/language_model/language_model_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/error.h"
#include "attend/generator.h"
#include "base/files.h"
#include "base/sha256.h"
#include "model/config_file.h"
#include "nn/bf16_products.h"
#include "text/newlines.h"
#include "train/device/environment.h"
#include "train/loop/training_speed.h"
#include "train/tasks/language_model/language_model.h"
#include "train/tasks/language_model/language_model_export.h"
#include "train/tasks/language_model/language_model_options.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

std::unique_ptr<const DocumentCorpus> Read(const std::vector<std::string>& files,
                                           const TaskSetup& setup,
                                           const std::shared_ptr<const Vocabulary>& vocabulary) {
  if (files.empty()) return nullptr;
  auto corpus = std::make_unique<DocumentCorpus>(
      files, vocabulary, LanguageModelOf(*setup.options).context, setup.settings->threads);
  corpus->Shuffle(static_cast<uint64_t>(setup.options->seed));
  return corpus;
}

// Of a text whose tokens have this summed negative log-probability.
std::map<std::string, double> FiguresOf(double sum, const TextSize& text) {
  const auto each = [&](int64_t count) { return sum / static_cast<double>(count); };
  return {{"loss", each(text.tokens)},
          {"perplexity", std::exp(each(text.tokens))},
          {"word_perplexity", std::exp(each(text.words))},
          {"bits_per_character", each(text.characters) / std::log(2.0)}};
}

}  // namespace

LanguageModelTask::LanguageModelTask(const TaskSetup& setup,
                                     std::shared_ptr<const Vocabulary> vocabulary)
    : options_(*setup.options),
      vocabulary_(std::move(vocabulary)),
      threads_(setup.settings->threads),
      device_(setup.device),
      uploader_(setup.device),
      transformer_(MakeTransformer(options_, setup.device)),
      loss_(options_.optimization.label_smoothing, /*pad_id=*/-1,
            options_.optimization.label_smoothing_mass) {
  const LanguageModelOptions& own = LanguageModelOf(options_);
  train_ = Read(own.train_text, setup, vocabulary_);
  valid_ = Read(own.valid_text, setup, vocabulary_);
  if (valid_ != nullptr) valid_contexts_ = valid_->Contexts();
  if (setup.group->first()) test_ = Read(own.test_text, setup, vocabulary_);
}

const TaskInfo& LanguageModelTask::info() const { return TrainableLanguageModel().info; }

int64_t LanguageModelTask::CountTargets(const Batch& batch) const {
  int64_t targets = 0;
  for (const Example example : batch.examples()) targets += example.Length(0) - 1;
  return targets;
}

double LanguageModelTask::Work(const Example& example) const {
  return ProductOperations(options_.model, 0, 1) * static_cast<double>(example.Length(0) - 1);
}

nn::LossSums LanguageModelTask::LossOf(const Examples& examples,
                                       const std::optional<nn::DropoutKey>& dropout) {
  const nn::PackedIds read = PackIds(examples, 0, 0, 1);
  torch::Tensor next_R = PackIds(examples, 0, 1, 0).ids_R;
  torch::Tensor hidden_RD;
  if (device_.is_cpu()) {
    hidden_RD = transformer_->PackedHidden({}, read, dropout);
  } else {
    const std::vector<torch::Tensor> there =
        uploader_.Upload({PadIds(read, options_.model.special_ids.pad), PaddedRows(read), next_R});
    hidden_RD = transformer_->Decode(there[0]).flatten(0, 1).index_select(0, there[1]);
    next_R = there[2];
  }
  return loss_->FromHidden(hidden_RD, transformer_->OutputWeight(), transformer_->OutputBias(),
                           next_R);
}

torch::Tensor LanguageModelTask::Loss(const Shard& shard, uint64_t seed) {
  // What does not take its numbers from the key takes them from LibTorch's generator.
  if (!device_.is_cpu()) torch::manual_seed(seed + static_cast<uint64_t>(shard.examples_before));
  const nn::Bf16Products bf16(device_, options_.optimization.Bf16Products());
  // A context's last token is not read.
  const nn::DropoutKey key{seed, 0, shard.tokens_before[0] - shard.examples_before};
  return LossOf(shard.examples, key).loss;
}

double LanguageModelTask::ValidationSum() {
  const BatchPlan batches =
      BatchesByLength(*valid_contexts_, {.tokens = options_.optimization.batch_tokens});
  std::vector<double> sums(batches.size());
  ThreadPool pool(device_.is_cpu() ? threads_ : 1);
  ParallelForTorch(&pool, std::ssize(batches), [&](int64_t batch) {
    const torch::NoGradGuard no_grad;
    const nn::Bf16Products bf16(device_, options_.optimization.Bf16Products());
    const nn::LossSums loss = LossOf(Examples(&*valid_contexts_, batches[batch]), std::nullopt);
    sums[batch] = loss.nll.item<double>();
  });
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

ValidationResult LanguageModelTask::Validate() {
  ValidationResult result;
  result.metrics = FiguresOf(ValidationSum(), valid_->text_size());
  WriteSamples(&result);
  return result;
}

// What the model writes after the beginnings of the validation text.
void LanguageModelTask::WriteSamples(ValidationResult* result) {
  constexpr int64_t kSamples = 4, kPrompt = 16, kWritten = 64;
  std::vector<std::vector<int32_t>> prompts, references;
  for (int64_t i = 0; i < std::min(kSamples, valid_->text_size().documents); ++i) {
    const std::span<const int32_t> ids = valid_->Document(i);
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
    result->samples.push_back({DecodeText(*vocabulary_, prompts[i]),
                               DecodeText(*vocabulary_, references[i]), outputs[i][0].text});
  }
}

std::shared_ptr<Model> LanguageModelTask::CurrentModel() {
  auto model = std::make_shared<Model>(CopyModel(transformer_));
  model->source_vocabulary = model->target_vocabulary = vocabulary_->bytes();
  return model;
}

Json LanguageModelTask::Digests() const {
  Json digests = Json::object();
  AddDigests("train", train_.get(), &digests);
  AddDigests("valid", valid_.get(), &digests);
  digests["vocabulary"] = Sha256(vocabulary_->bytes());
  return digests;
}

Json LanguageModelTask::ForExport() const {
  return {{"sample_ids", SampleIds(valid_ != nullptr ? *valid_ : *train_, options_.model)}};
}

void LanguageModelTask::SaveFiles(const std::filesystem::path& directory) const {
  WriteFileAtomically(directory / kJointVocabularyFile, vocabulary_->bytes());
}

void LanguageModelTask::Describe(const Log& log) const {
  log(LogLevel::kInfo, fmt::format("training text: {}", train_->Text()));
  if (valid_ != nullptr) log(LogLevel::kInfo, fmt::format("validation text: {}", valid_->Text()));
  if (NewlineId(*vocabulary_) < 0) {
    log(LogLevel::kWarning,
        fmt::format("the vocabulary has no {} token, so the model does not learn where lines end; "
                    "make one with `attend vocab --newline`",
                    kNewline));
  }
}

// Warns of a vocabulary that does not fit the text.
Json LanguageModelTask::CheckData(const Log& log) const {
  constexpr double kMany = 0.01;
  Json counts = Json::object();
  const auto check = [&](const char* name, const DocumentCorpus* corpus) {
    if (corpus == nullptr) return;
    int64_t unknown = 0;
    for (int64_t i = 0; i < corpus->text_size().documents; ++i)
      unknown += std::ranges::count(corpus->Document(i),
                                    static_cast<int32_t>(options_.model.special_ids.unk));
    const double share =
        static_cast<double>(unknown) / static_cast<double>(corpus->text_size().tokens);
    counts[name] = {{"unknown_tokens", unknown}, {"tokens", corpus->text_size().tokens}};
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

Json LanguageModelTask::Plan(const CorpusReport& /*read*/) const {
  Json plan = Json::object();
  plan["train"] = train_->Text();
  plan["train_lines"] = ToJson(train_->report());
  if (valid_ != nullptr) plan["valid"] = valid_->Text();
  if (test_ != nullptr) plan["test"] = test_->Text();
  plan["vocabulary"] = vocabulary_->size();
  return plan;
}

// Each document in windows of a context's length that move on by half of one.
Json LanguageModelTask::Test(const TestSetting& setting) {
  if (test_ == nullptr) return Json();
  std::vector<std::vector<int32_t>> documents;
  for (int64_t i = 0; i < test_->text_size().documents; ++i) {
    const std::span<const int32_t> ids = test_->Document(i);
    documents.emplace_back(ids.begin(), ids.end() - 1);  // the end is scored besides
  }
  const int64_t context = LanguageModelOf(options_).context.context_tokens;
  setting.tell(fmt::format("scoring {} documents of the test text", documents.size()));
  const Generator generator(LoadModel(setting.model), {.threads = threads_});
  double sum = 0;
  for (const TextScore& score : generator.ScoreIds(
           documents, {.window = context, .stride = std::max<int64_t>(context / 2, 1)}))
    sum -= score.log_probability;
  Json scores = Json::object();
  for (const auto& [name, value] : FiguresOf(sum, test_->text_size())) scores[name] = value;
  WriteFileAtomically(setting.output / "result.json", scores.dump() + "\n");
  return scores;
}

}  // namespace attend
