#include "tasks/translation/task_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "attend/error.h"
#include "tasks/batches.h"
#include "tasks/checks.h"
#include "tasks/task_names.h"
#include "tasks/translation/quality.h"
#include "text/target_order.h"
#include "text/term_annotation.h"
#include "text/unknown_characters.h"
#include "text/visible_text.h"

namespace attend {
namespace {

// The word each id of pair `item` belongs to; without a vocabulary every id is a word.
std::vector<int64_t> Words(const Vocabulary* vocabulary, std::span<const std::string> texts,
                           std::span<const std::vector<int32_t>> ids, int64_t item) {
  if (vocabulary != nullptr) {
    return texts.empty() ? vocabulary->WordsOfIds(ids[item]) : vocabulary->WordsOfLine(texts[item]);
  }
  std::vector<int64_t> words(ids[item].size());
  std::iota(words.begin(), words.end(), int64_t{0});
  return words;
}

std::vector<std::vector<std::vector<float>>>& Layer(AttentionWeights* weights, int64_t layer,
                                                    int64_t heads) {
  if (std::ssize(*weights) <= layer) weights->resize(layer + 1);
  (*weights)[layer].resize(heads);
  return (*weights)[layer];
}

}  // namespace

TaskRunner::TaskRunner(std::shared_ptr<const LoadedModel> loaded,
                       std::shared_ptr<const Shortlist> shortlist, bool protect)
    : loaded_(std::move(loaded)), shortlist_(std::move(shortlist)) {
  CheckTask(config(), {"translation"});
  if (!config().decoder || config().head != HeadKind::kVocabulary) {
    throw Error(ErrorKind::kUsage,
                "the model has no decoder with a vocabulary head, which translation needs");
  }
  const Vocabulary* const source = loaded_->source_vocabulary.get();
  const Vocabulary* const target = loaded_->target_vocabulary.get();
  if (source != nullptr) {
    words_ = WordPieces(*source);
    reads_terms_ = ReadsTerms(*source);
  }
  if (target != nullptr) {
    blank_ = BlankPieces(*target);
    term_tokens_ = TermTokenIds(*target);
  }
  protection_ =
      source != nullptr && target != nullptr
          ? std::make_unique<Protection>(loaded_->model().tokenization, *source, *target, protect)
          : std::make_unique<Protection>();
}

TaskRunner::TaskRunner(std::shared_ptr<const Ensemble> ensemble, bool protect)
    : TaskRunner(ensemble->models().front(), nullptr, protect) {
  ensemble_ = std::move(ensemble);
}

bool TaskRunner::HasWords(std::span<const int32_t> ids) const {
  return std::ranges::any_of(ids,
                             [&](int32_t id) { return id < std::ssize(words_) && words_[id]; });
}

void TaskRunner::CheckWritesFromTheBeginning(const char* option) const {
  if (loaded_->target_vocabulary == nullptr ||
      !WritesRightToLeft(loaded_->with_vocabularies().tokenization)) {
    return;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("the model writes from right to left and has no beginning to go on from; "
                          "leave out {}",
                          option));
}

MaskedText TaskRunner::Mask(const std::string& text, bool protect) const {
  return protect ? protection_->Mask(text) : MaskedText{.text = text};
}

std::vector<int32_t> TaskRunner::Encode(const std::string& text, bool protect) const {
  return source().Encode(Mask(text, protect).text);
}

std::u32string TaskRunner::UnknownCharacters(const std::string& read,
                                             std::span<const int32_t> ids) const {
  const auto unk = static_cast<int32_t>(source().special_ids().unk);
  if (std::find(ids.begin(), ids.end(), unk) == ids.end()) return U"";
  return UnknownCharactersOf(source(), read);
}

const TokenTexts& TaskRunner::token_texts() const {
  std::call_once(token_texts_->once, [this] { token_texts_->texts.emplace(target()); });
  return *token_texts_->texts;
}

std::vector<int32_t> TaskRunner::EncoderInput(std::span<const int32_t> ids) const {
  if (config().encoder) {
    CheckIds(ids, config().source_vocab_size);
  } else if (!ids.empty()) {
    throw Error(ErrorKind::kUsage, "the model has no encoder; expected an empty source");
  }
  return config().EncoderIds(ids);
}

void TaskRunner::CheckTargetIds(std::span<const int32_t> ids) const {
  CheckIds(ids, config().target_vocab_size);
}

int64_t TaskRunner::max_source_tokens() const {
  const auto most = [](const ModelConfig& config) {
    return config.encoder ? config.MaxSourceTokens() : std::numeric_limits<int64_t>::max();
  };
  return LeastOfAll(most);
}

int64_t TaskRunner::max_target_tokens() const {
  return LeastOfAll([](const ModelConfig& config) { return config.MaxTargetTokens(); });
}

int64_t TaskRunner::MaxOutput(int64_t length) const {
  return LeastOfAll([&](const ModelConfig& config) { return config.MaxOutput(length); });
}

template <class Number>
int64_t TaskRunner::LeastOfAll(const Number& number_of) const {
  int64_t least = number_of(config());
  if (ensemble_ == nullptr) return least;
  for (const auto& model : ensemble_->models()) least = std::min(least, number_of(model->config()));
  return least;
}

void TaskRunner::CheckLengths(int64_t line, int64_t source_tokens, int64_t target_tokens) const {
  const auto check = [&](const char* side, int64_t tokens, int64_t most) {
    if (tokens <= most) return;
    throw Error(ErrorKind::kInput,
                fmt::format("{} line {} has {} tokens, expected at most {}, the model's learned "
                            "positions; shorten it",
                            side, line, tokens, most));
  };
  check("source", source_tokens, max_source_tokens());
  check("target", target_tokens, max_target_tokens());
}

void TaskRunner::CheckAlignmentLayer(int64_t layer) const {
  const int64_t layers = config().decoder->layers;
  if (layer >= 0 && layer <= layers) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("alignment_layer is {}, expected 1 to {}, the decoder's layers, or 0 for "
                          "the one that was trained for it, or the last",
                          layer, layers));
}

std::vector<int32_t> TaskRunner::ForcedTarget(const std::vector<int32_t>& output) const {
  const int64_t count = std::min(std::ssize(output), max_target_tokens());
  return {output.begin(), output.begin() + count};
}

void TaskRunner::Judge(const PairScore& score, bool quality, Hypothesis* hypothesis) const {
  hypothesis->alignment = score.alignment;
  if (!quality) return;
  const std::vector<std::vector<int32_t>> ids = {hypothesis->ids};
  const std::span<const double> tokens = score.token_log_probabilities;
  // The end counts where the model wrote it. What is forced may be less than all ids.
  const bool whole = std::ssize(tokens) == std::ssize(hypothesis->ids) + 1;
  const bool ended = whole && hypothesis->finished;
  SetQuality(ended ? tokens : tokens.first(tokens.size() - 1),
             Words(loaded_->target_vocabulary.get(), {}, ids, 0), hypothesis);
}

std::vector<PairScore> TaskRunner::Score(const ScoredPairs& pairs, const ScoreOptions& options,
                                         TaskThreads* threads) const {
  if (pairs.sources.size() != pairs.targets.size()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} sources and {} targets; expected as many of one as of the other",
                            pairs.sources.size(), pairs.targets.size()));
  }
  const bool by_steps = loaded_->make_stepper != nullptr;
  if (!by_steps) {
    loaded_->CheckEngineRuns();
  } else if (options.alignments || options.attention) {
    throw Error(ErrorKind::kUsage, "alignments are of attend's own engine; leave out the device");
  }
  if (options.alignments) CheckAlignmentLayer(options.alignment_layer);
  std::vector<PairScore> scores(pairs.sources.size());
  std::vector<int64_t> lengths, scored;  // of pairs, and their places
  for (int64_t i = 0; i < std::ssize(scores); ++i) {
    const int64_t source = std::ssize(pairs.sources[i]), target = std::ssize(pairs.targets[i]);
    const bool fits = source <= max_source_tokens() && target <= max_target_tokens();
    if (!fits && options.skip_too_long) continue;
    CheckLengths(options.first_line + i, source, target);
    scored.push_back(i);
    lengths.push_back(source + target + 2);
  }
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  // Few items still give every thread something to do.
  const Batches batches(lengths, std::min(options.batch_tokens, total / threads->pool.size() + 1));
  threads->pool.ParallelFor(batches.size(), [&](int64_t batch, int worker) {
    CheckNotStopped(options.stop);
    std::vector<int64_t> items;
    for (const int64_t item : batches[batch]) items.push_back(scored[item]);
    if (by_steps) return ScoreBySteps(pairs, items, &scores);
    ScoreBatch(pairs, items, options, &threads->forced[worker], &scores);
  });
  return scores;
}

void TaskRunner::ScoreBySteps(const ScoredPairs& pairs, std::span<const int64_t> items,
                              std::vector<PairScore>* scores) const {
  const TextFrame frame = config().TargetFrame();
  std::vector<std::vector<int32_t>> inputs, outputs;
  for (const int64_t item : items) {
    inputs.push_back(EncoderInput(pairs.sources[item]));
    CheckTargetIds(pairs.targets[item]);
    outputs.push_back(frame.Around(pairs.targets[item]));
  }
  std::vector<NewSentence> sentences;
  for (const std::vector<int32_t>& input : inputs)
    sentences.push_back({.index = std::ssize(sentences), .source = input, .once = {}});
  const std::unique_ptr<Stepper> stepper = loaded_->make_stepper();
  stepper->Reset(/*beam_size=*/1);
  stepper->Start(sentences);
  for (size_t t = 0;; ++t) {
    std::vector<StepRow> rows;
    const bool asks = t + 1 >= frame.begin.size();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (t + 1 >= outputs[i].size()) continue;
      rows.push_back({.hypothesis = static_cast<int32_t>(i),
                      .token = outputs[i][t],
                      .asks = asks,
                      .forced = outputs[i][t + 1]});
    }
    if (rows.empty()) return;
    std::vector<Candidate> answers(asks ? rows.size() : 0);
    stepper->Step(rows, /*k=*/1, answers.data());
    for (size_t r = 0; r < answers.size(); ++r) {
      PairScore& score = (*scores)[items[rows[r].hypothesis]];
      score.token_log_probabilities.push_back(answers[r].log_probability);
      score.log_probability += answers[r].log_probability;
    }
  }
}

void TaskRunner::ScoreBatch(const ScoredPairs& pairs, std::span<const int64_t> items,
                            const ScoreOptions& options, ForcedDecoding* decoding,
                            std::vector<PairScore>* scores) const {
  std::vector<std::vector<int32_t>> inputs;
  inputs.reserve(items.size());
  std::vector<EncoderItem> read;                                 // of them
  std::vector<int64_t> encoder_item, decoder_item, asking_item;  // of each packed row
  for (const int64_t item : items) {
    inputs.push_back(EncoderInput(pairs.sources[item]));
    read.emplace_back(std::span<const int32_t>(inputs.back()));
    encoder_item.insert(encoder_item.end(), inputs.back().size(), item);
  }
  Sinks sinks;
  if (options.attention || options.alignments) {
    sinks.attention = [&](AttentionPlace place, int64_t layer, int64_t row, const float* weights,
                          int64_t keys) {
      if (!options.attention && place != AttentionPlace::kCross) return;
      const auto& item = place == AttentionPlace::kEncoderSelf ? encoder_item : decoder_item;
      KeepAttention(place, layer, {weights, keys}, &(*scores)[item[row]]);
    };
  }
  decoding->Start(weights(), read, sinks);
  const TextFrame frame = config().TargetFrame();
  for (size_t i = 0; i < items.size(); ++i) {
    const std::vector<int32_t>& target = pairs.targets[items[i]];
    CheckTargetIds(target);
    const std::vector<int32_t> output = frame.Around(target);
    decoding->Add(static_cast<int32_t>(i), output, std::ssize(frame.begin) - 1);
    decoder_item.insert(decoder_item.end(), output.size() - 1, items[i]);
    asking_item.insert(asking_item.end(), target.size() + 1, items[i]);
  }
  const std::span<const Candidate> answers = decoding->Run(weights(), sinks);
  for (size_t r = 0; r < answers.size(); ++r) {
    PairScore& score = (*scores)[asking_item[r]];
    score.token_log_probabilities.push_back(answers[r].log_probability);
    score.log_probability += answers[r].log_probability;
  }
  if (!options.alignments || !config().encoder) return;
  for (const int64_t item : items) {
    PairScore& score = (*scores)[item];
    const WordsOfPieces words = {
        Words(loaded_->source_vocabulary.get(), pairs.source_texts, pairs.sources, item),
        Words(loaded_->target_vocabulary.get(), pairs.target_texts, pairs.targets, item)};
    score.alignment = AlignWords(words, SummedCrossAttention(options.alignment_layer, score));
    if (!options.attention) score.cross.clear();
  }
}

void TaskRunner::KeepAttention(AttentionPlace place, int64_t layer, const AttentionRow& row,
                               PairScore* score) const {
  const bool encoder = place == AttentionPlace::kEncoderSelf;
  AttentionWeights* kept = encoder                                 ? &score->encoder_self
                           : place == AttentionPlace::kDecoderSelf ? &score->decoder_self
                                                                   : &score->cross;
  const StackConfig& stack = encoder ? *config().encoder : *config().decoder;
  auto& heads = Layer(kept, layer, stack.heads);
  for (int64_t h = 0; h < stack.heads; ++h) {
    heads[h].emplace_back(row.weights_HS + h * row.keys, row.weights_HS + (h + 1) * row.keys);
  }
}

std::vector<std::vector<float>> TaskRunner::SummedCrossAttention(int64_t layer,
                                                                 const PairScore& score) const {
  if (layer == 0) layer = config().AlignmentLayer();
  const auto& heads = score.cross.at(layer - 1);
  const size_t first_source = config().source_begin.size();
  // The row that writes a token, or the next one, which reads it.
  const size_t first_target =
      config().target_begin.size() + (layer == config().alignment_layer ? 1 : 0);
  std::vector<std::vector<float>> sum_TS;
  for (size_t t = first_target; t < heads[0].size(); ++t) {
    std::vector<float>& sum_S = sum_TS.emplace_back(heads[0][t].size() - first_source);
    for (const auto& weights_TS : heads) {
      for (size_t s = 0; s < sum_S.size(); ++s) sum_S[s] += weights_TS[t][first_source + s];
    }
  }
  return sum_TS;
}

std::vector<AlignmentLink> AlignWords(const WordsOfPieces& words,
                                      const std::vector<std::vector<float>>& weights_TS) {
  std::vector<AlignmentLink> links;
  if (words.source.empty() || words.target.empty()) return links;
  if (words.source.back() < 0 || words.target.back() < 0) return links;
  std::vector<double> weight(words.source.back() + 1);
  for (size_t t = 0; t < words.target.size(); ++t) {
    for (size_t s = 0; s < words.source.size(); ++s) weight[words.source[s]] += weights_TS[t][s];
    if (t + 1 < words.target.size() && words.target[t + 1] == words.target[t]) continue;
    const auto best = std::max_element(weight.begin(), weight.end());
    links.push_back({best - weight.begin(), words.target[t]});
    std::fill(weight.begin(), weight.end(), 0);
  }
  std::ranges::stable_sort(links, {}, &AlignmentLink::target);  // of a target that is reversed
  return links;
}

}  // namespace attend
