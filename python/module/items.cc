// attend.ItemClassifier.
#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <span>

#include "attend/classifier.h"
#include "attend/error.h"
#include "python/module/arrays.h"
#include "python/module/attention.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/making.h"
#include "python/module/model_runner.h"
#include "python/module/pictures.h"
#include "python/module/texts.h"
#include "python/module/vector_rows.h"
#include "python/module/windows.h"
#include "tasks/fusion/item_attention.h"
#include "tasks/fusion/item_reader.h"

namespace attend {
namespace nb = nanobind;
namespace {

// A mapping with any of "text", "picture" (a path or bytes) and "links"; None is as good as none.
// What lines of training have beside them, "id" and "label", says nothing here.
ClassifiedItem ItemOf(const nb::handle& given) {
  if (!PyMapping_Check(given.ptr()) || PyUnicode_Check(given.ptr()))
    throw nb::type_error("an item is a mapping of text, picture and links");
  ClassifiedItem item;
  for (const nb::handle key : nb::borrow<nb::iterable>(given)) {
    if (!PyUnicode_Check(key.ptr())) throw nb::type_error("an item's keys are texts");
    const auto name = nb::cast<std::string>(key);
    const nb::object value = nb::borrow<nb::object>(given)[key];
    if (name == "id" || name == "label") continue;
    if (name != "text" && name != "picture" && name != "links") {
      throw Error(ErrorKind::kUsage,
                  fmt::format("unknown input '{}', expected text, picture or links", name));
    }
    if (value.is_none()) continue;
    if (name == "text") {
      item.text = TextOf(value);
    } else if (name == "picture") {
      item.picture = PictureOf(value, &item.picture_name);
    } else {
      item.links = TextsOf(value);
    }
  }
  return item;
}

// Calls run(items, first, windows) with one window after another; `first` is the first one's number
// from 0.
template <class Run>
void InItemWindows(const nb::iterable& items, const Run& run) {
  const nb::object iterator = IteratorOf(items);
  Windows windows;
  int64_t before = 0;
  for (bool more = true; more;) {
    std::vector<ClassifiedItem> some;
    int64_t bytes = 0;
    while (some.size() < windows.size() && bytes < kMostPictureBytes) {
      const nb::object next = NextOf(iterator);
      more = next.is_valid();
      if (!more) break;
      some.push_back(ItemOf(next));
      bytes += std::ssize(some.back().picture);
    }
    if (!some.empty()) run(some, before, &windows);
    before += std::ssize(some);
  }
}

nb::object ResultOf(const ItemClassification& found) {
  nb::list classes;
  for (const ClassProbability& each : found.classes)
    classes.append(nb::make_tuple(each.label, each.probability));
  nb::dict contributions;
  for (const InputContribution& each : found.contributions) {
    nb::object difference = nb::none();
    if (each.difference) difference = nb::float_(*each.difference);
    contributions[each.input.c_str()] = difference;
  }
  return Make(PythonClass(kResultsModule, "ItemClassification"), nb::tuple(classes), contributions,
              found.cut);
}

nb::list ClassifyItems(const Runner<ItemClassifier>& self, const nb::iterable& items,
                       bool contributions) {
  nb::list results;
  CutTexts cut;
  InItemWindows(items,
                [&](const std::vector<ClassifiedItem>& some, int64_t first, Windows* windows) {
                  std::vector<ItemClassification> found;
                  windows->Run([&](const std::atomic<bool>* stop) {
                    found = self.task.Classify(some, contributions, stop, first);
                  });
                  for (const ItemClassification& each : found) {
                    cut.Add(each.cut, static_cast<int64_t>(nb::len(results)));
                    results.append(ResultOf(each));
                  }
                });
  Warn(cut);
  return results;
}

nb::object EmbedItems(const Runner<ItemClassifier>& self, const nb::iterable& items,
                      const std::string& of) {
  if (of != "text" && of != "picture")
    throw Error(ErrorKind::kUsage, fmt::format("of is '{}', expected text or picture", of));
  const EmbeddedPart part = of == "text" ? EmbeddedPart::kText : EmbeddedPart::kPicture;
  VectorRows rows(self.task.shared_width());
  InItemWindows(items,
                [&](const std::vector<ClassifiedItem>& some, int64_t first, Windows* windows) {
                  windows->Run([&](const std::atomic<bool>* stop) {
                    for (const ItemVector& each : self.task.Embed(some, part, stop, first))
                      rows.Add(each.values_W, each.cut);
                  });
                });
  return std::move(rows).ToNumpy(/*one=*/false);
}

nb::object AttentionOfGiven(const Runner<ItemClassifier>& self, const nb::handle& given) {
  const ClassifiedItem item = ItemOf(given);
  ItemAttention found;
  Windows().Run(
      [&](const std::atomic<bool>*) { found = AttentionOfItem(ItemReader(self.loaded), item); });
  const int64_t patch = self.loaded->config().fusion->patches.patch;
  const size_t rows = found.rows.rollout.size();
  return Make(PythonClass(kResultsModule, "ItemAttention"), StrsOf(found.pieces),
              nb::make_tuple(found.picture.height / patch, found.picture.width / patch),
              StrsOf(found.links), ArrayOf(found.rows.heads, {rows}),
              ArrayOf(std::vector<float>(found.rows.rollout.begin(), found.rows.rollout.end()),
                      std::span(&rows, 1)));
}

}  // namespace

void BindItems(nb::module_& module) {
  nb::class_<Runner<ItemClassifier>> classifier(module, "ItemClassifier",
                                                "Tells the class of items with a text, a picture "
                                                "and links to nodes of a graph, any of which\n"
                                                "may be missing. The same item gets the same "
                                                "probabilities, bit for bit, whatever else runs.");
  BindMaking(classifier, "ItemClassifier");
  classifier
      .def(
          "classify", &ClassifyItems, nb::arg("items"), nb::arg("contributions") = false,
          nb::sig("def classify(self, items: collections.abc.Iterable[collections.abc.Mapping[str, "
                  "typing.Any]], contributions: bool = False) -> "
                  "list[attend._results.ItemClassification]"),
          "The classes of items: mappings with any of `text`, `picture` (a path of a PNG or JPEG\n"
          "file, or its bytes) and `links` (names of nodes). With `contributions` also how much "
          "the\n"
          "log-probability of the chosen class falls without each input.")
      .def("embed", &EmbedItems, nb::arg("items"), nb::arg("of"),
           nb::sig("def embed(self, items: collections.abc.Iterable[collections.abc.Mapping[str, "
                   "typing.Any]], of: str) -> numpy.typing.NDArray[numpy.float32]"),
           "The vectors [items, shared_width] of the items' texts, or of their pictures, by\n"
           "themselves; `of` is \"text\" or \"picture\". Each has length 1, both share one space,\n"
           "and the product of a text's and a picture's tells how well they go together. For\n"
           "models that were trained with a fusion.shared_width.")
      .def("attention", &AttentionOfGiven, nb::arg("item"),
           nb::sig("def attention(self, item: collections.abc.Mapping[str, typing.Any]) -> "
                   "attend._results.ItemAttention"),
           "What the summary of an item, which its class is read from, looks at.")
      .def_prop_ro(
          "shared_width",
          [](const Runner<ItemClassifier>& self) { return self.task.shared_width(); },
          nb::sig("def shared_width(self, /) -> int"),
          "The length of a vector that `embed` gives; 0: the model has none.")
      .def_prop_ro(
          "labels", [](const Runner<ItemClassifier>& self) { return self.task.labels(); },
          nb::sig("def labels(self, /) -> list[str]"), "The names of all labels.")
      .def_prop_ro(
          "nodes", [](const Runner<ItemClassifier>& self) { return self.task.nodes(); },
          nb::sig("def nodes(self, /) -> list[str]"), "The names of the graph's nodes.");
}

}  // namespace attend
