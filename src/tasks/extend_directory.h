// A model directory with further tokens, from one without.
#ifndef ATTEND_TASKS_EXTEND_DIRECTORY_H_
#define ATTEND_TASKS_EXTEND_DIRECTORY_H_

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "model/model_directory.h"

namespace attend {

// The model with one more token for each text, in each of its vocabularies (text/
// vocabulary_extension.h). A token's rows of embeddings and output, and its bias, are the means of
// those of the tokens that stood for its text before. All else stays, the ids and rows of old
// tokens, too. Samples stay those of `model`. Throws Error(kUsage) for tokens that can't be added
// and a model without vocabulary, Error(kInput) for int8 weights.
std::shared_ptr<Model> ExtendModel(const std::shared_ptr<const Model>& model,
                                   std::span<const std::string> tokens);

// Writes the model directory `to`: ExtendModel of `from`, with samples by the reference kernels.
// The last is of the new tokens, but a parser and a transcriber get none: no text alone makes one.
// Returns the id of the first new token. Throws Error(kUsage) where both are one directory; else as
// LoadModel, ExtendModel and SaveModel.
int64_t ExtendDirectory(const std::filesystem::path& from, std::span<const std::string> tokens,
                        const std::filesystem::path& to);

}  // namespace attend

#endif  // ATTEND_TASKS_EXTEND_DIRECTORY_H_
