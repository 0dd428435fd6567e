#include "tasks/translation/translation_options.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "attend/error.h"
#include "search/sampling.h"
#include "tasks/checks.h"
#include "tasks/loaded_model.h"

namespace attend {
namespace {

FieldList AlignmentLayer(int64_t* layer) {
  FieldList fields;
  fields.Add(
      "alignment_layer", layer, 0, 1000,
      "decoder layer that alignments come from, from 1; 0: the one that was trained for it, or "
      "the last");
  return fields;
}

// What a beam's scores lack, and what ends it sooner.
FieldList LimitFields(TranslationOptions& options) {
  FieldList fields;
  fields
      .Add("coverage_penalty", &options.coverage_penalty, 0, 100,
           "beta of beta * sum over source tokens of log(min(1, attention that the output gave the "
           "token)), which is added to scores, so that nothing is left out; 0: nothing is added")
      .Add("beam_threshold", &options.beam_threshold, 0, 1e6,
           "drop continuations whose log-probability is more than this below that of the best one "
           "of their step; 0: none")
      .Add("early_exit", &options.early_exit, 0, 1e9,
           "end a search once its n best are finished and each is so many times as probable as "
           "anything that still goes on; 0: end when nothing can win");
  return fields;
}

// Throws Error(kUsage) for options that do not go together.
void CheckSearchKind(const TranslationOptions& options) {
  const TranslationOptions usual;
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::kUsage, message); };
  if (options.beam_size % options.beam_groups != 0) {
    refuse(fmt::format("beam_groups is {}, no divisor of the beam size of {}", options.beam_groups,
                       options.beam_size));
  }
  const bool draws = Draws(options);
  if (options.sample && options.mbr != MbrUtility::kNone)
    refuse("sample and mbr are given, but mbr draws by itself; leave out sample");
  if (draws && options.beam_groups > 1)
    refuse("outputs are drawn without a beam; leave out beam_groups");
  if (draws && options.glossary != nullptr)
    refuse(
        "a glossary's terms are searched for by a beam; leave out the glossary, or sample and "
        "mbr");
  if (draws && options.no_repeat_ngram > 0)
    refuse("no_repeat_ngram is for beam search; leave it out where outputs are drawn");
  const std::pair<const char*, double> of_beams[] = {{"coverage_penalty", options.coverage_penalty},
                                                     {"beam_threshold", options.beam_threshold},
                                                     {"early_exit", options.early_exit}};
  for (const auto& [name, value] : of_beams) {
    if (draws && value != 0)
      refuse(fmt::format("{} is for beam search; leave it out where outputs are drawn", name));
  }
  if (options.mbr != MbrUtility::kNone && options.n_best > options.mbr_samples) {
    refuse(fmt::format("n_best is {}, above the mbr_samples of {}; raise mbr_samples",
                       options.n_best, options.mbr_samples));
  }
  const std::pair<const char*, bool> drawing[] = {
      {"temperature", options.temperature != usual.temperature},
      {"top_k", options.top_k != usual.top_k},
      {"top_p", options.top_p != usual.top_p},
      {"seed", options.seed != usual.seed}};
  for (const auto& [name, given] : drawing) {
    if (given && !draws)
      refuse(fmt::format("{} is of outputs that are drawn; give sample or mbr, too", name));
  }
}

}  // namespace

bool Draws(const TranslationOptions& options) {
  return options.sample || options.mbr != MbrUtility::kNone;
}

void CheckTargetPrefix(const TranslationOptions& options) {
  if (!Draws(options)) return;
  throw Error(ErrorKind::kUsage,
              "outputs are drawn from their beginning; leave out target_prefix, or sample and mbr");
}

FieldList Fields(TranslatorOptions& options) {
  FieldList fields;
  fields.Nest("", TypeField(&options.type))
      .Add("protect", &options.protect,
           "copy the spans that training protected (numbers, URLs, file names ...) exactly; no "
           "effect on a model that was trained without `protect`")
      .Add("shortlist", &options.shortlist,
           "file of `attend shortlist`: limits outputs to likely translations of the sentence's "
           "words; faster")
      .Add("estimator", &options.estimator,
           "model directory of an estimator of quality, which says how good each output is; a "
           "classifier of `source ||| translation` whose labels are numbers from 0 to 100");
  return fields;
}

FieldList Fields(ScoreOptions& options) {
  FieldList fields;
  fields.Add("alignments", &options.alignments, "write `score ||| 0-0 1-2 ...`")
      .Nest("", AlignmentLayer(&options.alignment_layer))
      .Add("batch_tokens", &options.batch_tokens, 1, 1e15, "tokens that run together on a thread");
  return fields;
}

FieldList BeamFields(int64_t* beam_size, double* length_penalty, int64_t* n_best) {
  FieldList fields;
  fields
      .Add("beam_size", beam_size, 1, kMostBeamSize,
           "hypotheses kept at each step; 1: greedy search")
      .Add("length_penalty", length_penalty, 0, 10,
           "alpha of ((5 + length) / 6)^alpha; scores are divided by it")
      .Add("n_best", n_best, 1, kMostBeamSize,
           "number of hypotheses to give, at most beam_size; fewer if the search finds fewer "
           "different texts");
  return fields;
}

void CheckBeam(int64_t beam_size, int64_t n_best) {
  if (n_best <= beam_size) return;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("n_best is {}, above the beam size of {}; raise beam_size", n_best, beam_size));
}

FieldList Fields(TranslationOptions& options) {
  FieldList fields = BeamFields(&options.beam_size, &options.length_penalty, &options.n_best);
  fields
      .Add("beam_groups", &options.beam_groups, 1, kMostBeamSize,
           "above 1: that many groups share the beam, and each avoids what those before it write "
           "(diverse beam search), for n-best lists that differ; a divisor of beam_size")
      .Add("diversity", &options.diversity, 0, 1000,
           "what a token costs, in log-probability, for each hypothesis of the groups before that "
           "took it")
      .Add("sample", &options.sample,
           "draw n_best outputs at random in place of a beam search, for back-translation")
      .Add("mbr", &options.mbr, {"none", "chrf", "bleu"},
           "draw mbr_samples outputs and give those that are most like all others, by this metric: "
           "minimum Bayes risk")
      .Add("mbr_samples", &options.mbr_samples, 1, kMostBeamSize, "of mbr: outputs to draw")
      .Add("temperature", &options.temperature, kLeastTemperature, 100,
           "of sample and mbr: what logits are divided by before a token is drawn")
      .Add("top_k", &options.top_k, 0, 1000,
           "of sample and mbr: draw from so many likeliest tokens; 0: from all")
      .Add("top_p", &options.top_p, 0, 1,
           "of sample and mbr: draw from the fewest likeliest tokens that have at least this "
           "probability together")
      .Add("seed", &options.seed, 0, 9e15,
           "of sample and mbr: what is drawn follows from it and the text")
      .Add("no_repeat_ngram", &options.no_repeat_ngram, 0, 1000,
           "so many tokens in a row occur at most once in an output; 0: anything may be repeated")
      .Add("repetition_penalty", &options.repetition_penalty, 1, 100,
           "log-probabilities of tokens that the output has already are multiplied by it (logits, "
           "where outputs are drawn); 1: nothing changes")
      .Nest("", LimitFields(options))
      .Add("max_length", &options.max_length, 0, 100000,
           "maximum number of output tokens, eos included; 0: input tokens plus 50, or more if "
           "outputs in training were longer, and room for min_length")
      .Add("min_length", &options.min_length, 0, 100000,
           "minimum number of visible output tokens before eos")
      .Add("allow_unknown", &options.allow_unknown, "allow the unknown token in the output")
      .Add("alignments", &options.alignments, "give word alignments, taken from cross-attention")
      .Nest("", AlignmentLayer(&options.alignment_layer))
      .Add("quality", &options.quality,
           "say how sure the model is of each output and of each of its words, 0 to 100, from the "
           "probabilities of their tokens")
      .Add("batch_sentences", &options.batch_sentences, 1, 1e6,
           "maximum number of sentences that run together on a thread")
      .Add("batch_tokens", &options.batch_tokens, 1, 1e15,
           "input tokens that run together on a thread; a sentence counts as at least 16");
  return fields;
}

void CheckTranslationOptions(const TranslationOptions& options) {
  TranslationOptions copy = options;
  CheckRanges(Fields(copy));
  if (!Draws(options)) CheckBeam(options.beam_size, options.n_best);
  CheckSearchKind(options);
  if (options.max_length > 0 && options.min_length > options.max_length) {
    throw Error(ErrorKind::kUsage,
                fmt::format("min_length is {}, above the max_length of {}; raise max_length",
                            options.min_length, options.max_length));
  }
}

}  // namespace attend
