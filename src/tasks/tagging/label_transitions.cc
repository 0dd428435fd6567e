#include "tasks/tagging/label_transitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attend/error.h"
#include "text/entity_labels.h"

namespace attend {
namespace {

void Forbid(const std::vector<std::string>& labels, LabelScheme scheme,
            LabelTransitions* transitions) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!IsEntityLabel(labels[i])) {
      throw Error(ErrorKind::kInput,
                  fmt::format("the model's label '{}' is none of entities, expected O, or B, I, E "
                              "or S, a '-' and a type",
                              labels[i]));
    }
    if (!MayFollow("", labels[i], scheme)) transitions->begin_L[i] = kNever;
    if (!MayFollow(labels[i], "", scheme)) transitions->end_L[i] = kNever;
    for (size_t next = 0; next < labels.size(); ++next) {
      if (!MayFollow(labels[i], labels[next], scheme))
        transitions->next_LL[i * labels.size() + next] = kNever;
    }
  }
}

}  // namespace

LabelTransitions TransitionsOf(const ModelConfig& config, const TensorTable& tensors) {
  LabelTransitions transitions = LabelTransitions::Free(std::ssize(config.labels));
  if (config.crf) {
    const auto copy = [&](const char* name, std::vector<float>* to) {
      std::copy_n(tensors.Get(name).f32(), to->size(), to->begin());
    };
    copy("head.begin", &transitions.begin_L);
    copy("head.end", &transitions.end_L);
    copy("head.transitions", &transitions.next_LL);
  }
  if (config.label_scheme != LabelScheme::kNone)
    Forbid(config.labels, config.label_scheme, &transitions);
  return transitions;
}

}  // namespace attend
