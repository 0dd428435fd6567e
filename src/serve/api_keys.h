// The keys that may translate.
#ifndef ATTEND_SERVE_API_KEYS_H_
#define ATTEND_SERVE_API_KEYS_H_

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Safe to use from many threads. It keeps digests of the keys and compares them in constant time.
class ApiKeys {
 public:
  // Reads a file with one key a line. A name may precede the key, as in `alice: KEY`. It consists
  // of letters, digits and .-_, and a colon and a space follow. Spaces at the ends of a line,
  // Windows line ends and a byte order mark are ignored, as are blank lines and lines that begin
  // with #. With an empty path no key is required. Throws Error(kInput) if the file can't be read,
  // holds no key, or holds a control character.
  explicit ApiKeys(std::string path);

  // Reads the file again. If that fails, it keeps the keys and throws Error.
  void Reload();
  bool required() const { return !path_.empty(); }
  // What logs call the key: its name, or "line N" without one. Nothing for an unknown key; "" if no
  // key is required.
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
