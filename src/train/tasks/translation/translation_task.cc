#include "train/tasks/translation/translation_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attend/error.h"
#include "attend/metrics.h"
#include "base/random.h"
#include "data/pair_changes.h"
#include "data/streamed_corpus.h"
#include "metrics/exact_match.h"
#include "metrics/tokenizer_choice.h"
#include "nn/bf16_products.h"
#include "nn/int8_rounding.h"
#include "text/lines.h"
#include "text/sentinels.h"
#include "text/utf8.h"
#include "train/loop/training_speed.h"
#include "train/search/torch_stepper.h"
#include "train/tasks/run_model.h"
#include "train/tasks/translation/guided_alignment.h"
#include "train/tasks/translation/measure_text.h"
#include "train/tasks/translation/text_mixture.h"
#include "train/tasks/translation/translation_export.h"
#include "train/tasks/validation.h"

namespace attend {
namespace {

// Over each batch.
double Passes(const TrainOptions& options) { return options.optimization.r_drop > 0 ? 2 : 1; }

// How strongly cuts of training text are sampled; 0: not at all.
double SamplingOf(const CorpusOptions& options, const Vocabularies& vocabularies) {
  const VocabularyType type = vocabularies.source->type();
  const double strength = std::max(options.bpe_dropout, options.sampling_alpha);
  const VocabularyType needed =
      options.bpe_dropout > 0 ? VocabularyType::kBpe : VocabularyType::kUnigram;
  if (strength > 0 && (type != needed || vocabularies.target->type() != needed)) {
    throw Error(ErrorKind::kConfiguration,
                "bpe_dropout needs BPE vocabularies on both sides, sampling_alpha unigram ones");
  }
  return strength;
}

PairProtection ProtectionOfPairs(const TrainOptions& options, const Vocabularies& vocabularies,
                                 bool training) {
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  if (corpus.protection.empty()) return {};
  const auto placeholders = std::min(PlaceholderIds(*vocabularies.source).size(),
                                     PlaceholderIds(*vocabularies.target).size());
  return {std::make_shared<const SpanMasker>(corpus.protection, static_cast<int64_t>(placeholders)),
          static_cast<uint64_t>(options.seed), training, corpus.protect_examples};
}

void CheckNotEmpty(const ParallelCorpus& corpus, const char* what) {
  if (corpus.examples().size() > 0) return;
  throw Error(ErrorKind::kInput, fmt::format("no {} pair is left: {}", what, corpus.Summary()));
}

// The filters of the training text, whose files of pairs come first.
CorpusFilters FiltersOf(const CorpusOptions& corpus) {
  CorpusFilters filters = corpus.filters;
  filters.first_text = std::ssize(corpus.train_source);
  return filters;
}

std::unique_ptr<const LineCorpus> TrainingCorpus(const TrainOptions& options,
                                                 const Vocabularies& vocabularies,
                                                 const std::vector<double>& weights, int threads,
                                                 const Log& log) {
  const CorpusOptions& corpus = TranslationOf(options).corpus;
  std::vector<CorpusColumn> columns = TrainingColumns(options, vocabularies);
  const TextChanges changes =
      PairChanges(ProtectionOfPairs(options, vocabularies, /*training=*/true),
                  CaseNoise(corpus.case_noise, static_cast<uint64_t>(options.seed)));
  if (corpus.Streams()) {
    const StreamOptions stream{static_cast<uint64_t>(options.seed), weights, corpus.shuffle_buffer,
                               SamplingOf(corpus, vocabularies),    changes, log};
    return std::make_unique<StreamedCorpus>(std::move(columns), FiltersOf(corpus), stream, threads);
  }
  auto whole =
      std::make_unique<ParallelCorpus>(std::move(columns), FiltersOf(corpus), threads, changes);
  CheckNotEmpty(*whole, "training");
  return whole;
}

[[noreturn]] void RefuseLength(const std::string& where, int64_t pieces, int64_t longest) {
  throw Error(ErrorKind::kInput,
              fmt::format("{}: a sentence of {} tokens, but the model's learned positions reach "
                          "{}; shorten it, or set a larger max_positions",
                          where, pieces, longest));
}

// Of text that is not filtered.
void CheckPositions(const ParallelCorpus& corpus, const ModelConfig& model) {
  const ExampleTable& examples = corpus.examples();
  const int64_t longest[] = {model.MaxSourceTokens(), model.MaxTargetTokens()};
  const int64_t beside[] = {model.SourceFrame().size(), model.TargetFrame().size()};
  for (int64_t i = 0; i < examples.size(); ++i) {
    for (const int side : {0, 1}) {
      const int64_t pieces = examples[i].Length(side) - beside[side];
      if (pieces > longest[side])
        RefuseLength(corpus.Where(examples[i].origin()), pieces, longest[side]);
    }
  }
}

// The text whose lines an exported model is to prove itself on: of validation if there is any.
struct SampleText {
  std::string file, prefix;
};

SampleText SampleTextOf(const CorpusOptions& corpus) {
  const auto first = [](const std::vector<std::string>& texts) {
    return texts.empty() ? std::string() : texts[0];
  };
  if (!corpus.valid_source.empty()) return {corpus.valid_source[0], first(corpus.valid_prefixes)};
  if (!corpus.valid_text.empty()) return {corpus.valid_text[0], ""};
  if (!corpus.train_source.empty()) return {corpus.train_source[0], first(corpus.train_prefixes)};
  return {corpus.train_text[0], ""};
}

// Of a file's first lines those that the encoder takes: enough to take samples from. Long ones,
// which would fill samples.json, only where there are no others.
std::vector<std::string> SampleLines(const SampleText& text, const Vocabulary& vocabulary,
                                     const ModelConfig& model) {
  constexpr int kLines = 32;
  constexpr int64_t kMostTokens = 64;
  LineReader reader(text.file);
  std::vector<std::string> lines, long_lines;
  std::string line;
  for (int read = 0; read < kLines && reader.Next(&line); ++read) {
    line = text.prefix + RepairUtf8(line);
    const int64_t tokens = std::ssize(vocabulary.Encode(line));
    if (line.empty() || tokens > model.MaxSourceTokens()) continue;
    (tokens <= kMostTokens ? lines : long_lines).push_back(line);
  }
  return lines.empty() ? long_lines : lines;
}

}  // namespace

void CheckFilters(const CorpusFilters& filters, const ModelConfig& model) {
  const int64_t longest = std::min(model.MaxSourceTokens(), model.MaxTargetTokens());
  const int64_t let_through =
      filters.max_length > 0 ? filters.max_length : std::numeric_limits<int64_t>::max();
  if (let_through <= longest) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("max_length is {}, but the model's learned positions reach {} tokens; "
                          "set max_length to at most that, or a larger max_positions",
                          filters.max_length, longest));
}

void CheckTestText(const ParallelText& test, const std::vector<std::string>& files,
                   const Vocabulary& vocabulary, const ModelConfig& model) {
  const int64_t longest = model.MaxSourceTokens();
  if (longest == std::numeric_limits<int64_t>::max()) return;
  for (size_t line = 0; line < test.source.size(); ++line) {
    const auto pieces = std::ssize(vocabulary.Encode(test.source[line]));
    if (pieces > longest)
      RefuseLength(fmt::format("line {} of {}", line + 1, fmt::join(files, " + ")), pieces,
                   longest);
  }
}

TranslationTask::TranslationTask(const TrainOptions& options, Vocabularies vocabularies,
                                 std::optional<ParallelText> test, int threads,
                                 const torch::Device& device, const Log& log)
    : options_(options),
      own_(TranslationOf(options)),
      vocabularies_(std::move(vocabularies)),
      threads_(threads),
      source_work_(Passes(options) * ProductOperations(options.model, 1, 0)),
      target_work_(Passes(options) * ProductOperations(options.model, 0, 1)),
      device_(device),
      log_(log),
      uploader_(device),
      model_(MakeSequenceModel(options, device)),
      loss_(options.optimization.label_smoothing, /*pad_id=*/-1,
            options.optimization.label_smoothing_mass),
      test_(std::move(test)) {
  const CorpusOptions& corpus = own_.corpus;
  if (!corpus.train_alignments.empty())
    guided_ = std::dynamic_pointer_cast<nn::TransformerImpl>(model_);
  teacher_ = TranslationTeacher::Load(options_, vocabularies_, device_);
  weights_ = WeightsOf(options_, log);
  denoising_ = DenoisingOf(options_, vocabularies_);
  train_ = TrainingCorpus(options_, vocabularies_, weights_, threads_, log);
  if (denoising_ != nullptr) {
    denoised_ = std::make_unique<DenoisedCorpus>(train_, std::ssize(corpus.train_source),
                                                 denoising_, static_cast<uint64_t>(options.seed));
  }
  ReadValidation();
  sample_lines_ = SampleLines(SampleTextOf(corpus), *vocabularies_.source, options_.model);
}

void TranslationTask::ReadValidation() {
  const CorpusOptions& corpus = own_.corpus;
  if (!corpus.valid_source.empty()) {
    const CorpusFilters everything{.min_length = 1, .max_length = 0, .max_length_ratio = 0};
    valid_ = std::make_unique<const ParallelCorpus>(
        PairColumns(corpus.valid_source, corpus.valid_target, corpus.valid_prefixes, vocabularies_,
                    options_.model),
        everything, threads_,
        PairChanges(ProtectionOfPairs(options_, vocabularies_, /*training=*/false)));
    CheckNotEmpty(*valid_, "validation");
    CheckPositions(*valid_, options_.model);
    valid_text_ = ReadParallelText(corpus.valid_source, corpus.valid_target, corpus.valid_prefixes);
    if (own_.validate_translations)
      bleu_ = std::make_unique<const Bleu>(BleuOf(options_, valid_text_.target));
  }
  if (corpus.valid_text.empty()) return;
  CorpusFilters filters = corpus.filters;
  filters.first_text = 0;
  valid_plain_ = std::make_shared<const ParallelCorpus>(
      PairColumns(corpus.valid_text, corpus.valid_text, {}, vocabularies_, options_.model), filters,
      threads_);
  CheckNotEmpty(*valid_plain_, "validation");
  noised_ = DenoisedCorpus(valid_plain_, 0, denoising_, static_cast<uint64_t>(options_.seed))
                .AddNoise(valid_plain_->examples());
}

int64_t TranslationTask::CountTargets(const Examples& examples) const {
  int64_t targets = 0;
  for (const Example example : examples) targets += example.Length(1) - 1;
  return targets;
}

double TranslationTask::Work(const Example& example) const {
  const auto tokens = [&](int64_t column) { return static_cast<double>(example.Length(column)); };
  return source_work_ * tokens(0) + target_work_ * (tokens(1) - 1);
}

TranslationTask::Inputs TranslationTask::InputsOf(const Examples& examples) {
  const auto links_of = [&](int64_t targets, int64_t sources) {
    return examples.columns() > 2 ? std::optional(LinksOf(examples, targets, sources))
                                  : std::nullopt;
  };
  if (device_.is_cpu()) {
    PackedPairs packed = MakePackedPairs(examples);
    std::optional links = links_of(packed.target_in.longest, packed.source.longest);
    return {std::move(packed), std::move(links)};
  }
  const PaddedPairs batch = MakePaddedPairs(examples, options_.model.special_ids.pad);
  std::optional links = links_of(batch.target_in_BT.size(1), batch.source_BS.size(1));
  std::vector<torch::Tensor> host = {batch.source_BS, batch.target_in_BT, batch.target_rows_R,
                                     batch.target_out_R};
  if (links) host.insert(host.end(), {links->places_L, links->weights_L});
  const std::vector<torch::Tensor> there = uploader_.Upload(host);
  if (links) links = nn::LinkedKeys{there[4], there[5]};
  return {PaddedPairs{there[0], there[1], there[2], there[3], batch.source_padded},
          std::move(links)};
}

TranslationTask::Hidden TranslationTask::HiddenOf(const Inputs& inputs,
                                                  const std::optional<nn::DropoutKey>& dropout) {
  Hidden hidden;
  nn::CrossWeights kept{options_.model.alignment_layer - 1, {}};
  if (const auto* packed = std::get_if<PackedPairs>(&inputs.ids)) {
    const auto& [source, target_in, target_out_R] = *packed;
    hidden.hidden_RD = inputs.links ? guided_->PackedHidden(source, target_in, dropout, &kept)
                                    : model_->PackedHidden(source, target_in, dropout);
    hidden.targets_R = target_out_R;
  } else {
    const auto& padded = std::get<PaddedPairs>(inputs.ids);
    torch::Tensor hidden_BTD;
    if (inputs.links) {
      nn::Memory memory = guided_->Encode(padded.source_BS, nullptr, padded.source_padded);
      memory.kept = &kept;
      hidden_BTD = guided_->Decode(padded.target_in_BT, memory);
    } else {
      hidden_BTD =
          model_->PaddedHidden(padded.source_BS, padded.target_in_BT, padded.source_padded);
    }
    hidden.hidden_RD = hidden_BTD.flatten(0, 1).index_select(0, padded.target_rows_R);
    hidden.targets_R = padded.target_out_R;
  }
  if (inputs.links) {
    hidden.alignment_loss =
        own_.guided_alignment_weight * nn::AlignmentLoss(kept.weights_BHTS, *inputs.links);
  }
  return hidden;
}

nn::LossSums TranslationTask::LossOf(const Examples& examples) {
  const Hidden pass = HiddenOf(InputsOf(examples), std::nullopt);
  nn::LossSums sums = loss_->FromHidden(pass.hidden_RD, model_->OutputWeight(),
                                        model_->OutputBias(), pass.targets_R);
  if (pass.alignment_loss.defined()) sums.loss = sums.loss + pass.alignment_loss;
  return sums;
}

torch::Tensor TranslationTask::TrainingLoss(const Inputs& inputs, const nn::DropoutKey& dropout) {
  const Hidden pass = HiddenOf(inputs, dropout);
  const torch::Tensor hidden_RD = nn::RoundedRows(pass.hidden_RD),
                      weight_VD = nn::RoundedWeight(model_->OutputWeight()),
                      bias_V = model_->OutputBias();
  const nn::LossSums sums = teacher_ == nullptr
                                ? loss_->FromHidden(hidden_RD, weight_VD, bias_V, pass.targets_R)
                                : loss_->FromTeacher(hidden_RD, weight_VD, bias_V, pass.targets_R,
                                                     teacher_->Of(inputs.ids));
  return pass.alignment_loss.defined() ? sums.loss + pass.alignment_loss : sums.loss;
}

torch::Tensor TranslationTask::TwoPassLoss(const Inputs& inputs, const nn::DropoutKey& dropout) {
  nn::DropoutKey other = dropout;
  other.seed = Random({dropout.seed, /*pass*/ 1}).Next();
  const Hidden first = HiddenOf(inputs, dropout), second = HiddenOf(inputs, other);
  const torch::Tensor loss =
      loss_
          ->FromTwoPasses({nn::RoundedRows(first.hidden_RD), nn::RoundedRows(second.hidden_RD)},
                          nn::RoundedWeight(model_->OutputWeight()), model_->OutputBias(),
                          first.targets_R, options_.optimization.r_drop)
          .loss;
  if (!inputs.links) return loss;
  return loss + (first.alignment_loss + second.alignment_loss) / 2;
}

torch::Tensor TranslationTask::Loss(const Shard& shard, uint64_t seed) {
  // What does not take its numbers from the key takes them from LibTorch's generator.
  if (!device_.is_cpu()) torch::manual_seed(seed + static_cast<uint64_t>(shard.examples_before));
  const nn::Bf16Products bf16(device_, options_.optimization.Bf16Products());
  const nn::Int8Rounding int8(own_.quantization_aware);
  const nn::DropoutKey key = DropoutKeyOf(shard, seed);
  const Inputs inputs = InputsOf(shard.examples);
  return options_.optimization.r_drop == 0 ? TrainingLoss(inputs, key) : TwoPassLoss(inputs, key);
}

double TranslationTask::ValidationLoss(const ExampleTable& table) {
  return MeanLoss(MeasureBatches<nn::LossSums>(
      table, options_.optimization, device_, threads_,
      [&](std::span<const int64_t> rows) { return LossOf({&table, rows}); }));
}

ValidationResult TranslationTask::Validate() {
  ValidationResult result;
  const double loss = ValidationLoss(valid_ != nullptr ? valid_->examples() : *noised_);
  result.metrics["loss"] = loss;
  result.metrics["perplexity"] = std::exp(loss);
  if (valid_ != nullptr && noised_) result.metrics["denoising_loss"] = ValidationLoss(*noised_);
  if (valid_ != nullptr && own_.validate_translations) Translate(&result);
  if (noised_) ShowNoised(&result);
  return result;
}

void TranslationTask::ShowNoised(ValidationResult* result) {
  constexpr int64_t kShown = 4, kExtra = 16;  // tokens more than there should be
  const std::span<const int32_t> marks = denoising_->marks();
  const auto text = [&](std::span<const int32_t> ids) {
    return DecodeWithMarks(*vocabularies_.target, ids, marks);
  };
  for (int64_t row = 0; row < std::min(kShown, noised_->size()); ++row) {
    const std::span<const int32_t> source = (*noised_)[row].Ids(0), target = (*noised_)[row].Ids(1);
    const Sample sample = WriteGreedily(*model_, {source.begin(), source.end()},
                                        options_.model.MaxOutput(std::ssize(target) + kExtra));
    result->samples.push_back({text(source), text(target), text(sample.target_ids)});
  }
}

void TranslationTask::Translate(ValidationResult* result) {
  constexpr size_t kShown = 10;
  const Outputs found =
      TranslateLines(ToRun(CurrentModel(), model_), valid_text_.source, own_, threads_);
  const std::vector<std::string>& outputs = found.lines;
  if (!told_tokenized_ && own_.bleu.tokenize != BleuTokenizer::kNone) {
    const std::string warning =
        TokenizedTextWarning({"translations of the validation text", &outputs});
    told_tokenized_ = !warning.empty();
    if (told_tokenized_) log_(LogLevel::kWarning, warning);
  }
  ChrfOptions chrf;
  chrf.lowercase = own_.corpus.vocabulary.lower_cases();
  result->metrics["bleu"] = CorpusScore(*bleu_, outputs, {valid_text_.target});
  result->metrics["chrf"] = CorpusChrf(outputs, valid_text_.target, chrf);
  result->metrics["exact_match"] =
      CorpusScore(ExactMatch(chrf.lowercase), outputs, {valid_text_.target});
  result->metrics["cut"] = static_cast<double>(found.cut);
  for (size_t i = 0; i < std::min(kShown, outputs.size()); ++i) {
    result->samples.push_back({valid_text_.source[i], valid_text_.target[i], outputs[i]});
  }
}

void TranslationTask::MeasureTrainingText() {
  const std::vector<std::string>& languages = options_.model.languages;
  training_text_ = MeasureText(*train_, std::ssize(own_.corpus.train_source), weights_,
                               languages.empty() ? "" : languages[0], threads_);
}

std::shared_ptr<const LoadedModel> TranslationTask::ToRun(
    std::shared_ptr<const Model> model, std::shared_ptr<nn::SequenceModelImpl> module) const {
  if (device_.is_cpu() && model->config.architecture == Architecture::kTransformer)
    return Load(std::move(model));
  if (module == nullptr) module = SequenceModelOf(*model, device_);
  return RunByTorch(std::move(model), std::move(module));
}

std::shared_ptr<Model> TranslationTask::CurrentModel() {
  auto model = std::make_shared<Model>(CopyModel(*model_));
  model->source_vocabulary = vocabularies_.source->bytes();
  model->target_vocabulary = vocabularies_.target->bytes();
  model->tokenization = DescribeTokenization(options_, vocabularies_);
  model->training_text = training_text_;
  return model;
}

}  // namespace attend
