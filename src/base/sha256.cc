#include "base/sha256.h"

#include <sodium.h>

#include "base/files.h"

namespace attend {

namespace {

std::string Hexadecimal(const unsigned char (&digest)[crypto_hash_sha256_BYTES]) {
  std::string text(2 * sizeof(digest) + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), digest, sizeof(digest));
  text.pop_back();
  return text;
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, Bytes(bytes), bytes.size());
  return Hexadecimal(digest);
}

std::string Sha256OfFile(const std::filesystem::path& path) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  ReadPieces(path, [&](std::string_view piece) {
    crypto_hash_sha256_update(&state, Bytes(piece), piece.size());
  });
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&state, digest);
  return Hexadecimal(digest);
}

}  // namespace attend
