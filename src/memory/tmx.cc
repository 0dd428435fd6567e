#include "memory/tmx.h"

#include <expat.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "text/ascii.h"

namespace attend {
namespace {

constexpr std::string_view kAnyLanguage = "*all*";  // as srclang
constexpr size_t kMostNamed = 12;                   // languages in a message

// "en" takes "en-US" and "EN_us", too.
bool Takes(const std::string& asked, const std::string& language) {
  const std::string wanted = LowerCase(asked), found = LowerCase(language);
  if (!found.starts_with(wanted)) return false;
  return found.size() == wanted.size() || found[wanted.size()] == '-' ||
         found[wanted.size()] == '_';
}

std::string_view AttributeOf(const XML_Char** attributes, std::string_view name) {
  for (; *attributes != nullptr; attributes += 2) {
    if (attributes[0] == name) return attributes[1];
  }
  return "";
}

// On one line, without white space around it.
std::string OneLine(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return std::string(Trimmed(text));
}

class TmxReader {
 public:
  TmxReader(const std::string& path, const std::string& source, const std::string& target,
            const std::function<void(MemoryUnit)>& use)
      : path_(path),
        source_(source),
        target_(target),
        use_(use),
        parser_(XML_ParserCreate(nullptr)) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<TmxReader*>(self)->Guard([&](TmxReader* r) { r->Begin(name, attributes); });
        },
        [](void* self, const XML_Char* name) {
          static_cast<TmxReader*>(self)->Guard([&](TmxReader* r) { r->End(name); });
        });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const XML_Char* text, int bytes) {
      static_cast<TmxReader*>(self)->Guard(
          [&](TmxReader* r) { r->Text({text, static_cast<size_t>(bytes)}); });
    });
  }

  void Read() {
    ReadPieces(path_, [&](std::string_view piece) { Parse(piece, false); });
    Parse("", true);
    if (!used_) RefuseLanguages();
  }

 private:
  struct Variant {
    std::string language, text;
  };

  // What is thrown must not pass through the parser's own functions.
  template <class Work>
  void Guard(const Work& work) {
    if (failure_) return;
    try {
      work(this);
    } catch (...) {
      failure_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }

  void Parse(std::string_view piece, bool last) {
    const auto status =
        XML_Parse(parser_.get(), piece.data(), static_cast<int>(piece.size()), last ? 1 : 0);
    if (failure_) std::rethrow_exception(failure_);
    if (status == XML_STATUS_OK) return;
    Refuse(fmt::format("no well-formed XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
  }

  [[noreturn]] void Refuse(const std::string& what) const {
    throw Error(ErrorKind::kInput,
                fmt::format("{}:{}: {}", path_, XML_GetCurrentLineNumber(parser_.get()), what));
  }

  [[noreturn]] void RefuseLanguages() const {
    std::string what = "no text with its translation";
    const std::string& source = source_.empty() ? header_language_ : source_;
    if (!source.empty()) what += fmt::format(" from '{}'", Excerpt(source));
    if (!target_.empty()) what += fmt::format(" to '{}'", Excerpt(target_));
    what += languages_.empty() ? "; its units name no language"
                               : fmt::format("; the file has {}", fmt::join(languages_, ", "));
    if (languages_.size() == kMostNamed) what += " and maybe more";
    throw Error(ErrorKind::kInput, fmt::format("{}: {}", path_, what));
  }

  void Begin(std::string_view name, const XML_Char** attributes) {
    if (depth_++ == 0 && name != "tmx")
      Refuse(fmt::format("the root is <{}>, expected <tmx>", Excerpt(name)));
    if (in_text_) {  // inline elements: <hi> is text, all others are codes
      if (codes_ > 0 || name != "hi") ++codes_;
    } else if (name == "header") {
      header_language_ = AttributeOf(attributes, "srclang");
    } else if (name == "tu") {
      unit_language_ = AttributeOf(attributes, "srclang");
      variants_.clear();
    } else if (name == "tuv") {
      const std::string_view language = AttributeOf(attributes, "xml:lang");
      variants_.push_back(
          {std::string(language.empty() ? AttributeOf(attributes, "lang") : language), ""});
    } else if (name == "seg" && !variants_.empty()) {
      in_text_ = true;
    }
  }

  void Text(std::string_view text) {
    if (in_text_ && codes_ == 0) variants_.back().text += text;
  }

  void End(std::string_view name) {
    --depth_;
    if (codes_ > 0) {
      --codes_;
    } else if (name == "seg") {
      in_text_ = false;
    } else if (name == "tu") {
      EndUnit();
    }
  }

  void EndUnit() {
    for (const Variant& one : variants_) {
      if (!one.language.empty() && languages_.size() < kMostNamed)
        languages_.insert(Excerpt(one.language));
    }
    const std::string language = SourceLanguage();
    const auto source = std::ranges::find_if(
        variants_, [&](const Variant& one) { return Takes(language, one.language); });
    if (source == variants_.end()) return;
    const Variant* target = nullptr;
    for (const Variant& one : variants_) {
      if (&one == &*source) continue;
      if (!target_.empty() && !Takes(target_, one.language)) continue;
      if (target_.empty() && target != nullptr && target->language != one.language) {
        Refuse(
            fmt::format("a unit has translations in '{}' and '{}'; name one as the target language "
                        "(memory_target)",
                        Excerpt(target->language), Excerpt(one.language)));
      }
      if (target == nullptr) target = &one;
    }
    if (target == nullptr) return;
    used_ = true;
    use_({OneLine(source->text), OneLine(target->text)});
  }

  std::string SourceLanguage() const {
    if (!source_.empty()) return source_;
    const std::string& named = unit_language_.empty() ? header_language_ : unit_language_;
    if (!named.empty() && named != kAnyLanguage) return named;
    Refuse(
        "the file does not say which language is the source (srclang); name the source language");
  }

  const std::string &path_, &source_, &target_;
  const std::function<void(MemoryUnit)>& use_;
  struct FreeParser {
    void operator()(XML_ParserStruct* parser) const { XML_ParserFree(parser); }
  };
  const std::unique_ptr<XML_ParserStruct, FreeParser> parser_;
  std::exception_ptr failure_;
  int64_t depth_ = 0;  // of elements
  std::string header_language_, unit_language_;
  std::vector<Variant> variants_;    // of the unit
  std::set<std::string> languages_;  // of all units, as they are named
  bool used_ = false;                // a unit
  bool in_text_ = false;             // of a variant's segment
  int64_t codes_ = 0;                // elements within it that are no text
};

}  // namespace

void ReadTmx(const std::string& path, const std::string& source, const std::string& target,
             const std::function<void(MemoryUnit)>& use) {
  TmxReader(path, source, target, use).Read();
}

}  // namespace attend
