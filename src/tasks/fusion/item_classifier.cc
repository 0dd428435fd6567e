#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/classifier.h"
#include "attend/error.h"
#include "model/model_directory.h"
#include "search/scores.h"
#include "tasks/encoder_runner.h"
#include "tasks/fusion/item_reader.h"

namespace attend {
namespace {

constexpr EncoderRunner::Purpose kFusion = {"fusion", HeadKind::kLabels, /*of_tokens=*/false};

struct PartOfItem {
  const char* name;
  bool (*has)(const EncoderInput& input);
  void (*leave_out)(EncoderInput* input);
};
constexpr PartOfItem kParts[] = {
    {"text", [](const EncoderInput& input) { return !input.ids.empty(); },
     [](EncoderInput* input) { input->ids.clear(); }},
    {"picture", [](const EncoderInput& input) { return !input.numbers.empty(); },
     [](EncoderInput* input) { input->numbers.clear(); }},
    {"links", [](const EncoderInput& input) { return !input.nodes.empty(); },
     [](EncoderInput* input) { input->nodes.clear(); }},
};

// Few items at a time, so that the numbers of few pictures are in memory at once.
constexpr size_t kTogether = 64;

// The item's text or picture alone. Throws Error(kInput) where it has none, by its number from 1.
ClassifiedItem PartOf(const ClassifiedItem& item, EmbeddedPart part, size_t number) {
  const bool text = part == EmbeddedPart::kText;
  if (text ? item.text.value_or("").empty() : item.picture.empty() && item.pixels.empty()) {
    throw Error(ErrorKind::kInput, fmt::format("item {}: the item has no {}, expected one",
                                               number + 1, text ? "text" : "picture"));
  }
  ClassifiedItem alone;
  if (text) {
    alone.text = item.text;
  } else {
    alone.picture = item.picture;
    alone.picture_name = item.picture_name;
    alone.pixels = item.pixels;
  }
  return alone;
}

double LogProbability(std::span<const float> logits_L, size_t label) {
  return static_cast<double>(logits_L[label]) - ExpSum(logits_L).Log();
}

}  // namespace

struct ItemClassifier::Impl {
  Impl(std::shared_ptr<const LoadedModel> loaded, int threads)
      : runner(loaded, kFusion, threads), reader(std::move(loaded)) {}

  // With messages that number the item from 1.
  ReadItem ReadNumbered(const ClassifiedItem& item, size_t number) const;
  // Logits of each input.
  std::vector<std::vector<float>> Run(std::span<const EncoderInput> inputs,
                                      const std::atomic<bool>* stop) const;
  void ClassifySome(std::span<const ReadItem> items, bool contributions,
                    const std::atomic<bool>* stop, ItemClassification* found) const;

  EncoderRunner runner;
  ItemReader reader;
};

ReadItem ItemClassifier::Impl::ReadNumbered(const ClassifiedItem& item, size_t number) const {
  try {
    return reader.Read(item);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("item {}: {}", number + 1, error.what()));
  }
}

std::vector<std::vector<float>> ItemClassifier::Impl::Run(std::span<const EncoderInput> inputs,
                                                          const std::atomic<bool>* stop) const {
  std::vector<std::vector<float>> logits(inputs.size());
  const auto take = [&](size_t input, std::span<const float> logits_L) {
    logits[input].assign(logits_L.begin(), logits_L.end());
  };
  runner.Run(inputs, take, stop);
  return logits;
}

void ItemClassifier::Impl::ClassifySome(std::span<const ReadItem> items, bool contributions,
                                        const std::atomic<bool>* stop,
                                        ItemClassification* found) const {
  std::vector<EncoderInput> inputs;
  for (const ReadItem& item : items) inputs.push_back(item.input);
  const std::vector<std::vector<float>> logits = Run(inputs, stop);
  std::vector<size_t> best(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const std::span<const float> logits_L(logits[i]);
    const ExpSum sum(logits_L);
    best[i] = std::ranges::max_element(logits[i]) - logits[i].begin();
    for (size_t label = 0; label < logits[i].size(); ++label)
      found[i].classes.push_back(
          {runner.labels()[label], sum.Share(static_cast<double>(logits[i][label]))});
    std::ranges::stable_sort(found[i].classes, std::greater<>(), &ClassProbability::probability);
    found[i].cut = items[i].cut;
  }
  if (!contributions) return;
  std::vector<EncoderInput> without;
  std::vector<std::pair<size_t, size_t>> places;  // item and number of its contribution
  for (size_t i = 0; i < items.size(); ++i) {
    for (const PartOfItem& part : kParts) {
      if (!part.has(inputs[i])) continue;
      found[i].contributions.push_back({part.name, std::nullopt});
      EncoderInput rest = inputs[i];
      part.leave_out(&rest);
      if (!HasInput(rest)) continue;
      without.push_back(std::move(rest));
      places.emplace_back(i, found[i].contributions.size() - 1);
    }
  }
  const std::vector<std::vector<float>> others = Run(without, stop);
  for (size_t k = 0; k < places.size(); ++k) {
    const auto [i, number] = places[k];
    found[i].contributions[number].difference =
        LogProbability(logits[i], best[i]) - LogProbability(others[k], best[i]);
  }
}

std::unique_ptr<ItemClassifier> ItemClassifier::Load(const std::string& directory,
                                                     const ClassifierOptions& options) {
  return std::make_unique<ItemClassifier>(LoadModel(directory), options);
}

ItemClassifier::ItemClassifier(std::shared_ptr<const Model> model, const ClassifierOptions& options)
    : ItemClassifier(LoadWith(std::move(model), options), options.threads) {}

ItemClassifier::ItemClassifier(std::shared_ptr<const LoadedModel> loaded, int threads)
    : impl_(new Impl(std::move(loaded), threads)) {}

ItemClassifier::~ItemClassifier() = default;

std::vector<ItemClassification> ItemClassifier::Classify(std::span<const ClassifiedItem> items,
                                                         bool contributions,
                                                         const std::atomic<bool>* stop,
                                                         int64_t before) const {
  std::vector<ItemClassification> found(items.size());
  for (size_t first = 0; first < items.size(); first += kTogether) {
    std::vector<ReadItem> some;
    for (size_t i = first; i < std::min(items.size(), first + kTogether); ++i)
      some.push_back(impl_->ReadNumbered(items[i], before + i));
    impl_->ClassifySome(some, contributions, stop, &found[first]);
  }
  return found;
}

std::vector<ItemVector> ItemClassifier::Embed(std::span<const ClassifiedItem> items,
                                              EmbeddedPart part, const std::atomic<bool>* stop,
                                              int64_t before) const {
  if (shared_width() == 0) {
    throw Error(ErrorKind::kUsage,
                "the model has no vectors of texts and pictures, expected one that was trained "
                "with fusion.shared_width above 0");
  }
  const bool text = part == EmbeddedPart::kText;
  std::vector<ItemVector> found(items.size());
  for (size_t first = 0; first < items.size(); first += kTogether) {
    std::vector<EncoderInput> inputs;
    for (size_t i = first; i < std::min(items.size(), first + kTogether); ++i) {
      ReadItem read = impl_->ReadNumbered(PartOf(items[i], part, before + i), before + i);
      inputs.push_back(std::move(read.input));
      found[i].cut = read.cut;
    }
    const auto take = [&](size_t input, std::span<const float> vector_W) {
      found[first + input].values_W.assign(vector_W.begin(), vector_W.end());
    };
    impl_->runner.SharedVectors(inputs, text ? FusedInput::Part::kText : FusedInput::Part::kPicture,
                                take, stop);
  }
  return found;
}

int64_t ItemClassifier::shared_width() const { return impl_->reader.config().fusion->shared_width; }

std::string ItemClassifier::ReasonAgainst(const ClassifiedItem& item) const {
  try {
    impl_->reader.Read(item);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

const std::vector<std::string>& ItemClassifier::labels() const { return impl_->runner.labels(); }

const std::vector<std::string>& ItemClassifier::nodes() const {
  return impl_->reader.config().fusion->nodes;
}

std::string ItemClassifier::instruction_set() const {
  return impl_->runner.loaded().weights.kernels.name;
}

}  // namespace attend
