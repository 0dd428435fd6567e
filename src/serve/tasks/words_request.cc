#include "serve/tasks/words_request.h"

#include <utility>

#include "attend/error.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "text/text_words.h"

namespace attend {
namespace {

[[noreturn]] void RefuseWords() {
  throw Error(ErrorKind::kInput,
              "request body: expected words as a list of texts that are not empty, or a list of "
              "such lists");
}

std::vector<std::string> ReadWords(const Json& given) {
  std::vector<std::string> words;
  for (const Json& word : given) {
    if (!word.is_string() || word.get_ref<const std::string&>().empty()) RefuseWords();
    words.push_back(word.get<std::string>());
  }
  if (words.empty()) RefuseWords();
  return words;
}

void TakeWords(Json* body, EncoderRequest* asked) {
  const Json given = std::move((*body)["words"]);
  body->erase("words");
  if (!given.is_array() || given.empty()) RefuseWords();
  const auto add = [asked](const Json& sentence) {
    if (!sentence.is_array()) RefuseWords();
    asked->words.push_back(ReadWords(sentence));
    asked->texts.push_back(JoinWords(asked->words.back()));
  };
  if (given[0].is_array()) {
    for (const Json& sentence : given) add(sentence);
  } else {
    add(given);
  }
}

}  // namespace

bool TakeTextsOrWords(Json* body, EncoderRequest* asked) {
  const bool words = body->contains("words");
  if (words && body->contains("text")) {
    throw Error(ErrorKind::kInput, "request body: it has text and words; leave out one");
  }
  if (!words && !body->contains("text"))
    throw Error(ErrorKind::kInput, "request body: expected an object with text or words");
  if (words) {
    TakeWords(body, asked);
  } else {
    asked->texts = TakeTexts(body, "text");
  }
  return words;
}

std::vector<std::vector<std::string>> WordsOf(std::span<EncoderText* const> texts) {
  std::vector<std::vector<std::string>> words;
  for (const EncoderText* text : texts) words.push_back(text->words);
  return words;
}

Json TextOrWords(const std::string& what) {
  const Json list = {
      {"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}, {"minItems", 1}};
  return {{"text", openapi::TextOrMoreTexts(what)},
          {"words",
           {{"oneOf", {list, {{"type", "array"}, {"items", list}, {"minItems", 1}}}},
            {"description",
             "in place of text: words that are divided already, of one text or several"}}}};
}

void RequireTextOrWords(Json* schema) {
  (*schema)["oneOf"] = Json::array({{{"required", {"text"}}}, {{"required", {"words"}}}});
}

}  // namespace attend
