#include "train/tasks/fusion/item_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attend/classifier.h"
#include "base/files.h"
#include "metrics/classes.h"
#include "metrics/retrieval.h"

namespace attend {
namespace {

constexpr const char* kInputNames[] = {"text", "picture", "links"};

ItemInputs InputsOf(const ClassifiedItem& item) {
  return {item.text.has_value(), !item.pixels.empty(), !item.links.empty()};
}

// The item without what is not wanted.
ClassifiedItem Some(ClassifiedItem item, const ItemInputs& wanted) {
  if (!wanted[kTextInput]) item.text.reset();
  if (!wanted[kPictureInput]) item.pixels.clear();
  if (!wanted[kLinksInput]) item.links.clear();
  return item;
}

// Labels, found and expected.
struct Answers {
  std::vector<std::string> found, expected;
  ClassScores Scores() const { return ScoreClasses(found, expected); }
};

// One window of items after another, so that few pictures are in memory at once.
class Judge {
 public:
  Judge(const ItemClassifier& classifier, const ItemCorpus& items)
      : classifier_(classifier), items_(items) {}

  // Of the items that have all of these, or with none of the items as they are.
  Answers Ask(const ItemInputs& wanted) const {
    Answers answers;
    const bool all = std::ranges::find(wanted, true) == wanted.end();
    for (int64_t first = 0; first < items_.size(); first += items_.window_size()) {
      std::vector<ClassifiedItem> some;
      for (int64_t i = first; i < std::min(items_.size(), first + items_.window_size()); ++i) {
        const Item& item = items_.item(i);
        const ClassifiedItem whole{item.text, "", items_.Pixels(i), item.links};
        const ItemInputs has = InputsOf(whole);
        bool fits = true;
        for (size_t input = 0; input < has.size(); ++input) fits &= has[input] || !wanted[input];
        if (!all && !fits) continue;
        some.push_back(all ? whole : Some(whole, wanted));
        answers.expected.push_back(item.label);
      }
      for (const ItemClassification& each : classifier_.Classify(some))
        answers.found.push_back(each.classes[0].label);
    }
    return answers;
  }

 private:
  const ItemClassifier& classifier_;
  const ItemCorpus& items_;
};

// Recall at 1 and at 10 among the items that have a text and a picture; nothing where none has.
Json Retrieval(const ItemClassifier& classifier, const ItemCorpus& items) {
  std::vector<float> texts, pictures;
  const auto add = [&](const std::vector<ClassifiedItem>& some, EmbeddedPart part,
                       std::vector<float>* all) {
    for (const ItemVector& each : classifier.Embed(some, part))
      all->insert(all->end(), each.values_W.begin(), each.values_W.end());
  };
  for (int64_t first = 0; first < items.size(); first += items.window_size()) {
    std::vector<ClassifiedItem> both;
    for (int64_t i = first; i < std::min(items.size(), first + items.window_size()); ++i) {
      const Item& item = items.item(i);
      if (item.text && !item.picture.empty())
        both.push_back({.text = item.text, .picture = "", .pixels = items.Pixels(i), .links = {}});
    }
    add(both, EmbeddedPart::kText, &texts);
    add(both, EmbeddedPart::kPicture, &pictures);
  }
  if (texts.empty()) return Json::object();
  const int64_t width = classifier.shared_width();
  const std::vector<int64_t> to_picture = PlacesOfMatches(texts, pictures, width),
                             to_text = PlacesOfMatches(pictures, texts, width);
  return {{"text_to_picture_recall_1", RecallAt(to_picture, 1)},
          {"text_to_picture_recall_10", RecallAt(to_picture, 10)},
          {"picture_to_text_recall_1", RecallAt(to_text, 1)},
          {"picture_to_text_recall_10", RecallAt(to_text, 10)},
          {"retrieval_items", to_text.size()}};
}

}  // namespace

Json TestItems(const TestSetting& setting, const ItemCorpus& items, int threads) {
  const ItemClassifier classifier(setting.model, {.threads = threads});
  const Judge judge(classifier, items);
  const Answers answers = judge.Ask({});
  std::string lines;
  for (int64_t i = 0; i < items.size(); ++i)
    lines += fmt::format("{}\t{}\t{}\n", answers.expected[i], answers.found[i], items.item(i).id);
  WriteFileAtomically(setting.output / "test_output.txt", lines);
  Json subsets = Json::array();
  for (unsigned set = 1; set < 8; ++set) {
    ItemInputs wanted{};
    Json names = Json::array();
    for (size_t input = 0; input < wanted.size(); ++input) {
      wanted[input] = (set >> input & 1U) != 0;
      if (wanted[input]) names.push_back(kInputNames[input]);
    }
    const Answers some = judge.Ask(wanted);
    if (some.expected.empty()) continue;
    const ClassScores scores = some.Scores();
    subsets.push_back({{"inputs", names},
                       {"accuracy", scores.accuracy()},
                       {"macro_f1", scores.macro_f1()},
                       {"items", scores.items()}});
  }
  const ClassScores scores = answers.Scores();
  Json result = {{"accuracy", scores.accuracy()}, {"macro_f1", scores.macro_f1()},
                 {"items", scores.items()},       {"by_inputs", subsets},
                 {"labels", scores.classes},      {"confusion", scores.confusion}};
  if (classifier.shared_width() > 0) result.update(Retrieval(classifier, items));
  return result;
}

}  // namespace attend
