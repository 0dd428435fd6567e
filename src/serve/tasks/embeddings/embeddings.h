// A vector for each text, by any model that is an encoder alone: /v1/embeddings, as the OpenAI API
// has it.
#ifndef ATTEND_SERVE_TASKS_EMBEDDINGS_EMBEDDINGS_H_
#define ATTEND_SERVE_TASKS_EMBEDDINGS_EMBEDDINGS_H_

#include "serve/tasks/encoder_handler.h"

namespace attend {

EncoderRoute EmbeddingsRoute();

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_EMBEDDINGS_EMBEDDINGS_H_
