#include "serve/tasks/translation/served_glossaries.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "serve/json_request.h"
#include "serve/serve_options.h"
#include "text/glossary.h"

namespace attend {
namespace {

GlossaryTerm TermFrom(const Json& given, const std::string& where) {
  if (!given.is_object()) {
    throw Error(ErrorKind::kInput,
                fmt::format("{} is {}, expected an object with source, target and flags", where,
                            KindOf(given)));
  }
  GlossaryTerm term;
  for (const auto& [name, value] : given.items()) {
    if (name != "source" && name != "target" && name != "flags") {
      throw Error(ErrorKind::kInput, fmt::format("{} has the member '{}', expected source, target "
                                                 "and flags",
                                                 where, Excerpt(name, 60)));
    }
  }
  term.source = MemberOf<std::string>(given, "source", where);
  if (given.contains("target")) term.target = MemberOf<std::string>(given, "target", where);
  if (given.contains("flags"))
    SetGlossaryFlags(MemberOf<std::string>(given, "flags", where), where, &term);
  return term;
}

}  // namespace

ServedGlossaries::ServedGlossaries(const std::vector<std::string>& given) {
  for (const std::string& each : given) {
    auto [name, file] = NameAndPath(each);
    if (name.empty() || file.empty()) {
      throw Error(ErrorKind::kUsage, fmt::format("glossary is '{}', expected NAME=FILE", each));
    }
    if (!by_name_.emplace(name, Glossary::Load(file)).second)
      throw Error(ErrorKind::kUsage, fmt::format("there are two glossaries named '{}'", name));
  }
}

std::shared_ptr<const Glossary> ServedGlossaries::Take(Json* body) const {
  const auto found = body->find("glossary");
  if (found == body->end()) return nullptr;
  const Json given = std::move(*found);
  body->erase(found);
  if (given.is_string()) return Named(given.get<std::string>());
  if (!given.is_array()) {
    throw Error(ErrorKind::kInput,
                fmt::format("glossary is {}, expected a name or a list of terms", KindOf(given)));
  }
  if (std::ssize(given) > kMostTerms) {
    throw Error(ErrorKind::kInput,
                fmt::format("glossary has {} terms, expected at most {}; have the server read a "
                            "file, with --glossary NAME=FILE",
                            given.size(), kMostTerms));
  }
  std::vector<GlossaryTerm> terms;
  for (const Json& each : given)
    terms.push_back(TermFrom(each, fmt::format("glossary term {}", terms.size() + 1)));
  if (terms.empty()) return nullptr;
  return std::make_shared<const Glossary>(std::move(terms));
}

std::shared_ptr<const Glossary> ServedGlossaries::Named(const std::string& name) const {
  if (name.empty()) return nullptr;
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  std::string names;
  for (const auto& [known, _] : by_name_) names += (names.empty() ? "" : ", ") + known;
  throw Error(ErrorKind::kInput,
              fmt::format("there is no glossary '{}' here; {}", Excerpt(name, 60),
                          names.empty() ? "the server was given none" : "there are " + names));
}

Json ServedGlossaries::Schema() const {
  Json names = Json::array({""});
  for (const auto& [name, _] : by_name_) names.push_back(name);
  const Json text = {{"type", "string"}};
  Json term = {{"type", "object"}, {"required", {"source"}}, {"additionalProperties", false}};
  term["properties"] = {{"source", text}, {"target", text}, {"flags", text}};
  term["properties"]["flags"]["description"] =
      "ignore-case, inflect-source, inflect, keep; divided by commas";
  Json schema;
  schema["oneOf"] = {{{"enum", std::move(names)}},
                     {{"type", "array"}, {"maxItems", kMostTerms}, {"items", std::move(term)}}};
  schema["description"] =
      "terms that translations must hold: the name of a glossary that the server was given, or a "
      "list of terms; several terms of one source are alternatives";
  return schema;
}

}  // namespace attend
