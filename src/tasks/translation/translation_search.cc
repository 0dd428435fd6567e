#include "tasks/translation/translation_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "attend/error.h"
#include "tasks/translation/matched_text.h"
#include "tasks/translation/quality.h"
#include "tasks/translation/translation_options.h"
#include "text/lines.h"
#include "text/text_parts.h"
#include "text/utf8.h"

namespace attend {
namespace {

// What nearly all targets of training keep within, and a bit more.
int64_t UsualMost(const TrainingText& text, int64_t source_length) {
  constexpr double kMost = 100000, kSpare = 20;
  const double most =
      std::ceil(static_cast<double>(source_length + 1) * text.target_ratio.p99) + kSpare;
  return static_cast<int64_t>(std::min(most, kMost));
}

// Outputs that are drawn need no placeholders, and see that they show something by their length.
void MakeSampled(const TranslationOptions& options, SearchInput* input) {
  input->once.clear();
  input->options.min_length = std::max<int64_t>(options.min_length, input->options.must_show);
  input->sample = SampleOptions{.sampling = {.repetition_penalty = options.repetition_penalty,
                                             .temperature = options.temperature,
                                             .top_k = options.top_k,
                                             .top_p = options.top_p},
                                .count = options.sample ? options.n_best : options.mbr_samples,
                                .seed = static_cast<uint64_t>(options.seed)};
}

void EraseTouching(std::span<const TextPart> spans, std::vector<FoundTerm>* found) {
  std::erase_if(*found, [&](const FoundTerm& term) {
    return std::ranges::any_of(spans, [&](const TextPart& span) {
      return span.begin < term.end && term.begin < span.end;
    });
  });
}

// Behind every hypothesis that there is.
Hypothesis NoOutput() {
  constexpr double kWorst = -std::numeric_limits<double>::infinity();
  return {.score = kWorst, .log_probability = kWorst, .finished = false};
}

}  // namespace

TaskRunner MakeTaskRunner(std::shared_ptr<const LoadedModel> loaded,
                          const TranslatorOptions& options) {
  std::shared_ptr<const Shortlist> shortlist;
  if (!options.shortlist.empty()) {
    shortlist =
        std::make_shared<Shortlist>(LoadShortlist(options.shortlist, loaded->with_vocabularies()));
  }
  return TaskRunner(std::move(loaded), std::move(shortlist), options.protect);
}

TaskRunner MakeTaskRunner(std::vector<std::shared_ptr<const LoadedModel>> models,
                          std::vector<double> weights, const TranslatorOptions& options) {
  if (models.size() == 1 && weights.empty())
    return MakeTaskRunner(std::move(models.front()), options);
  if (!options.shortlist.empty() && models.size() > 1) {
    throw Error(ErrorKind::kUsage,
                "shortlist is for one model, and several are given; leave one of them out");
  }
  if (models.size() == 1) {
    throw Error(ErrorKind::kUsage,
                "weights of models are for several, and one is given; leave the weights out");
  }
  return TaskRunner(std::make_shared<Ensemble>(std::move(models), std::move(weights)),
                    options.protect);
}

int64_t MaxLength(const TaskRunner& runner, int64_t source_length,
                  const TranslationOptions& options) {
  int64_t length = options.max_length;
  if (length == 0) {
    length = std::max(source_length + kExtraLength, options.min_length + 1);
    if (const auto& text = runner.training_text())
      length = std::max(length, UsualMost(*text, source_length));
  }
  return runner.MaxOutput(length);
}

SearchInput MakeSearchInput(const TaskRunner& runner, const std::vector<int32_t>& ids,
                            const TranslationOptions& options, int64_t added) {
  SearchInput input;
  input.source = runner.EncoderInput(ids);
  input.once = runner.protection().Once(ids);
  input.max_length = MaxLength(runner, std::ssize(ids) - added, options);
  input.options.beam_size = options.beam_size;
  input.options.n_best = options.n_best;
  input.options.length_penalty = options.length_penalty;
  input.options.min_length = options.min_length;
  input.options.must_show = runner.HasWords(ids);
  input.options.allow_unknown = options.allow_unknown;
  input.options.scores = options.scores;
  input.options.groups = options.beam_groups;
  input.options.diversity = options.diversity;
  input.options.no_repeat_ngram = options.no_repeat_ngram;
  input.options.repetition_penalty = options.repetition_penalty;
  input.options.coverage_penalty = options.coverage_penalty;
  input.options.beam_threshold = options.beam_threshold;
  input.options.early_exit = options.early_exit;
  if (Draws(options)) MakeSampled(options, &input);
  return input;
}

SearchModel MakeSearchModel(const TaskRunner& runner) {
  SearchOptions search;
  search.max_beam_size = kMostBeamSize;
  search.prompt = runner.config().TargetFrame().begin;
  search.eos = static_cast<int32_t>(runner.special_ids().eos);
  search.blank = runner.blank();
  const TextFrame around = runner.config().SourceFrame();
  search.source_begin = std::ssize(around.begin);
  search.source_end = std::ssize(around.end);
  if (!runner.blank().empty()) {
    search.text_of = [&vocabulary = runner.target()](std::span<const int32_t> ids) {
      return WithSingleSpaces(vocabulary.Decode(ids));
    };
  }
  search.placeholders = runner.protection().ids();
  search.never.assign(runner.term_tokens().begin(), runner.term_tokens().end());
  search.placeholders.insert(search.placeholders.end(), search.never.begin(), search.never.end());
  return {&runner.weights(), runner.shortlist(), std::move(search), runner.make_stepper(),
          runner.ensemble()};
}

std::vector<FoundTerm> FindTerms(const TaskRunner& runner, const std::string& text,
                                 const TranslationOptions& options, bool protect,
                                 size_t instruction) {
  if (options.glossary == nullptr) return {};
  runner.CheckWritesFromTheBeginning("the glossary");
  const std::string repaired = RepairUtf8(text);
  const std::string_view own = OwnText(runner, repaired, instruction);
  const size_t first = own.data() - repaired.data();
  std::vector<FoundTerm> found = options.glossary->finder().Find(own);
  for (FoundTerm& term : found) {
    term.begin += first;
    term.end += first;
  }
  if (protect) EraseTouching(runner.protection().Find(repaired), &found);
  return found;
}

std::string_view OwnText(const TaskRunner& runner, std::string_view text, size_t instruction) {
  const std::string_view own = ReadsMatches(runner.source()) ? WithoutMatch(text) : text;
  return own.substr(std::min(instruction, own.size()));
}

std::vector<int32_t> KnownIds(const Vocabulary& vocabulary, const std::string& text) {
  std::vector<int32_t> ids = vocabulary.Encode(text);
  const auto unk = static_cast<int32_t>(vocabulary.special_ids().unk);
  if (std::ranges::find(ids, unk) != ids.end()) ids.clear();
  return ids;
}

SentenceTerms TermsOf(const TaskRunner& runner, std::vector<FoundTerm> found) {
  if (found.empty()) return {};
  SentenceTerms terms{.asked = std::ssize(found), .paths = nullptr};
  // The cost of a search grows with its terms.
  if (std::ssize(found) > kMostSentenceTerms) found.resize(kMostSentenceTerms);
  const auto encode = [&](const std::string& target) { return KnownIds(runner.target(), target); };
  auto paths = std::make_shared<const TermPaths>(found, runner.token_texts(), encode);
  if (paths->count() > 0) terms.paths = std::move(paths);
  return terms;
}

std::vector<Hypothesis> MakeHypotheses(std::vector<SearchResult> results,
                                       const SentenceTerms& terms) {
  std::vector<Hypothesis> hypotheses;
  for (SearchResult& result : results) {
    Hypothesis hypothesis;
    hypothesis.ids = std::move(result.ids);
    hypothesis.score = result.score;
    hypothesis.log_probability = result.log_probability;
    hypothesis.finished = result.finished;
    hypothesis.terms = terms.asked;
    if (terms.paths != nullptr) hypothesis.terms_kept = terms.paths->count() - result.missing;
    hypotheses.push_back(std::move(hypothesis));
  }
  if (hypotheses.empty()) hypotheses.push_back(NoOutput());
  return hypotheses;
}

Translation CopyOf(const std::string& text, const TranslationOptions& options) {
  Hypothesis copy;
  copy.text = RepairUtf8(text);
  const int64_t words = CountWords(text);
  for (int64_t word = 0; options.alignments && word < words; ++word)
    copy.alignment.push_back({word, word});
  if (options.quality) SetCertain(words, &copy);
  return {{std::move(copy)}};
}

Translation RememberedTranslation(const std::string& text, const std::string& target,
                                  std::span<const TextPart> spans,
                                  const TranslationOptions& options) {
  Translation copy = CopyOf(target, {.quality = options.quality});
  if (options.glossary == nullptr) return copy;
  std::vector<FoundTerm> found = options.glossary->finder().Find(RepairUtf8(text));
  EraseTouching(spans, &found);
  Hypothesis& only = copy.hypotheses[0];
  only.terms = std::ssize(found);
  if (std::ssize(found) > kMostSentenceTerms) found.resize(kMostSentenceTerms);
  only.terms_kept = CountTerms(found, only.text);
  return copy;
}

}  // namespace attend
