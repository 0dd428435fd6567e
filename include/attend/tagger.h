// Labels the words of texts with a model of tagging: entities, or any other labels.
//
// A Tagger is immutable and safe to use from many threads, as a Translator is. A text always gets
// the same labels and probabilities, bit for bit: other texts and the number of threads change
// nothing.
#ifndef ATTEND_TAGGER_H_
#define ATTEND_TAGGER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/loaded_model.h"

namespace attend {

struct TaggerOptions {
  int threads = 0;  // 0: one for each processor; 1: none but the caller's
  WeightType type = WeightType::kStored;
  std::string instruction_set;  // empty: what ATTEND_ISA names, or the best of the machine
};

// Characters (code points) [begin, end) of a text and their label. Probabilities are among all
// sequences of labels that the scheme allows.
struct LabelledText {
  std::string text, label;
  int64_t begin = 0, end = 0;
  double probability = 0;
};

struct TaggedText {
  std::vector<LabelledText> words;
  // Of the words, where the labels are of entities: label is the entity's type, probability that
  // all its words have their labels.
  std::vector<LabelledText> entities;
};

class Tagger {
 public:
  // Throws Error(kInput) for a file that can't be read, Error(kUsage) for a model of another task.
  static std::unique_ptr<Tagger> Load(const std::string& directory,
                                      const TaggerOptions& options = {});
  Tagger(std::shared_ptr<const Model> model, const TaggerOptions& options);
  // The type and instruction set are those that the model was loaded with.
  Tagger(std::shared_ptr<const LoadedModel> loaded, int threads);
  ~Tagger();

  Tagger(const Tagger&) = delete;
  Tagger& operator=(const Tagger&) = delete;

  // Of plain texts. White space and punctuation divide words. Malformed UTF-8 is read as U+FFFD.
  // Where another thread sets `stop`, the call ends after a batch with Error(kRuntime).
  std::vector<TaggedText> Tag(std::span<const std::string> texts,
                              const std::atomic<bool>* stop = nullptr) const;
  // Of words that are divided already, not empty; positions count in the words joined by blanks.
  std::vector<TaggedText> TagWords(std::span<const std::vector<std::string>> sentences,
                                   const std::atomic<bool>* stop = nullptr) const;

  const std::vector<std::string>& labels() const;
  std::string instruction_set() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_TAGGER_H_
