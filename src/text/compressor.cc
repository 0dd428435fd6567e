#include "text/compressor.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <new>

#include "attend/error.h"

namespace attend {
namespace {

constexpr size_t kPackedAtOnce = size_t{1} << 16;

class NoCompressor : public Compressor {
 public:
  std::string Add(std::string_view text) override { return std::string(text); }
  std::string End() override { return {}; }
};

class GzipCompressor : public Compressor {
 public:
  GzipCompressor() {
    constexpr int kGzip = 16;  // added to the bits of the window: a gzip header, without a time
    constexpr int kMemory = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~GzipCompressor() override { deflateEnd(&stream_); }

  std::string Add(std::string_view text) override { return Run(text, Z_NO_FLUSH); }
  std::string End() override { return Run({}, Z_FINISH); }

 private:
  std::string Run(std::string_view text, int flush) {
    std::string packed;
    char chunk[kPackedAtOnce];
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(chunk);
      stream_.avail_out = kPackedAtOnce;
      deflate(&stream_, flush);
      packed.append(chunk, kPackedAtOnce - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return packed;
  }

  z_stream stream_ = {};
};

class ZstdCompressor : public Compressor {
 public:
  ZstdCompressor() : stream_(ZSTD_createCStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdCompressor() override { ZSTD_freeCStream(stream_); }

  std::string Add(std::string_view text) override { return Run(text, ZSTD_e_continue); }
  std::string End() override { return Run({}, ZSTD_e_end); }

 private:
  std::string Run(std::string_view text, ZSTD_EndDirective directive) {
    std::string packed;
    char chunk[kPackedAtOnce];
    ZSTD_inBuffer in = {text.data(), text.size(), 0};
    size_t left = 0;
    do {
      ZSTD_outBuffer out = {chunk, kPackedAtOnce, 0};
      left = ZSTD_compressStream2(stream_, &out, &in, directive);
      if (ZSTD_isError(left)) throw std::bad_alloc();  // all that can fail here
      packed.append(chunk, out.pos);
    } while (directive == ZSTD_e_end ? left > 0 : in.pos < in.size);
    return packed;
  }

  ZSTD_CStream* stream_;
};

}  // namespace

std::unique_ptr<Compressor> Compressor::ForName(std::string_view path) {
  if (path.ends_with(".gz")) return std::make_unique<GzipCompressor>();
  if (path.ends_with(".zst")) return std::make_unique<ZstdCompressor>();
  return std::make_unique<NoCompressor>();
}

void Compressor::RefuseOthers(std::string_view option, std::string_view path) {
  for (const std::string_view suffix : {".bz2", ".xz", ".lz4", ".zip", ".7z"}) {
    if (!path.ends_with(suffix)) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("{} is '{}', and {} files are not written; expected .gz, .zst, or "
                            "another name for plain text",
                            option, path, suffix));
  }
}

}  // namespace attend
