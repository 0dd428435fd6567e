// Models of fusion as the service has them: items with a text, a picture and links at /v1/classify,
// and where texts find pictures, the vectors of either at /v1/embeddings.
#ifndef ATTEND_SERVE_TASKS_FUSION_FUSION_H_
#define ATTEND_SERVE_TASKS_FUSION_FUSION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/classifier.h"
#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/tasks/encoder_handler.h"

namespace attend {

// Throws as ItemClassifier does.
std::shared_ptr<ServedModel> ServeFusion(const ModelToServe& model, const ServeOptions& options,
                                         WorkPool* pool);

// What a request may ask of each item beside its classes.
struct ItemQuestions {
  bool attention = false, contributions = false, graph = false;
};
// Those that are of items alone.
FieldList ItemFields(ItemQuestions* questions);
// Throws Error(kInput) where one of them is asked of something else.
void RefuseItemQuestions(const ItemQuestions& questions);

// Takes `item`, an item or a list of items, where the body has it; else returns false. Throws
// Error(kInput) for a body that has `name`, which stands for texts, or pictures too, and for what
// is no item.
bool TakeFusionItems(Json* body, const std::string& name, EncoderRequest* asked);
// The member in the description of a request.
Json FusionItemSchemas();

// Completes a request about items: `top` classes of each.
void AskAboutItems(const ItemQuestions& questions, int64_t top, EncoderRequest* asked);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_FUSION_FUSION_H_
