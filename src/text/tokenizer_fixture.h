// Small tokenizer.json files for tests.
#ifndef ATTEND_TEXT_TOKENIZER_FIXTURE_H_
#define ATTEND_TEXT_TOKENIZER_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "base/json.h"
#include "text/utf8.h"

namespace attend {

inline std::shared_ptr<const Vocabulary> VocabularyFrom(const Json& file) {
  return Vocabulary::FromBytes(file.dump(), "test.json");
}

inline Json SpecialToken(int64_t id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

// As BERT's, with 16 tokens.
inline Json WordPieceFile() {
  const std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",  "[MASK]", "the",
                                           "house", "##s",   ",",     "\u4E2D", "e",      "##h",
                                           "##o",   "##u",   "##e",   "a"};
  Json file = Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                   "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
      "pair": [],
      "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                         "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100, "vocab": {}}})");
  for (size_t id = 0; id < tokens.size(); ++id) file["model"]["vocab"][tokens[id]] = id;
  for (int64_t id = 0; id < 5; ++id)
    file["added_tokens"].push_back(SpecialToken(id, tokens[static_cast<size_t>(id)]));
  return file;
}

// As GPT-2's: all bytes, "the" with and without a space before it, and the end of a text.
inline Json ByteBpeFile() {
  Json file = Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                      "use_regex": true},
    "post_processor": null,
    "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
                "use_regex": true},
    "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
              "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
              "ignore_merges": false, "vocab": {}, "merges": []}})");
  Json& vocab = file["model"]["vocab"];
  const auto add = [&](const std::string& token) { vocab[token] = vocab.size(); };
  for (char32_t c = 0x21; c < 0x144; ++c) {
    const bool unprinted = (c > 0x7E && c < 0xA1) || c == 0xAD;
    std::string token;
    AppendUtf8(c, &token);
    if (!unprinted) add(token);
  }
  for (const char* merge : {"t h", "th e", "\u0120 the", "\u0120 t", "\u0120t h"}) {
    file["model"]["merges"].push_back(merge);
    std::string token = merge;
    token.erase(token.find(' '), 1);
    add(token);
  }
  file["added_tokens"].push_back(SpecialToken(static_cast<int64_t>(vocab.size()), "<|endoftext|>"));
  return file;
}

}  // namespace attend

#endif  // ATTEND_TEXT_TOKENIZER_FIXTURE_H_
