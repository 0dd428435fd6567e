#include "base/sha256.h"

#include <sodium.h>

#include "base/files.h"

namespace attend {

std::string Sha256(std::string_view bytes) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::string text(2 * sizeof(digest) + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), digest, sizeof(digest));
  text.pop_back();
  return text;
}

std::string Sha256OfFile(const std::filesystem::path& path) {
  return Sha256(MappedFile::Open(path)->text());
}

}  // namespace attend
