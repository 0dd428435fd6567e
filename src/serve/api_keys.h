// The keys that may translate.
#ifndef ATTEND_SERVE_API_KEYS_H_
#define ATTEND_SERVE_API_KEYS_H_

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Safe to use from many threads. Keys are kept as digests, and compared in a time that says nothing
// of them.
class ApiKeys {
 public:
  // From a file of a key a line, which may have a name before it: `alice: KEY`, of letters, digits
  // and .-_, then a colon and a space. Spaces around a line, line ends of Windows and a byte order
  // mark don't count; blank lines and those that begin with # are none. An empty path: no key is
  // asked for. Throws Error(kInput) for a file that can't be read, holds no key, or a control
  // character.
  explicit ApiKeys(std::string path);

  // Reads the file again; where that fails, the keys stay and Error is thrown.
  void Reload();
  bool required() const { return !path_.empty(); }
  // The name of the key, or "line N" where it has none, to be logged; nothing where it is unknown.
  // Where no key is asked for, "".
  std::optional<std::string> NameOf(std::string_view key) const;
  bool Allows(std::string_view key) const { return NameOf(key).has_value(); }

 private:
  struct Key {
    std::string name, digest;
  };
  const std::string path_;
  mutable std::mutex mutex_;
  std::vector<Key> keys_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_API_KEYS_H_
