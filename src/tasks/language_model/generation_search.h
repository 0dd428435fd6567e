// From a prompt and GenerationOptions to a search, and from its results to texts: what a Generator
// and a service share.
#ifndef ATTEND_TASKS_LANGUAGE_MODEL_GENERATION_SEARCH_H_
#define ATTEND_TASKS_LANGUAGE_MODEL_GENERATION_SEARCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/generator.h"
#include "attend/vocabulary.h"
#include "engine/weights.h"
#include "search/search.h"
#include "tasks/language_model/growing_text.h"
#include "tasks/search_work.h"

namespace attend {

// Throws Error(kUsage) for weights that are no decoder alone with a vocabulary head.
SearchModel MakeSearchModel(const Weights& weights);

// `prompt`: ids without bos. Throws Error(kUsage) for an id outside the vocabulary, Error(kInput)
// that opens with `name` ("prompt 3") for a prompt that leaves no learned position.
SearchInput MakeSearchInput(const Weights& weights, std::span<const int32_t> prompt,
                            const GenerationOptions& options, const std::string& name);

// The outputs of one prompt as texts that grow. Each output grows on one thread at a time.
class GrowingOutputs {
 public:
  // Called with each piece of an output as it comes.
  using Show = std::function<void(int64_t output, std::string piece)>;

  // Vocabulary and options must outlive it. Without a vocabulary texts stay empty, and Grow must
  // not be called.
  GrowingOutputs(const Vocabulary* vocabulary, std::span<const int32_t> prompt,
                 const GenerationOptions& options, Show show = nullptr);

  // false: a stop text has come, and the output ends.
  bool Grow(const Growth& growth);
  std::vector<Generation> End(std::vector<SearchResult> results);

 private:
  void SendNewText(size_t output, bool ended);

  const GenerationOptions& options_;
  const Show show_;
  std::optional<Continuation> continuation_;
  std::vector<GrowingText> texts_;  // by output
};

}  // namespace attend

#endif  // ATTEND_TASKS_LANGUAGE_MODEL_GENERATION_SEARCH_H_
