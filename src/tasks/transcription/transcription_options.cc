#include "tasks/transcription/transcription_options.h"

#include "tasks/checks.h"
#include "tasks/translation/translation_options.h"

namespace attend {

FieldList Fields(TranscriptionOptions& options) {
  FieldList fields = BeamFields(&options.beam_size, &options.length_penalty, &options.n_best);
  fields
      .Add("max_length", &options.max_length, 0, 100000,
           "maximum number of output tokens, eos included; 0: the encoder's rows plus 50")
      .Add("max_seconds", &options.max_seconds, 0, 3600,
           "a recording that is longer than this, or than the model reads, is cut at silence; 0: "
           "than the longest of the model's training, or 30 seconds where that is not known")
      .Add("min_silence", &options.min_silence, 0.01, 60,
           "seconds of silence at which a recording may be cut")
      .Add("silence_threshold", &options.silence_threshold, -120, -6,
           "what is quieter than the loudest parts by so many dB is silence")
      .Add("silence_margin", &options.silence_margin, 0, 60,
           "seconds of silence that stay around speech where a recording is cut")
      .Add("word_times", &options.word_times, "find out when each word is said");
  return fields;
}

void CheckTranscriptionOptions(const TranscriptionOptions& options) {
  TranscriptionOptions copy = options;
  CheckRanges(Fields(copy));
  CheckBeam(options.beam_size, options.n_best);
}

}  // namespace attend
