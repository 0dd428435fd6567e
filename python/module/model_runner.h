// What the classes of models stand on: a model with what runs it; no Python.
#ifndef ATTEND_PYTHON_MODULE_MODEL_RUNNER_H_
#define ATTEND_PYTHON_MODULE_MODEL_RUNNER_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/scorer.h"
#include "attend/translator.h"
#include "attend/vocabulary.h"
#include "base/fields.h"
#include "tasks/attention_labels.h"
#include "tasks/loaded_model.h"
#include "tasks/translation/line_batch.h"

namespace attend {

// What a model of any task is loaded with.
struct LoadingOptions {
  std::filesystem::path path;  // the model directory; no option
  int64_t threads = 0;
  WeightType type = WeightType::kStored;
  std::string adapter;
};
FieldList Fields(LoadingOptions& options);
// The model directory at `path`, as these say.
std::shared_ptr<const LoadedModel> LoadWith(const LoadingOptions& options);

// What a ModelRunner is made with.
struct RunnerOptions {
  LoadingOptions loading;
  TranslatorOptions translator;  // its type and threads are those of `loading`
};
FieldList Fields(RunnerOptions& options);

// The model for the Python class of this name. Throws as attend::Load, and Error(kUsage) for a
// model of another task, which names the class for it. An Encoder takes any encoder alone.
std::shared_ptr<const LoadedModel> LoadFor(std::string_view name, const LoadingOptions& options);

// Throws Error(kUsage) where `name`, a class or a method, is not for models of this task.
void CheckClass(const ModelConfig& config, std::string_view name, bool fits);

// "Generator('my-model/model', int8, 2 threads)".
std::string Repr(const char* name, const LoadedModel& loaded, const LoadingOptions& options);

// What a text is translated with.
struct TextOptions {
  LineOptions lines;
  TranslationOptions translation;
};
FieldList Fields(TextOptions& options);

// Weights of one kind of attention, [layers, heads, queries, keys], row by row; what comes later in
// the target has weight 0.
struct DenseAttention {
  std::vector<float> weights;
  std::array<size_t, 4> shape = {};
};

struct PairAttention {
  std::string target;  // the text
  AttentionLabels labels;
  DenseAttention encoder, decoder, cross;
};

// Safe to use from many threads.
class ModelRunner {
 public:
  // Throws as Translator's constructor.
  ModelRunner(std::shared_ptr<const LoadedModel> loaded, const RunnerOptions& options);
  // Of several models that translate together, as Translator's constructor for them. It scores no
  // given texts.
  ModelRunner(std::vector<std::shared_ptr<const LoadedModel>> models, std::vector<double> weights,
              const RunnerOptions& options);

  std::string Repr(const char* name) const { return attend::Repr(name, *loaded_, loading_); }
  // Source and target; none where the model does not name them.
  const std::vector<std::string>& languages() const { return loaded_->config().languages; }
  const Translator& translator() const { return translator_; }
  // Made at its first use, with threads of its own. Throws Error(kUsage) where models are several.
  const Scorer& scorer() const;
  // Null for a model without vocabulary.
  const std::shared_ptr<const Vocabulary>& source_vocabulary() const {
    return loaded_->source_vocabulary;
  }
  const std::shared_ptr<const Vocabulary>& target_vocabulary() const {
    return loaded_->target_vocabulary;
  }

  // The texts from number `first` of a call on, which errors name, as LineBatch translates them.
  std::vector<Translation> Translate(std::span<const std::string> texts, int64_t first,
                                     const TextOptions& options,
                                     std::span<const std::string> target_prefixes = {}) const;
  // Where no target is given, the model translates.
  PairAttention Attention(const std::string& source,
                          const std::optional<std::string>& target) const;

 private:
  std::shared_ptr<const LoadedModel> loaded_;  // the first of several
  size_t models_ = 1;
  LoadingOptions loading_;
  Translator translator_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Scorer> scorer_;
};

// A model of another task: Generator, Tagger, Classifier or TextEncoder. Safe to use from many
// threads.
template <class Task>
struct Runner {
  // Throws as Task's constructor.
  Runner(std::shared_ptr<const LoadedModel> model, const LoadingOptions& options)
      : loaded(std::move(model)),
        loading(options),
        task(loaded, static_cast<int>(options.threads)) {}

  std::string Repr(const char* name) const { return attend::Repr(name, *loaded, loading); }

  const std::shared_ptr<const LoadedModel> loaded;
  const LoadingOptions loading;
  const Task task;
};

// What the tokens of a text look at in a model of one stack.
struct TextAttention {
  std::vector<std::string> pieces;  // as the model reads the text, bos (and an encoder's eos) too
  DenseAttention weights;
};
// Throws Error(kInput) for a text that is longer than the model can read.
TextAttention AttentionOf(const LoadedModel& loaded, const std::string& text);

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_MODEL_RUNNER_H_
