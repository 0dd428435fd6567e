// Models of transcription as the service has them: /v1/audio/transcriptions, as the OpenAI API has
// it.
#ifndef ATTEND_SERVE_TASKS_TRANSCRIPTION_TRANSCRIPTION_H_
#define ATTEND_SERVE_TASKS_TRANSCRIPTION_TRANSCRIPTION_H_

#include <memory>

#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/task_handler.h"

namespace attend {

// Throws as Transcriber does.
std::shared_ptr<ServedModel> ServeTranscription(const ModelToServe& model,
                                                const ServeOptions& options, WorkPool* pool);

std::unique_ptr<TaskHandler> TranscriptionHandler(const HandlerContext& context);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSCRIPTION_TRANSCRIPTION_H_
