#include "tasks/loaded_model.h"

#include <utility>

#include "attend/error.h"
#include "model/quantize.h"

namespace attend {
namespace {

std::shared_ptr<const Vocabulary> VocabularyOf(const std::string& bytes, const char* where) {
  return bytes.empty() ? nullptr : Vocabulary::FromBytes(bytes, where);
}

const Vocabulary& NotNull(const std::shared_ptr<const Vocabulary>& vocabulary) {
  if (vocabulary != nullptr) return *vocabulary;
  throw Error(ErrorKind::kUsage, "the model has no vocabulary; give it ids instead of text");
}

}  // namespace

LoadedModel::LoadedModel(std::shared_ptr<const Model> given, const std::string& instruction_set)
    : weights(std::move(given), instruction_set),
      source_vocabulary(VocabularyOf(model().source_vocabulary, "source vocabulary")),
      target_vocabulary(model().target_vocabulary == model().source_vocabulary
                            ? source_vocabulary
                            : VocabularyOf(model().target_vocabulary, "target vocabulary")) {}

const Vocabulary& LoadedModel::source() const { return NotNull(source_vocabulary); }

const Vocabulary& LoadedModel::target() const { return NotNull(target_vocabulary); }

std::shared_ptr<const LoadedModel> Load(const std::string& directory, const LoadOptions& options) {
  return Load(LoadModel(directory), options);
}

std::shared_ptr<const LoadedModel> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) {
  return std::make_shared<LoadedModel>(WithWeights(std::move(model), options.type),
                                       options.instruction_set);
}

FieldList TypeField(WeightType* type) {
  FieldList fields;
  fields.Add(
      "type", type, {"stored", "f32", "int8"},
      "number type of the weights at run time; int8 quantizes an f32 model while loading it");
  return fields;
}

}  // namespace attend
