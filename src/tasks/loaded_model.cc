#include "tasks/loaded_model.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "model/quantize.h"
#include "text/target_order.h"

namespace attend {
namespace {

std::shared_ptr<const Vocabulary> VocabularyOf(const std::string& bytes, const char* where) {
  return bytes.empty() ? nullptr : Vocabulary::FromBytes(bytes, where);
}

// Of an encoder and decoder; the source's is loaded already.
std::shared_ptr<const Vocabulary> TargetVocabularyOf(
    const Model& model, const std::shared_ptr<const Vocabulary>& source) {
  const auto vocabulary = model.target_vocabulary == model.source_vocabulary
                              ? source
                              : VocabularyOf(model.target_vocabulary, "target vocabulary");
  const bool reversed = vocabulary != nullptr && WritesRightToLeft(model.tokenization);
  return reversed ? vocabulary->Reversed() : vocabulary;
}

const Vocabulary& NotNull(const std::shared_ptr<const Vocabulary>& vocabulary) {
  if (vocabulary != nullptr) return *vocabulary;
  throw Error(ErrorKind::kUsage, "the model has no vocabulary; give it ids instead of text");
}

}  // namespace

LoadedModel::LoadedModel(std::shared_ptr<const Model> given, const LoadOptions& options)
    : LoadedModel(std::move(given), options, nullptr) {
  CheckEngineRuns();
}

LoadedModel::LoadedModel(std::shared_ptr<const Model> given, MakeStepper make)
    : LoadedModel(std::move(given), {}, std::move(make)) {}

LoadedModel::LoadedModel(std::shared_ptr<const Model> given, const LoadOptions& options,
                         MakeStepper make)
    : stored(std::move(given)),
      weights(WithWeights(stored, options.type), options.instruction_set),
      source_vocabulary(VocabularyOf(model().source_vocabulary, "source vocabulary")),
      target_vocabulary(TargetVocabularyOf(model(), source_vocabulary)),
      make_stepper(std::move(make)) {}

void LoadedModel::CheckEngineRuns() const {
  if (config().architecture == Architecture::kTransformer) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("the model's architecture is {}, which attend's own engine does not run; "
                          "with --device cpu `attend translate` and `attend score` run it through "
                          "LibTorch",
                          ArchitectureName(config().architecture)));
}

namespace {

// Adapters are of whole models.
std::shared_ptr<const LoadedModel> Whole(std::shared_ptr<const LoadedModel> model) {
  if (model->base == nullptr) return model;
  throw Error(ErrorKind::kUsage, "the model has an adapter already; give the adapter its base");
}

}  // namespace

LoadedModel::LoadedModel(std::shared_ptr<const LoadedModel> of_base,
                         const std::shared_ptr<const Adapter>& adapter, const std::string& where)
    : base(Whole(std::move(of_base))),
      weights(AdaptModel(base->stored, base->weights.model, adapter, where),
              std::shared_ptr<const Weights>(base, &base->weights)),
      source_vocabulary(base->source_vocabulary),
      target_vocabulary(base->target_vocabulary) {
  base->stored->tensors.ReleasePages();  // which were read to add to them
}

const Vocabulary& LoadedModel::source() const { return NotNull(source_vocabulary); }

const Vocabulary& LoadedModel::target() const { return NotNull(target_vocabulary); }

std::shared_ptr<const LoadedModel> Load(const std::string& directory, const LoadOptions& options) {
  return Load(LoadModel(directory), options);
}

std::shared_ptr<const LoadedModel> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) {
  if (!options.adapter.empty())
    model = MergeAdapter(model, LoadAdapter(options.adapter), options.adapter);
  return std::make_shared<LoadedModel>(std::move(model), options);
}

std::shared_ptr<const LoadedModel> WithAdapter(const std::shared_ptr<const LoadedModel>& base,
                                               const std::string& directory) {
  return std::make_shared<LoadedModel>(base, LoadAdapter(directory), directory);
}

FieldList TypeField(WeightType* type) {
  FieldList fields;
  fields.Add(
      "type", type, {"stored", "f32", "int8"},
      "number type of the weights at run time; int8 quantizes an f32 model while loading it");
  return fields;
}

FieldList AdapterField(std::string* adapter) {
  FieldList fields;
  fields.Add("adapter", adapter, "directory of an adapter of the model, to run it with");
  return fields;
}

}  // namespace attend
