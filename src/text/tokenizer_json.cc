#include "text/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/excerpt.h"
#include "base/json.h"
#include "text/json_component.h"
#include "text/tokenizer_components.h"

namespace attend {
namespace {

constexpr uint64_t kMaxTokens = 1 << 24;
// A search for tokens takes as many steps at each place of a text.
constexpr size_t kMaxTokenBytes = 4096;

using Ids = std::unordered_map<std::string, int32_t>;

int32_t Find(const Ids& ids, const std::string& token) {
  const auto found = ids.find(token);
  return found == ids.end() ? -1 : found->second;
}

void CheckLength(const JsonComponent& component, const std::string& token) {
  if (token.size() <= kMaxTokenBytes) return;
  component.Fail(fmt::format("the token '{}' has {} bytes; expected at most {}", Excerpt(token),
                             token.size(), kMaxTokenBytes));
}

// The tokens of the model by id, of which each from 0 on is there once.
std::vector<std::string> ReadTokens(const JsonComponent& model) {
  const SortedJson& vocab = model.Object("vocab").value();
  if (vocab.empty() || vocab.size() > kMaxTokens)
    model.Fail(
        fmt::format("model.vocab has {} tokens; expected 1 to {}", vocab.size(), kMaxTokens));
  std::vector<const std::string*> by_id(vocab.size());
  for (const auto& [token, id] : vocab.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= by_id.size()) {
      model.Fail(
          fmt::format("model.vocab: the id of '{}' is {}; expected the ids 0 to {}, "
                      "each once",
                      Excerpt(token), Excerpt(DumpSorted(id)), by_id.size() - 1));
    }
    const std::string*& place = by_id[id.get<size_t>()];
    if (place != nullptr) {
      model.Fail(fmt::format("model.vocab: '{}' and '{}' have the same id {}", Excerpt(*place),
                             Excerpt(token), id.get<uint64_t>()));
    }
    CheckLength(model, token);
    place = &token;
  }
  std::vector<std::string> tokens;
  for (const std::string* token : by_id) tokens.push_back(*token);
  return tokens;
}

// "a b" or ["a", "b"]
std::optional<std::pair<std::string, std::string>> SplitMerge(const SortedJson& merge) {
  if (merge.is_array()) {
    if (merge.size() != 2 || !merge[0].is_string() || !merge[1].is_string()) return std::nullopt;
    return std::pair(merge[0].get<std::string>(), merge[1].get<std::string>());
  }
  if (!merge.is_string()) return std::nullopt;
  const auto& text = merge.get_ref<const std::string&>();
  const size_t space = text.find(' ');
  if (space == text.npos || text.find(' ', space + 1) != text.npos) return std::nullopt;
  return std::pair(text.substr(0, space), text.substr(space + 1));
}

std::vector<ByteBpeOptions::Merge> ReadMerges(const JsonComponent& model, const Ids& ids) {
  const SortedJson& merges = model.List("merges");
  std::vector<ByteBpeOptions::Merge> read;
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto parts = SplitMerge(merges[i]);
    if (!parts)
      model.Fail(fmt::format("model.merges[{}] is {}; expected two tokens", i,
                             Excerpt(DumpSorted(merges[i]))));
    const auto id_of = [&](const std::string& token) {
      const int32_t id = Find(ids, token);
      if (id < 0)
        model.Fail(fmt::format("model.merges[{}] needs the token '{}', which model.vocab has not",
                               i, Excerpt(token)));
      return id;
    };
    read.push_back(
        {id_of(parts->first), id_of(parts->second), id_of(parts->first + parts->second)});
  }
  return read;
}

WordPieceOptions ReadWordPiece(const JsonComponent& model, const Ids& ids) {
  model.CheckKeys(
      {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
  const int32_t unk = Find(ids, model.Text("unk_token"));
  if (unk < 0) model.Refuse("unk_token", "a token of model.vocab");
  return {unk, model.Text("continuing_subword_prefix"), model.Number("max_input_chars_per_word")};
}

void RefuseUnlessEmpty(const JsonComponent& model, const std::string& key) {
  if (!model.Text(key, "").empty()) model.Refuse(key, "null or an empty text");
}

bool HasAllBytes(const std::vector<std::string>& tokens) {
  return std::ranges::count_if(tokens, [](const std::string& token) {
           const std::optional<std::string> bytes = BytesOfToken(token);
           return bytes && bytes->size() == 1;
         }) == 256;
}

ByteBpeOptions ReadByteBpe(const JsonComponent& model, const Ids& ids,
                           const std::vector<std::string>& tokens) {
  model.CheckKeys({"type", "dropout", "unk_token", "continuing_subword_prefix",
                   "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                   "merges"});
  if (model.Find("dropout") != nullptr) model.Refuse("dropout", "null");
  if (model.Flag("byte_fallback", false)) model.Refuse("byte_fallback", "false");
  RefuseUnlessEmpty(model, "continuing_subword_prefix");
  RefuseUnlessEmpty(model, "end_of_word_suffix");
  const bool has_unk = model.Find("unk_token") != nullptr;
  const int32_t unk = has_unk ? Find(ids, model.Text("unk_token")) : -1;
  if (has_unk && unk < 0 && !HasAllBytes(tokens))
    model.Refuse("unk_token", "a token of model.vocab, which lacks some bytes, or null");
  return {ReadMerges(model, ids), unk, model.Flag("fuse_unk", false),
          model.Flag("ignore_merges", false)};
}

// Old files do not say it.
std::string TypeOf(const JsonComponent& model) {
  if (model.Find("type") != nullptr) return model.Type();
  if (model.Find("merges") != nullptr) return "BPE";
  return model.Find("max_input_chars_per_word") != nullptr ? "WordPiece" : model.Type();
}

void ReadModel(const JsonComponent& file, const Ids& ids, TokenizerFile* read) {
  const JsonComponent model = file.Object("model");
  const std::string type = TypeOf(model);
  const bool byte_level =
      !read->splits.empty() && read->splits.back().kind == SplitKind::kByteLevel;
  if (type == "WordPiece") {
    if (byte_level) file.Fail("pre_tokenizer is ByteLevel, which is for a model of type BPE only");
    read->model = ReadWordPiece(model, ids);
  } else if (type == "BPE") {
    if (!byte_level)
      file.Fail(
          "pre_tokenizer is not ByteLevel, which a model of type BPE needs; BPE of "
          "characters is not supported");
    read->model = ReadByteBpe(model, ids, read->tokens);
  } else {
    model.Refuse("type", "WordPiece or BPE");
  }
}

// What is looked for in a text.
std::string ContentOf(const JsonComponent& component, const std::vector<NormalizerStep>& steps) {
  const std::string content = component.Text("content");
  TrackedText text(content, 0, content.size(), false);
  if (component.Flag("normalized")) Normalize(steps, &text);
  if (text.text().empty())
    component.Refuse("content", "a text of which the normalizer leaves some");
  return text.text();
}

void ReadAddedTokens(const JsonComponent& file, Ids* ids, TokenizerFile* read) {
  const SortedJson& list = file.List("added_tokens");
  std::set<std::pair<bool, std::string>> contents;
  std::vector<bool> seen;
  for (size_t i = 0; i < list.size(); ++i) {
    const JsonComponent component(list[i], fmt::format("added_tokens[{}]", i), file.where());
    component.CheckKeys(
        {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    const std::string text = component.Text("content");
    CheckLength(component, text);
    const auto [place, is_new] = ids->emplace(text, static_cast<int32_t>(read->tokens.size()));
    if (component.Number("id") != static_cast<uint64_t>(place->second))
      component.Refuse("id", std::to_string(place->second));
    if (is_new) read->tokens.push_back(text);
    seen.resize(read->tokens.size());
    if (seen[place->second]) component.Refuse("content", "each token once");
    seen[place->second] = true;
    const std::string content = ContentOf(component, read->normalizer);
    const bool normalized = component.Flag("normalized");
    if (!contents.emplace(normalized, content).second)
      component.Refuse("content", "a text that no other token has after the normalizer");
    read->added_tokens.push_back({place->second, content, component.Flag("single_word"),
                                  component.Flag("lstrip"), component.Flag("rstrip"), normalized,
                                  component.Flag("special")});
  }
}

// The first of the tokens that is there; -1 for none.
int64_t FirstOf(const Ids& ids, std::initializer_list<std::string_view> tokens) {
  for (const std::string_view token : tokens) {
    if (const int32_t id = Find(ids, std::string(token)); id >= 0) return id;
  }
  return -1;
}

int64_t IdOf(const JsonComponent& file, const Ids& ids, const NamedToken& token,
             std::string_view key) {
  const int32_t id = Find(ids, token.text);
  if (id < 0 || token.id != static_cast<uint64_t>(id))
    file.Fail(fmt::format("{} says that '{}' has id {}; expected {}", key, Excerpt(token.text),
                          token.id, id < 0 ? "a token" : std::to_string(id)));
  return id;
}

int64_t PadOf(const JsonComponent& file, const Ids& ids) {
  if (file.Find("padding") == nullptr) return FirstOf(ids, {"[PAD]", "<pad>"});
  const JsonComponent padding = file.Object("padding");
  padding.CheckKeys(
      {"strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"});
  return IdOf(file, ids, {padding.Text("pad_token"), padding.Number("pad_id")}, "padding");
}

int64_t UnkOf(const JsonComponent& file, const Ids& ids) {
  const JsonComponent model = file.Object("model");
  if (model.Find("unk_token") == nullptr) return FirstOf(ids, {"[UNK]", "<unk>"});
  return Find(ids, model.Text("unk_token"));
}

SpecialIds ReadSpecialIds(const JsonComponent& file, const Ids& ids) {
  const TokenFrame frame = ReadPostProcessor(file);
  SpecialIds special = {.pad = PadOf(file, ids), .unk = UnkOf(file, ids)};
  special.eos = frame.after ? IdOf(file, ids, *frame.after, "post_processor")
                            : FirstOf(ids, {"[SEP]", "</s>", "<|endoftext|>"});
  if (special.eos < 0)
    file.Fail(
        "no token ends a text; expected one in post_processor, or [SEP], </s> or "
        "<|endoftext|> among the tokens");
  special.bos = frame.before ? IdOf(file, ids, *frame.before, "post_processor")
                             : FirstOf(ids, {"[CLS]", "<s>"});
  if (special.bos < 0) special.bos = special.eos;
  return special;
}

}  // namespace

bool IsTokenizerJson(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != bytes.npos && bytes[first] == '{';
}

TokenizerFile ReadTokenizerJson(std::string_view bytes, const std::string& where) {
  const SortedJson json = ParseSortedJson(bytes, where);
  const JsonComponent file(json, "", where);
  file.CheckKeys({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                  "post_processor", "decoder", "model"});
  if (file.Text("version", "1.0") != "1.0") file.Refuse("version", "1.0");
  if (file.Find("truncation") != nullptr)
    file.Object("truncation").CheckKeys({"direction", "max_length", "strategy", "stride"});
  TokenizerFile read;
  read.normalizer = ReadNormalizer(file);
  read.splits = ReadPreTokenizer(file);
  read.decoder = ReadDecoder(file);
  read.tokens = ReadTokens(file.Object("model"));
  read.model_tokens = read.tokens.size();
  Ids ids;
  for (size_t id = 0; id < read.tokens.size(); ++id)
    ids.emplace(read.tokens[id], static_cast<int32_t>(id));
  ReadModel(file, ids, &read);
  ReadAddedTokens(file, &ids, &read);
  read.special_ids = ReadSpecialIds(file, ids);
  return read;
}

}  // namespace attend
