#include "engine/tasks/translation_options.h"

#include <fmt/format.h>

#include "attend/error.h"

namespace attend {
namespace {

FieldList AlignmentLayer(int64_t* layer) {
  FieldList fields;
  fields.Add("alignment_layer", layer, 0, 1000,
             "decoder layer that alignments come from, from 1; 0: the last");
  return fields;
}

}  // namespace

FieldList Fields(TranslatorOptions& options) {
  FieldList fields;
  fields
      .Add("type", &options.type, {"stored", "f32", "int8"},
           "numbers that weights run as; int8 quantizes an f32 model as it is loaded")
      .Add("protect", &options.protect,
           "copy exactly what training protected (numbers, URLs, file names ...); a model that was "
           "trained without `protect` has no placeholders for it")
      .Add("shortlist", &options.shortlist,
           "file of `attend shortlist`: only words that may translate the sentence; faster");
  return fields;
}

FieldList Fields(ScoreOptions& options) {
  FieldList fields;
  fields.Add("alignments", &options.alignments, "write `score ||| 0-0 1-2 ...`")
      .Nest("", AlignmentLayer(&options.alignment_layer))
      .Add("batch_tokens", &options.batch_tokens, 1, 1e15, "pieces that run together on a thread");
  return fields;
}

FieldList Fields(TranslationOptions& options) {
  FieldList fields;
  fields
      .Add("beam_size", &options.beam_size, 1, kMostBeamSize,
           "hypotheses kept at each step; 1: greedy")
      .Add("length_penalty", &options.length_penalty, 0, 10,
           "alpha of ((5 + length) / 6)^alpha, by which scores are divided")
      .Add("n_best", &options.n_best, 1, kMostBeamSize,
           "hypotheses given, at most beam_size; fewer where fewer texts are found")
      .Add("max_length", &options.max_length, 0, 100000,
           "pieces of output, eos included; 0: those of the input plus 50, or more where outputs "
           "of training were longer, and what min_length takes")
      .Add("min_length", &options.min_length, 0, 100000,
           "pieces of output that show and stand before eos at least")
      .Add("allow_unknown", &options.allow_unknown, "the output may hold the unknown piece")
      .Add("alignments", &options.alignments, "give word alignments, from cross-attention")
      .Nest("", AlignmentLayer(&options.alignment_layer))
      .Add("batch_sentences", &options.batch_sentences, 1, 1e6,
           "sentences that run together on a thread at most")
      .Add("batch_tokens", &options.batch_tokens, 1, 1e15,
           "pieces of input that run together on a thread; a sentence counts 16 at least");
  return fields;
}

void CheckTranslationOptions(const TranslationOptions& options) {
  TranslationOptions copy = options;
  const FieldList fields = Fields(copy);
  for (const Field& field : fields.fields()) {
    const double value = std::holds_alternative<int64_t*>(field.value)
                             ? static_cast<double>(*std::get<int64_t*>(field.value))
                         : std::holds_alternative<double*>(field.value)
                             ? *std::get<double*>(field.value)
                             : field.min;
    if (value >= field.min && value <= field.max) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("{} is {}, expected {}", field.name, value, field.RangeText()));
  }
  if (options.n_best > options.beam_size) {
    throw Error(ErrorKind::kUsage,
                fmt::format("n_best is {}, above the beam size of {}; raise beam_size",
                            options.n_best, options.beam_size));
  }
  if (options.max_length > 0 && options.min_length > options.max_length) {
    throw Error(ErrorKind::kUsage,
                fmt::format("min_length is {}, above the max_length of {}; raise max_length",
                            options.min_length, options.max_length));
  }
}

}  // namespace attend
