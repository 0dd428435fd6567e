#include "text/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/excerpt.h"
#include "text/ascii.h"
#include "text/lines.h"
#include "text/term_finder.h"
#include "text/utf8.h"
#include "text/visible_text.h"

namespace attend {
namespace {

struct Flag {
  const char* name;
  bool GlossaryTerm::* member;
};
constexpr Flag kFlags[] = {{"ignore-case", &GlossaryTerm::ignore_case},
                           {"inflect-source", &GlossaryTerm::inflect_source},
                           {"inflect", &GlossaryTerm::inflect},
                           {"keep", &GlossaryTerm::keep}};

std::vector<std::string_view> Parted(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(Trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

void Check(const GlossaryTerm& term, const std::string& where) {
  const auto refuse = [&](std::string_view what) {
    throw Error(ErrorKind::kInput, fmt::format("{}: {}", where, what));
  };
  const std::string source = Excerpt(term.source, 60);
  if (!HasLetterOrDigit(term.source))
    refuse(fmt::format("the source is '{}', expected one with a letter or a digit", source));
  if (term.keep && (!term.target.empty() || term.inflect)) {
    refuse(fmt::format("'{}' is to be kept as it is, but has {}; leave it or keep out", source,
                       term.target.empty() ? "the flag inflect" : "a target"));
  }
  if (!term.keep && Trimmed(term.target).empty()) {
    refuse(
        fmt::format("'{}' has no target; give one, or the flag keep to copy the source", source));
  }
}

}  // namespace

void SetGlossaryFlags(std::string_view flags, const std::string& where, GlossaryTerm* term) {
  for (const std::string_view name : Parted(flags, ',')) {
    if (name.empty()) continue;
    const auto* const flag =
        std::ranges::find_if(kFlags, [&](const Flag& each) { return each.name == name; });
    if (flag == std::end(kFlags)) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: the flag is '{}', expected ignore-case, inflect-source, inflect "
                              "or keep, divided by commas",
                              where, Excerpt(std::string(name), 60)));
    }
    term->*(flag->member) = true;
  }
}

struct Glossary::Impl {
  explicit Impl(std::vector<GlossaryTerm> given) : terms(std::move(given)), finder(terms) {}
  const std::vector<GlossaryTerm> terms;
  const TermFinder finder;
};

Glossary::Glossary(std::vector<GlossaryTerm> terms, const std::string& where) {
  for (size_t i = 0; i < terms.size(); ++i)
    Check(terms[i], fmt::format("{} term {}", where, i + 1));
  impl_ = std::make_unique<const Impl>(std::move(terms));
}

Glossary::~Glossary() = default;

std::shared_ptr<const Glossary> Glossary::Load(const std::string& path) {
  std::vector<GlossaryTerm> terms;
  int64_t number = 0;
  for (const std::string& line : ReadLines(path, FormatCheck::kText)) {
    const std::string where = fmt::format("'{}' line {}", path, ++number);
    if (!IsValidUtf8(line))
      throw Error(ErrorKind::kInput, where + " is not UTF-8; convert the file to UTF-8");
    if (Trimmed(line).empty() || line.starts_with('#')) continue;
    const std::vector<std::string_view> columns = Parted(line, '\t');
    if (columns.size() < 2 || columns.size() > 3) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{} has {} column{}, expected 2 or 3: source, target and flags, "
                              "divided by tabs",
                              where, columns.size(), columns.size() == 1 ? "" : "s"));
    }
    GlossaryTerm term{.source = std::string(columns[0]), .target = std::string(columns[1])};
    if (columns.size() == 3) SetGlossaryFlags(columns[2], where, &term);
    Check(term, where);
    terms.push_back(std::move(term));
  }
  return std::make_shared<const Glossary>(std::move(terms), fmt::format("'{}'", path));
}

const std::vector<GlossaryTerm>& Glossary::terms() const { return impl_->terms; }

const TermFinder& Glossary::finder() const { return impl_->finder; }

}  // namespace attend
