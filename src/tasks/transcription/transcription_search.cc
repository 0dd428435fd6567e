#include "tasks/transcription/transcription_search.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "tasks/task_names.h"
#include "tasks/transcription/suppressed_tokens.h"
#include "tasks/translation/translation_options.h"
#include "tasks/translation/translation_search.h"
#include "text/ascii.h"
#include "text/text_parts.h"

namespace attend {

void CheckTranscribes(const LoadedModel& loaded) {
  CheckTask(loaded.config(), {"transcription"});
  if (!loaded.config().frames || loaded.config().head != HeadKind::kVocabulary) {
    throw Error(ErrorKind::kInput,
                "the model's task is transcription, but it does not write text after frames");
  }
}

SearchModel MakeTranscriptionSearchModel(const LoadedModel& loaded) {
  SearchOptions search;
  search.max_beam_size = kMostBeamSize;
  search.prompt = loaded.config().TargetFrame().begin;
  search.eos = static_cast<int32_t>(loaded.config().special_ids.eos);
  if (const Vocabulary* vocabulary = loaded.target_vocabulary.get()) {
    search.text_of = [vocabulary](std::span<const int32_t> ids) {
      return WithSingleSpaces(vocabulary->Decode(ids));
    };
  }
  return {&loaded.weights, nullptr, std::move(search), loaded.make_stepper};
}

SearchInput MakeTranscriptionInput(const ModelConfig& config, std::vector<float> frames_TM,
                                   const TranscriptionOptions& options, const std::string& name) {
  const StackConfig& encoder = *config.encoder;
  SearchInput input;
  input.number_rows = config.frames->RowsOf(std::ssize(frames_TM) / config.frames->mels);
  if (encoder.positions == PositionKind::kLearned &&
      input.number_rows > encoder.max_positions - encoder.position_offset) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("{}: has {} rows of frames, expected at most {}, the model's learned "
                    "positions; cut it",
                    name, input.number_rows, encoder.max_positions - encoder.position_offset));
  }
  input.numbers = std::move(frames_TM);
  input.max_length = config.MaxOutput(options.max_length > 0 ? options.max_length
                                                             : input.number_rows + kExtraLength);
  input.options.beam_size = options.beam_size;
  input.options.n_best = options.n_best;
  input.options.length_penalty = options.length_penalty;
  input.options.leader_goes_on = true;  // vocabularies may be of a few words
  input.rules = SuppressedTokens(config);
  return input;
}

std::vector<Hypothesis> MakeTranscripts(const LoadedModel& loaded,
                                        std::vector<SearchResult> results) {
  std::vector<Hypothesis> hypotheses = MakeHypotheses(std::move(results));
  if (loaded.target_vocabulary == nullptr) return hypotheses;
  for (Hypothesis& hypothesis : hypotheses)
    hypothesis.text = Trimmed(loaded.target().Decode(hypothesis.ids));
  return hypotheses;
}

}  // namespace attend
