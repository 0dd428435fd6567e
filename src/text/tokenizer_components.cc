#include "text/tokenizer_components.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace attend {
namespace {

constexpr size_t kMaxSteps = 64;

// Calls read(component) for the component, or, if it is a Sequence, for each one in it; `list` is
// the member that has them.
template <class Read>
void ForEachStep(const JsonComponent& component, const std::string& list, const Read& read) {
  if (component.Type() != "Sequence") return read(component);
  component.CheckKeys({"type", list});
  const SortedJson& steps = component.List(list);
  if (steps.size() > kMaxSteps)
    component.Fail(fmt::format("{} has {} steps; expected at most {}", component.NameOf(list),
                               steps.size(), kMaxSteps));
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string name = fmt::format("{}[{}]", component.NameOf(list), i);
    ForEachStep(JsonComponent(steps[i], name, component.where()), list, read);
  }
}

// The same for a member of the file, which may be null.
template <class Read>
void ForEachStepOf(const JsonComponent& file, const std::string& key, const std::string& list,
                   const Read& read) {
  if (file.Find(key) != nullptr) ForEachStep(file.Object(key), list, read);
}

void AddBertNormalizer(const JsonComponent& component, std::vector<NormalizerStep>* steps) {
  component.CheckKeys({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  const bool lower = component.Flag("lowercase");
  if (component.Flag("clean_text")) steps->push_back(NormalizerStep::kCleanText);
  if (component.Flag("handle_chinese_chars")) steps->push_back(NormalizerStep::kSpaceChinese);
  if (component.Flag("strip_accents", lower)) {
    steps->push_back(NormalizerStep::kNfd);
    steps->push_back(NormalizerStep::kDropNonspacing);
  }
  if (lower) steps->push_back(NormalizerStep::kLower);
}

void AddNormalizer(const JsonComponent& component, std::vector<NormalizerStep>* steps) {
  const std::pair<std::string_view, NormalizerStep> plain[] = {
      {"NFC", NormalizerStep::kNfc},         {"NFD", NormalizerStep::kNfd},
      {"NFKC", NormalizerStep::kNfkc},       {"NFKD", NormalizerStep::kNfkd},
      {"Lowercase", NormalizerStep::kLower}, {"StripAccents", NormalizerStep::kDropMarks}};
  const std::string type = component.Type();
  if (type == "BertNormalizer") return AddBertNormalizer(component, steps);
  for (const auto& [name, step] : plain) {
    if (type != name) continue;
    component.CheckKeys({"type"});
    return steps->push_back(step);
  }
  component.Refuse("type",
                   "BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents or Sequence");
}

// The options of a ByteLevel component, which are the same wherever it stands.
SplitStep ReadByteLevel(const JsonComponent& component) {
  component.CheckKeys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  component.Flag("trim_offsets", true);
  return {SplitKind::kByteLevel, component.Flag("add_prefix_space"),
          component.Flag("use_regex", true)};
}

void AddSplit(const JsonComponent& component, std::vector<SplitStep>* steps) {
  const std::pair<std::string_view, SplitKind> plain[] = {
      {"BertPreTokenizer", SplitKind::kBert},
      {"Whitespace", SplitKind::kWhitespace},
      {"WhitespaceSplit", SplitKind::kWhitespaceSplit}};
  const std::string type = component.Type();
  if (!steps->empty() && steps->back().kind == SplitKind::kByteLevel)
    component.Refuse("type", "nothing after ByteLevel");
  if (type == "ByteLevel") return steps->push_back(ReadByteLevel(component));
  for (const auto& [name, kind] : plain) {
    if (type != name) continue;
    component.CheckKeys({"type"});
    return steps->push_back({.kind = kind});
  }
  component.Refuse("type", "BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit or Sequence");
}

// ["[SEP]", 102]
NamedToken ReadPair(const JsonComponent& component, const std::string& key) {
  const SortedJson& pair = component.List(key);
  if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_unsigned())
    component.Refuse(key, "a token and its id");
  return {pair[0].get<std::string>(), pair[1].get<uint64_t>()};
}

// A token by its name in the template's own list of special tokens.
NamedToken ReadTemplateToken(const JsonComponent& component, const JsonComponent& piece) {
  piece.CheckKeys({"id", "type_id"});
  const JsonComponent special = component.Object("special_tokens").Object(piece.Text("id"));
  special.CheckKeys({"id", "ids", "tokens"});
  const SortedJson &ids = special.List("ids"), &tokens = special.List("tokens");
  if (ids.size() != 1 || !ids[0].is_number_unsigned()) special.Refuse("ids", "one id");
  if (tokens.size() != 1 || !tokens[0].is_string()) special.Refuse("tokens", "one token");
  return {tokens[0].get<std::string>(), ids[0].get<uint64_t>()};
}

TokenFrame ReadTemplate(const JsonComponent& component) {
  component.CheckKeys({"type", "single", "pair", "special_tokens"});
  const SortedJson& single = component.List("single");
  const std::string expected =
      "the text, sequence A, with at most one token before it and one after it";
  TokenFrame frame;
  bool after = false;
  for (size_t i = 0; i < single.size(); ++i) {
    const JsonComponent item(single[i], fmt::format("{}[{}]", component.NameOf("single"), i),
                             component.where());
    item.CheckKeys({"SpecialToken", "Sequence"});
    if (item.value().size() != 1) component.Refuse("single", expected);
    if (item.Find("Sequence") != nullptr) {
      const JsonComponent sequence = item.Object("Sequence");
      sequence.CheckKeys({"id", "type_id"});
      if (after || sequence.Text("id") != "A") component.Refuse("single", expected);
      after = true;
      continue;
    }
    std::optional<NamedToken>& place = after ? frame.after : frame.before;
    if (place) component.Refuse("single", expected);
    place = ReadTemplateToken(component, item.Object("SpecialToken"));
  }
  if (!after) component.Refuse("single", expected);
  return frame;
}

TokenFrame ReadFrame(const JsonComponent& component) {
  const std::string type = component.Type();
  if (type == "TemplateProcessing") return ReadTemplate(component);
  if (type == "BertProcessing") {
    component.CheckKeys({"type", "sep", "cls"});
  } else if (type == "RobertaProcessing") {
    component.CheckKeys({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
    component.Flag("trim_offsets");
    component.Flag("add_prefix_space");
  } else if (type == "ByteLevel") {
    ReadByteLevel(component);
    return {};
  } else {
    component.Refuse("type",
                     "BertProcessing, RobertaProcessing, TemplateProcessing, ByteLevel or "
                     "Sequence");
  }
  return {ReadPair(component, "cls"), ReadPair(component, "sep")};
}

}  // namespace

std::vector<NormalizerStep> ReadNormalizer(const JsonComponent& file) {
  std::vector<NormalizerStep> steps;
  ForEachStepOf(file, "normalizer", "normalizers",
                [&](const JsonComponent& component) { AddNormalizer(component, &steps); });
  return steps;
}

std::vector<SplitStep> ReadPreTokenizer(const JsonComponent& file) {
  std::vector<SplitStep> steps;
  ForEachStepOf(file, "pre_tokenizer", "pretokenizers",
                [&](const JsonComponent& component) { AddSplit(component, &steps); });
  return steps;
}

TokenDecoder ReadDecoder(const JsonComponent& file) {
  if (file.Find("decoder") == nullptr) return {};
  const JsonComponent component = file.Object("decoder");
  const std::string type = component.Type();
  if (type == "ByteLevel") {
    ReadByteLevel(component);
    return {.kind = TokenDecoder::Kind::kBytes};
  }
  if (type != "WordPiece") component.Refuse("type", "WordPiece or ByteLevel");
  component.CheckKeys({"type", "prefix", "cleanup"});
  return {TokenDecoder::Kind::kWordPieces, component.Text("prefix"), component.Flag("cleanup")};
}

TokenFrame ReadPostProcessor(const JsonComponent& file) {
  TokenFrame found;
  ForEachStepOf(file, "post_processor", "processors", [&](const JsonComponent& component) {
    TokenFrame frame = ReadFrame(component);
    if (!frame.before && !frame.after) return;
    if (found.before || found.after)
      component.Refuse("type", "one component that puts tokens around a text");
    found = std::move(frame);
  });
  return found;
}

}  // namespace attend
