// Attention weights for Python.
#ifndef ATTEND_PYTHON_MODULE_ATTENTION_H_
#define ATTEND_PYTHON_MODULE_ATTENTION_H_

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "python/module/arrays.h"
#include "python/module/model_runner.h"

namespace attend {

// A NumPy array.
nanobind::object ArrayOf(DenseAttention attention);

// Maps [layers][heads][...] of one shape as one array, with `map` as the shape of each.
template <class Number>
nanobind::object ArrayOf(const std::vector<std::vector<std::vector<Number>>>& maps,
                         std::vector<size_t> map) {
  std::vector<float> values;
  for (const auto& heads : maps)
    for (const auto& each : heads) values.insert(values.end(), each.begin(), each.end());
  map.insert(map.begin(), {maps.size(), maps.empty() ? 0 : maps[0].size()});
  return ArrayOf(std::move(values), map);
}

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
