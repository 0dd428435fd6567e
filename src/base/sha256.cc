#include "base/sha256.h"

#include <sodium.h>

#include "base/files.h"
#include "base/hex.h"

namespace attend {

namespace {

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, Bytes(bytes), bytes.size());
  return HexOf(digest);
}

std::string Sha256OfFile(const std::filesystem::path& path) {
  Sha256Stream stream;
  ReadPieces(path, [&](std::string_view piece) { stream.Add(piece); });
  return stream.Digest();
}

struct Sha256Stream::State {
  crypto_hash_sha256_state sums;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  crypto_hash_sha256_init(&state_->sums);
}

Sha256Stream::Sha256Stream(const Sha256Stream& other)
    : state_(std::make_unique<State>(*other.state_)) {}

Sha256Stream& Sha256Stream::operator=(const Sha256Stream& other) {
  *state_ = *other.state_;
  return *this;
}

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::Add(std::string_view bytes) {
  crypto_hash_sha256_update(&state_->sums, Bytes(bytes), bytes.size());
}

std::string Sha256Stream::Digest() const {
  crypto_hash_sha256_state copy = state_->sums;
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&copy, digest);
  return HexOf(digest);
}

}  // namespace attend
