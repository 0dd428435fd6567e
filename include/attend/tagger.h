// Labels the words of texts with a model of tagging: entities, or any other labels. Builds the
// constituency trees of sentences with a model of parsing.
//
// A Tagger and a Parser are immutable and safe to use from many threads, as a Translator is. A text
// always gets the same labels, tree and probabilities, bit for bit: other texts and the number of
// threads change nothing.
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

struct ParserOptions {
  int threads = 0;  // 0: one for each processor
  WeightType type = WeightType::kStored;
  std::string instruction_set;  // empty: what ATTEND_ISA names, or the best of the machine
};

// The search that the paper has for parsing, section 6.3.
struct ParsingOptions {
  int64_t beam_size = 21;
  double length_penalty = 0.3;  // alpha of ((5 + length) / 6)^alpha
  // Symbols of output, eos included. 0: the tokens of the input plus 300. Always enough for one
  // constituent around all words.
  int64_t max_length = 0;
  const std::atomic<bool>* stop = nullptr;  // where another thread sets it, the call ends
};

// Words [begin, end) of a sentence.
struct Constituent {
  std::string label;
  int64_t begin = 0, end = 0;
};

// The tree of a sentence: exactly its words, all of them in the first constituent.
struct ParsedText {
  std::vector<std::string> words, tags;
  std::vector<Constituent> constituents;  // each before those in it
  std::string tree;            // "(S (NP (DT The) (NN cat)) (VP (VBZ sits)))"; empty without words
  double score = 0;            // log_probability / ((5 + length) / 6)^length_penalty
  double log_probability = 0;  // natural, of the tree's symbols
};

class Parser {
 public:
  // Throws Error(kInput) for a file that can't be read, Error(kUsage) for a model of another task.
  static std::unique_ptr<Parser> Load(const std::string& directory,
                                      const ParserOptions& options = {});
  Parser(std::shared_ptr<const Model> model, const ParserOptions& options);
  // The type and instruction set are those that the model was loaded with.
  Parser(std::shared_ptr<const LoadedModel> loaded, int threads);
  ~Parser();

  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // Of sentences as plain text, which is divided into words as Tagger does. Malformed UTF-8 is read
  // as U+FFFD, and a bracket in a word as -LRB- or -RRB-. Throws Error(kUsage) for invalid options,
  // Error(kInput) for a sentence of more tokens than learned positions.
  std::vector<ParsedText> Parse(std::span<const std::string> texts,
                                const ParsingOptions& options = {}) const;
  // Of words that are divided already, not empty.
  std::vector<ParsedText> ParseWords(std::span<const std::vector<std::string>> sentences,
                                     const ParsingOptions& options = {}) const;

  const std::vector<std::string>& constituents() const;
  const std::vector<std::string>& tags() const;
  std::string instruction_set() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_TAGGER_H_
