// The parts of a tokenizer.json that say what happens to text around the model.
#ifndef ATTEND_TEXT_TOKENIZER_COMPONENTS_H_
#define ATTEND_TEXT_TOKENIZER_COMPONENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/json_component.h"
#include "text/text_normalizer.h"
#include "text/tokenizer_json.h"
#include "text/word_splitter.h"

namespace attend {

// A token that the file names with its id.
struct NamedToken {
  std::string text;
  uint64_t id = 0;
};

// What the post-processor puts around a text.
struct TokenFrame {
  std::optional<NamedToken> before, after;
};

// Each reads its member of the whole file.
std::vector<NormalizerStep> ReadNormalizer(const JsonComponent& file);
std::vector<SplitStep> ReadPreTokenizer(const JsonComponent& file);
TokenDecoder ReadDecoder(const JsonComponent& file);
TokenFrame ReadPostProcessor(const JsonComponent& file);

}  // namespace attend

#endif  // ATTEND_TEXT_TOKENIZER_COMPONENTS_H_
