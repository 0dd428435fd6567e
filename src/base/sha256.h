// SHA-256 digests, as 64 hexadecimal digits.
#ifndef ATTEND_BASE_SHA256_H_
#define ATTEND_BASE_SHA256_H_

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace attend {

std::string Sha256(std::string_view bytes);
std::string Sha256OfFile(const std::filesystem::path& path);

// Of bytes that come piece by piece. One owner.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream& other);
  Sha256Stream& operator=(const Sha256Stream& other);

  void Add(std::string_view bytes);
  // Of what was added so far; more may follow.
  std::string Digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attend

#endif  // ATTEND_BASE_SHA256_H_
