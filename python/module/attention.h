// Attention weights for Python.
#ifndef ATTEND_PYTHON_MODULE_ATTENTION_H_
#define ATTEND_PYTHON_MODULE_ATTENTION_H_

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "python/module/model_runner.h"

namespace attend {

// A NumPy array, which takes over the weights as they lie in memory.
nanobind::object ArrayOf(DenseAttention attention);

nanobind::list StrsOf(const std::vector<std::string>& texts);

// attend._results.TextAttention of a text, by a model of one stack.
nanobind::object AttentionOfOne(const LoadedModel& loaded, const nanobind::str& text);

// The method `attention` of a model of one stack.
template <class Task>
void BindAttention(nanobind::class_<Runner<Task>>& model) {
  model.def(
      "attention",
      [](const Runner<Task>& self, const nanobind::str& text) {
        return AttentionOfOne(*self.loaded, text);
      },
      nanobind::arg("text"),
      nanobind::sig("def attention(self, text: str) -> attend._results.TextAttention"),
      "What the tokens of a text look at.");
}

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_ATTENTION_H_
