// The translation memories of a service, by name.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_MEMORIES_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_MEMORIES_H_

#include <map>
#include <memory>
#include <string>

#include "memory/translation_memory.h"
#include "serve/http_message.h"
#include "serve/serve_options.h"

namespace attend {

inline constexpr const char* kMemoriesRoute = "/v1/memories";

// Immutable once made; safe to use from many threads.
class Memories {
 public:
  using MemoryPtr = std::shared_ptr<const TranslationMemory>;

  // Loads what --memory names. Throws as LoadMemory, and Error(kUsage) for a name that is used
  // twice.
  explicit Memories(const ServeOptions& options);

  // Throws Error(kUsage) that lists the names where there is none of this one.
  MemoryPtr Find(const std::string& name) const;
  const std::map<std::string, MemoryPtr>& all() const { return all_; }
  // {"memories": [{"name": ..., "units": ...}]}
  HttpResponse List() const;

 private:
  std::map<std::string, MemoryPtr> all_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_MEMORIES_H_
