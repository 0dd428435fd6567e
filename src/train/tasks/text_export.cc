#include "train/tasks/text_export.h"

#include "text/tokenizer.h"
#include "train/loop/parameters.h"
#include "train/tasks/vocabulary_choice.h"

namespace attend {

ExportedTextModel CompleteTextModel(const ExportedRun& run, Model* model) {
  ExportedTextModel text{VocabularyOf(run), nn::Transformer(model->config)};
  model->source_vocabulary = model->target_vocabulary = text.vocabulary->bytes();
  model->tokenization = {{"kind", TypeName(text.vocabulary->type())}, {"joint", true}};
  ReadParameters(model->tensors, text.transformer.ptr().get());
  text.transformer->eval();
  return text;
}

}  // namespace attend
