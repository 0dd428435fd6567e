// Lines of any length through a Translator: sentence by sentence, or in parts of whole sentences. A
// sentence that is too long is divided.
#ifndef ATTEND_TASKS_TRANSLATION_LINE_BATCH_H_
#define ATTEND_TASKS_TRANSLATION_LINE_BATCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "base/fields.h"
#include "memory/translation_memory.h"
#include "model/model_directory.h"
#include "tasks/translation/sentence_splitting.h"
#include "text/text_parts.h"

namespace attend {

enum class Overlong { kSplit, kRefuse };

struct LineOptions {
  std::string prefix;  // before each text that is translated, for models of several tasks
  SentenceSplitting split_sentences = SentenceSplitting::kAuto;
  int64_t max_input_tokens = 0;  // of a part, or with kRefuse of a line; 0: as training had
  Overlong overlong = Overlong::kSplit;
  bool keep_line_ends = true;  // false: those in white space become spaces; no field
  // Has no part in a line with a target prefix. Null: there is none. No field.
  std::shared_ptr<const TranslationMemory> memory = nullptr;
  bool memory_exact = true;  // a line that is a source of the memory gets its target as it stands
  // Each part of the others is read with its best match, where both have room; of a model for which
  // ReadsMatches. No field.
  bool reads_matches = false;
  MatchOptions match = {};
};
// But for memory_exact and memory_threshold, which MemoryFields gives.
FieldList Fields(LineOptions& options);
FieldList MemoryFields(LineOptions& options);

// One owner; not thread-safe. The translator must outlive it.
class LineBatch {
 public:
  // `model`: the translator's.
  LineBatch(const Translator* translator, const Model& model, const LineOptions& options);

  // Throws Error(kInput) that begins with `name` ("line 3") if the line is too long; the line is
  // then not added. With Overlong::kSplit this happens only if a single character has more tokens
  // than the model has positions.
  // The translation begins with `target_prefix`; a line that has one is translated as a whole.
  void Add(const std::string& line, const std::string& name, const std::string& target_prefix = "");

  // One Translation for each line, in order. For a line in parts, hypothesis i joins those of rank
  // i of each part (the last, if it has fewer) with the white space between the parts. White space
  // at a line's ends stays. Texts differ, but of outputs that are drawn; scores and
  // log-probabilities are sums. Throws as Translator::Translate.
  std::vector<Translation> Translate(const TranslationOptions& options) const;

 private:
  struct Part {
    TextPart place;  // in the line
    std::string text;
    std::vector<int32_t> ids;
    bool divided = false;    // of a sentence that was too long
    int64_t words = 0;       // of the text without its match; 0: it has none
    int64_t first_word = 0;  // the line's word that it begins with, or in
    std::string before;      // what stands between it and the part before
  };
  struct Line {
    size_t end = 0;                                       // of its parts
    std::string before, after;                            // the white space at its ends
    std::optional<MemoryUnit> remembered = std::nullopt;  // it has no parts, but this translation
  };

  // With the prefix. None of a text that is copied.
  std::vector<int32_t> Encode(const std::string& text) const;
  // Spans that must not be cut.
  std::vector<TextPart> SpansOf(const std::string& text) const;
  // What is translated together, if it is not too long.
  std::vector<TextPart> SentencesOf(const std::string& line) const;
  std::vector<Part> PartsOf(const std::string& line) const;
  // Of a line that is not to be divided.
  std::vector<Part> WholeLine(const std::string& line, const std::string& name) const;
  // Adds the line as one that the memory has; false: it has none of its words.
  bool Remember(const std::string& line);
  // Puts the best match behind the part.
  void AddMatch(Part* part) const;
  void FindPlaces(const std::string& line, std::vector<Part>* parts) const;
  [[noreturn]] void Refuse(const std::string& name, int64_t pieces) const;
  // The line's hypothesis at `rank`, from those of its parts, the first of which is `begin`.
  Hypothesis Join(const std::vector<Translation>& translations, size_t begin, const Line& line,
                  size_t rank) const;

  const Translator* translator_;
  const LineOptions options_;
  const int64_t limit_;
  const int64_t whole_;  // WholeLineTokens
  const std::string language_;
  const int64_t prefix_words_;
  std::vector<std::string> texts_;            // of all parts
  std::vector<std::vector<int32_t>> ids_;     // the same
  std::vector<std::string> target_prefixes_;  // the same; none where no line has one
  std::vector<Part> parts_;                   // the same, without text and ids
  std::vector<Line> lines_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_LINE_BATCH_H_
