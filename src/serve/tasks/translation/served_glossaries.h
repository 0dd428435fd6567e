// Glossaries of requests: those that the server was given by name, and those that a request brings.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_SERVED_GLOSSARIES_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_SERVED_GLOSSARIES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "base/json.h"

namespace attend {

// Terms that a request may bring.
inline constexpr int64_t kMostTerms = 1000;

// Immutable; safe to use from many threads.
class ServedGlossaries {
 public:
  // Of files, each as NAME=FILE. Throws Error(kUsage) for another form or a name that comes twice,
  // and what Glossary::Load throws.
  explicit ServedGlossaries(const std::vector<std::string>& given);

  // Removes the member `glossary` of a request's body: a name, or a list of terms with source,
  // target and flags. Null where there is none. Throws Error(kInput) for a name that is not known,
  // and for what is no term.
  std::shared_ptr<const Glossary> Take(Json* body) const;
  // What a request may say.
  Json Schema() const;

 private:
  std::shared_ptr<const Glossary> Named(const std::string& name) const;

  std::map<std::string, std::shared_ptr<const Glossary>> by_name_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_SERVED_GLOSSARIES_H_
