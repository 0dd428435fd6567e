#include "tasks/transcription/transcription_options.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "tasks/checks.h"
#include "tasks/translation/translation_options.h"

namespace attend {

FieldList Fields(TranscriptionOptions& options) {
  FieldList fields;
  fields
      .Add("beam_size", &options.beam_size, 1, kMostBeamSize,
           "hypotheses kept at each step; 1: greedy search")
      .Add("length_penalty", &options.length_penalty, 0, 10,
           "alpha of ((5 + length) / 6)^alpha; scores are divided by it")
      .Add("n_best", &options.n_best, 1, kMostBeamSize,
           "number of hypotheses to give, at most beam_size; fewer if the search finds fewer "
           "different texts")
      .Add("max_length", &options.max_length, 0, 100000,
           "maximum number of output tokens, eos included; 0: the encoder's rows plus 50");
  return fields;
}

void CheckTranscriptionOptions(const TranscriptionOptions& options) {
  TranscriptionOptions copy = options;
  CheckRanges(Fields(copy));
  if (options.n_best <= options.beam_size) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("n_best is {}, above the beam size of {}; raise beam_size",
                          options.n_best, options.beam_size));
}

}  // namespace attend
