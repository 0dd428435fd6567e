#include "train/tasks/fusion/item_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "attend/classifier.h"
#include "base/files.h"
#include "metrics/classes.h"
#include "metrics/retrieval.h"
#include "tasks/fusion/item_reader.h"

namespace attend {
namespace {

ItemInputs InputsOf(const ClassifiedItem& item) {
  return {item.text.has_value(), !item.pixels.empty(), !item.links.empty()};
}

// The item without what is not wanted.
ClassifiedItem Some(ClassifiedItem item, const ItemInputs& wanted) {
  for (size_t input = 0; input < wanted.size(); ++input)
    if (!wanted[input]) LeaveOut(ItemInputNames()[input], &item);
  return item;
}

using Items = std::vector<ClassifiedItem>;

// One window of items after another, so that few pictures are in memory at once: calls `use` with
// each window's items, and with the number of its first one.
void ForEachWindow(const ItemCorpus& items,
                   const std::function<void(const Items& window, int64_t first)>& use) {
  for (int64_t first = 0; first < items.size(); first += items.window_size()) {
    Items window;
    for (int64_t i = first; i < std::min(items.size(), first + items.window_size()); ++i)
      window.push_back(
          {.text = items.item(i).text, .pixels = items.Pixels(i), .links = items.item(i).links});
    use(window, first);
  }
}

// Labels, found and expected, of the items that have all of `wanted`, read without the others; of
// all items as they are where nothing is wanted.
struct Answers {
  ItemInputs wanted;
  std::vector<std::string> found, expected;

  bool all() const { return std::ranges::find(wanted, true) == wanted.end(); }
  bool Fits(const ItemInputs& has) const {
    bool fits = true;
    for (size_t input = 0; input < has.size(); ++input) fits &= has[input] || !wanted[input];
    return fits;
  }
  ClassScores Scores() const { return ScoreClasses(found, expected); }
};

void Ask(const ItemClassifier& classifier, const ItemCorpus& items, const Items& window,
         int64_t first, Answers* answers) {
  Items some;
  for (size_t i = 0; i < window.size(); ++i) {
    if (!answers->Fits(InputsOf(window[i]))) continue;
    some.push_back(answers->all() ? window[i] : Some(window[i], answers->wanted));
    answers->expected.push_back(items.item(first + static_cast<int64_t>(i)).label);
  }
  for (const ItemClassification& each : classifier.Classify(some))
    answers->found.push_back(each.classes[0].label);
}

// Each set of inputs; the first is empty.
std::vector<Answers> AnswersOfSets() {
  std::vector<Answers> sets;
  for (unsigned set = 0; set < 1U << ItemInputNames().size(); ++set) {
    Answers& answers = sets.emplace_back();
    for (size_t input = 0; input < answers.wanted.size(); ++input)
      answers.wanted[input] = (set >> input & 1U) != 0;
  }
  return sets;
}

Json NamesOf(const ItemInputs& wanted) {
  Json names = Json::array();
  for (size_t input = 0; input < wanted.size(); ++input) {
    if (wanted[input]) names.push_back(ItemInputNames()[input]);
  }
  return names;
}

Json BySets(std::span<const Answers> sets) {
  Json subsets = Json::array();
  for (const Answers& some : sets) {
    if (some.expected.empty()) continue;
    const ClassScores scores = some.Scores();
    subsets.push_back({{"inputs", NamesOf(some.wanted)},
                       {"accuracy", scores.accuracy()},
                       {"macro_f1", scores.macro_f1()},
                       {"items", scores.items()}});
  }
  return subsets;
}

// Vectors of the texts and of the pictures of items that have both.
struct Vectors {
  std::vector<float> texts, pictures;
};

void AddVectors(const ItemClassifier& classifier, const Items& window, Vectors* vectors) {
  Items both;
  std::ranges::copy_if(window, std::back_inserter(both), [](const ClassifiedItem& item) {
    return item.text.has_value() && !item.pixels.empty();
  });
  const auto add = [&](EmbeddedPart part, std::vector<float>* all) {
    for (const ItemVector& each : classifier.Embed(both, part))
      all->insert(all->end(), each.values_W.begin(), each.values_W.end());
  };
  add(EmbeddedPart::kText, &vectors->texts);
  add(EmbeddedPart::kPicture, &vectors->pictures);
}

// Recall at 1 and at 10; nothing where there are none.
Json Retrieval(const Vectors& vectors, int64_t width) {
  if (vectors.texts.empty()) return Json::object();
  const std::vector<int64_t> to_picture = PlacesOfMatches(vectors.texts, vectors.pictures, width),
                             to_text = PlacesOfMatches(vectors.pictures, vectors.texts, width);
  return {{"text_to_picture_recall_1", RecallAt(to_picture, 1)},
          {"text_to_picture_recall_10", RecallAt(to_picture, 10)},
          {"picture_to_text_recall_1", RecallAt(to_text, 1)},
          {"picture_to_text_recall_10", RecallAt(to_text, 10)},
          {"retrieval_items", to_text.size()}};
}

}  // namespace

Json TestItems(const TestSetting& setting, const ItemCorpus& items, int threads) {
  const ItemClassifier classifier(setting.model, {.threads = threads});
  const int64_t width = classifier.shared_width();
  std::vector<Answers> sets = AnswersOfSets();
  Vectors vectors;
  ForEachWindow(items, [&](const Items& window, int64_t first) {
    for (Answers& answers : sets) Ask(classifier, items, window, first, &answers);
    if (width > 0) AddVectors(classifier, window, &vectors);
  });
  const Answers& whole = sets[0];
  std::string lines;
  for (int64_t i = 0; i < items.size(); ++i)
    lines += fmt::format("{}\t{}\t{}\n", whole.expected[i], whole.found[i], items.item(i).id);
  WriteFileAtomically(setting.output / "test_output.txt", lines);
  const ClassScores scores = whole.Scores();
  Json result = {{"accuracy", scores.accuracy()}, {"macro_f1", scores.macro_f1()},
                 {"items", scores.items()},       {"by_inputs", BySets(std::span(sets).subspan(1))},
                 {"labels", scores.classes},      {"confusion", scores.confusion}};
  if (width > 0) result.update(Retrieval(vectors, width));
  return result;
}

}  // namespace attend
