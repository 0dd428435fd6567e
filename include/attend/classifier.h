// Tells which class each text or picture is of, with a model of classification; and each item that
// may have a text, a picture and links to nodes of a graph, with a model of fusion.
//
// A Classifier is immutable and safe to use from many threads, as a Translator is. A text always
// gets the same probabilities, bit for bit: other texts and the number of threads change nothing.
#ifndef ATTEND_CLASSIFIER_H_
#define ATTEND_CLASSIFIER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/loaded_model.h"

namespace attend {

struct ClassifierOptions {
  int threads = 0;  // 0: one for each processor; 1: none but the caller's
  WeightType type = WeightType::kStored;
  std::string instruction_set;  // empty: what ATTEND_ISA names, or the best of the machine
};

struct ClassProbability {
  std::string label;
  double probability = 0;
};

struct Classification {
  std::vector<ClassProbability> classes;  // all, the likeliest first
  bool cut = false;                       // the text is longer than the model can read
};

class Classifier {
 public:
  // Throws Error(kInput) for a file that can't be read, Error(kUsage) for a model of another task.
  static std::unique_ptr<Classifier> Load(const std::string& directory,
                                          const ClassifierOptions& options = {});
  Classifier(std::shared_ptr<const Model> model, const ClassifierOptions& options);
  // The type and instruction set are those that the model was loaded with.
  Classifier(std::shared_ptr<const LoadedModel> loaded, int threads);
  ~Classifier();

  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;

  // One for each text. Of a text that is longer than the model can read, its beginning.
  // Where another thread sets `stop`, the call ends after a batch with Error(kRuntime).
  std::vector<Classification> Classify(std::span<const std::string> texts,
                                       const std::atomic<bool>* stop = nullptr) const;

  // The same of pictures, each a PNG or JPEG file's bytes, with a model that reads pictures. Throws
  // Error(kInput) naming the first that is none, by `names` or its number.
  std::vector<Classification> ClassifyPictures(std::span<const std::string> files,
                                               std::span<const std::string> names = {},
                                               const std::atomic<bool>* stop = nullptr) const;
  // The same of pictures of the model's size: pixels row by row, channels side by side.
  std::vector<Classification> ClassifyPixels(std::span<const std::vector<uint8_t>> pictures,
                                             const std::atomic<bool>* stop = nullptr) const;

  // What the model reads.
  bool reads_pictures() const;
  const std::vector<std::string>& labels() const;
  std::string instruction_set() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a model of fusion reads. Any of the three inputs may be missing, but not all. An empty text
// is none.
struct ClassifiedItem {
  std::optional<std::string> text;
  std::string picture;                       // a PNG or JPEG file's bytes; empty: none
  std::string picture_name = "the picture";  // in errors
  std::vector<uint8_t> pixels;     // in place of them: pixels of a picture of the model's size
  std::vector<std::string> links;  // names of the graph's nodes
};

// What a vector is made of, and the vector.
enum class EmbeddedPart { kText, kPicture };
struct ItemVector {
  std::vector<float> values_W;
  bool cut = false;  // the text is longer than the model can read
};

// How much the log-probability of the chosen class falls where an item is read without this input.
// Nothing for the only input of an item.
struct InputContribution {
  std::string input;  // "text", "picture" or "links"
  std::optional<double> difference;
};

struct ItemClassification : Classification {
  std::vector<InputContribution> contributions;  // of the inputs that the item has, where asked for
};

// Immutable and safe to use from many threads. An item always gets the same probabilities, bit for
// bit, whatever shares the call.
class ItemClassifier {
 public:
  // As Classifier's.
  static std::unique_ptr<ItemClassifier> Load(const std::string& directory,
                                              const ClassifierOptions& options = {});
  ItemClassifier(std::shared_ptr<const Model> model, const ClassifierOptions& options);
  ItemClassifier(std::shared_ptr<const LoadedModel> loaded, int threads);
  ~ItemClassifier();

  ItemClassifier(const ItemClassifier&) = delete;
  ItemClassifier& operator=(const ItemClassifier&) = delete;

  // One for each item. With `contributions` each item is read once more for every input that it
  // has. Throws Error(kInput) for an item that can't be read, by its number from 1: a picture that
  // is none, a link to no node of the model's graph, no input at all. `before`: items that came
  // before these, for such numbers.
  std::vector<ItemClassification> Classify(std::span<const ClassifiedItem> items,
                                           bool contributions = false,
                                           const std::atomic<bool>* stop = nullptr,
                                           int64_t before = 0) const;
  // The vectors of the items' texts, or of their pictures, by themselves, which both share one
  // space: each has length 1, and the product of a text's and a picture's tells how well they go
  // together. Throws Error(kUsage) for a model without them, Error(kInput) for an item that lacks
  // the text, or picture, or whose picture can't be read, by its number from 1.
  std::vector<ItemVector> Embed(std::span<const ClassifiedItem> items, EmbeddedPart part,
                                const std::atomic<bool>* stop = nullptr, int64_t before = 0) const;
  // The length of such a vector; 0: the model has none.
  int64_t shared_width() const;
  // Why the item can't be read, or empty.
  std::string ReasonAgainst(const ClassifiedItem& item) const;

  const std::vector<std::string>& labels() const;
  const std::vector<std::string>& nodes() const;  // of the graph
  std::string instruction_set() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_CLASSIFIER_H_
