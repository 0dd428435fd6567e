// The keys that may translate.
#ifndef ATTEND_SERVE_API_KEYS_H_
#define ATTEND_SERVE_API_KEYS_H_

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Safe to use from many threads. Keys are kept as digests, and compared in a time that says nothing
// of them.
class ApiKeys {
 public:
  // From a file of one key a line; blank lines and those that begin with # are none. An empty path:
  // no key is asked for. Throws Error(kInput) for a file that can't be read or holds no key.
  explicit ApiKeys(std::string path);

  // Reads the file again; where that fails, the keys stay and Error is thrown.
  void Reload();
  bool required() const { return !path_.empty(); }
  bool Allows(std::string_view key) const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  std::vector<std::string> digests_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_API_KEYS_H_
