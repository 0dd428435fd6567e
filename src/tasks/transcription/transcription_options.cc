#include "tasks/transcription/transcription_options.h"

#include "tasks/checks.h"
#include "tasks/translation/translation_options.h"

namespace attend {

FieldList Fields(TranscriptionOptions& options) {
  FieldList fields = BeamFields(&options.beam_size, &options.length_penalty, &options.n_best);
  fields.Add("max_length", &options.max_length, 0, 100000,
             "maximum number of output tokens, eos included; 0: the encoder's rows plus 50");
  return fields;
}

void CheckTranscriptionOptions(const TranscriptionOptions& options) {
  TranscriptionOptions copy = options;
  CheckRanges(Fields(copy));
  CheckBeam(options.beam_size, options.n_best);
}

}  // namespace attend
