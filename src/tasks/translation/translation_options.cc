#include "tasks/translation/translation_options.h"

#include <fmt/format.h>

#include "attend/error.h"
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

}  // namespace

FieldList Fields(TranslatorOptions& options) {
  FieldList fields;
  fields.Nest("", TypeField(&options.type))
      .Add("protect", &options.protect,
           "copy the spans that training protected (numbers, URLs, file names ...) exactly; no "
           "effect on a model that was trained without `protect`")
      .Add("shortlist", &options.shortlist,
           "file of `attend shortlist`: limits outputs to likely translations of the sentence's "
           "words; faster");
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
      .Add("max_length", &options.max_length, 0, 100000,
           "maximum number of output tokens, eos included; 0: input tokens plus 50, or more if "
           "outputs in training were longer, and room for min_length")
      .Add("min_length", &options.min_length, 0, 100000,
           "minimum number of visible output tokens before eos")
      .Add("allow_unknown", &options.allow_unknown, "allow the unknown token in the output")
      .Add("alignments", &options.alignments, "give word alignments, taken from cross-attention")
      .Nest("", AlignmentLayer(&options.alignment_layer))
      .Add("batch_sentences", &options.batch_sentences, 1, 1e6,
           "maximum number of sentences that run together on a thread")
      .Add("batch_tokens", &options.batch_tokens, 1, 1e15,
           "input tokens that run together on a thread; a sentence counts as at least 16");
  return fields;
}

void CheckTranslationOptions(const TranslationOptions& options) {
  TranslationOptions copy = options;
  CheckRanges(Fields(copy));
  CheckBeam(options.beam_size, options.n_best);
  if (options.max_length > 0 && options.min_length > options.max_length) {
    throw Error(ErrorKind::kUsage,
                fmt::format("min_length is {}, above the max_length of {}; raise max_length",
                            options.min_length, options.max_length));
  }
}

}  // namespace attend
