// From a recording's frames to a search for its text and back.
#ifndef ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_SEARCH_H_
#define ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_SEARCH_H_

#include <string>
#include <vector>

#include "attend/translator.h"
#include "search/search.h"
#include "tasks/loaded_model.h"
#include "tasks/search_work.h"

namespace attend {

// Throws Error(kUsage) for a model of another task, Error(kInput) for one that reads no frames.
void CheckTranscribes(const LoadedModel& loaded);

// The model must outlive it.
SearchModel MakeTranscriptionSearchModel(const LoadedModel& loaded);

// Throws Error(kInput) that opens with `name` for more rows than learned positions.
SearchInput MakeTranscriptionInput(const ModelConfig& config, std::vector<float> frames_TM,
                                   const TranscriptionOptions& options, const std::string& name);

// Texts are empty where the model has no vocabulary.
std::vector<Hypothesis> MakeTranscripts(const LoadedModel& loaded,
                                        std::vector<SearchResult> results);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_SEARCH_H_
