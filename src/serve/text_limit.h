// How long a text may be that a model reads as a whole, and is not divided into sentences.
#ifndef ATTEND_SERVE_TEXT_LIMIT_H_
#define ATTEND_SERVE_TEXT_LIMIT_H_

#include <cstdint>
#include <string>

#include "serve/serve_options.h"

namespace attend {

class TextLimit {
 public:
  explicit TextLimit(const ServeOptions& options);

  int64_t tokens() const { return tokens_; }
  // These throw Error(kInput) for more. Of bytes so many that no encoding is needed to tell. `name`
  // opens the message: "prompt 1".
  void CheckBytes(const std::string& name, int64_t bytes) const;
  void CheckTokens(const std::string& name, int64_t tokens) const;

 private:
  const int64_t tokens_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TEXT_LIMIT_H_
