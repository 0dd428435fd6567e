#include "media/binary_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "attend/error.h"
#include "base/files.h"

namespace attend {
namespace {

// Whatever a header says. MNIST has 47 MB, EMNIST 640 MB.
constexpr size_t kMostUnpacked = size_t{1} << 32;

[[noreturn]] void FailToRead(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kInput, fmt::format("can't read '{}': {}", path, why));
}

class PlainFile : public BinaryFile {
 public:
  PlainFile(const std::string& path, const HeaderReader& header) : file_(MappedFile::Open(path)) {
    header.read(file_->text().substr(0, header.bytes));
  }
  std::string_view bytes() const override { return file_->text(); }

 private:
  std::shared_ptr<const MappedFile> file_;
};

class GzipFile : public BinaryFile {
 public:
  GzipFile(const std::string& path, const HeaderReader& header) {
    const std::shared_ptr<const MappedFile> packed = MappedFile::Open(path);
    z_stream stream = {};
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();  // gzip's header alone
    struct End {
      z_stream* stream;
      ~End() { inflateEnd(stream); }
    } end{&stream};
    std::string_view rest = packed->text();
    std::string piece(size_t{1} << 18, '\0');
    int status = Z_STREAM_END;
    size_t most = 0;  // 0: its header has not been seen
    do {
      if (stream.avail_in == 0) {
        const size_t next = std::min<size_t>(rest.size(), size_t{1} << 30);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
        stream.avail_in = static_cast<uInt>(next);
        rest.remove_prefix(next);
      }
      if (stream.avail_in == 0) FailToRead(path, "the gzip file is cut short");
      if (status == Z_STREAM_END) inflateReset(&stream);  // a member follows another
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = static_cast<uInt>(piece.size());
      status = inflate(&stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END)
        FailToRead(path, fmt::format("it is no gzip file, or a damaged one ({})",
                                     stream.msg == nullptr ? "no data" : stream.msg));
      bytes_.append(piece, 0, piece.size() - stream.avail_out);
      if (most == 0 && bytes_.size() >= header.bytes) most = MostBytes(header);
      if (most > 0 && bytes_.size() > most) {
        FailToRead(
            path,
            fmt::format("it has more than {} bytes once unpacked, all that it may have", most));
      }
    } while (status != Z_STREAM_END || stream.avail_in > 0 || !rest.empty());
    if (most == 0) header.read(bytes_);
  }
  std::string_view bytes() const override { return bytes_; }

 private:
  size_t MostBytes(const HeaderReader& header) const {
    return std::min(header.read(std::string_view(bytes_).substr(0, header.bytes)), kMostUnpacked);
  }

  std::string bytes_;
};

}  // namespace

std::unique_ptr<BinaryFile> OpenBinaryFile(const std::string& path, const HeaderReader& header) {
  if (path.ends_with(".gz")) return std::make_unique<GzipFile>(path, header);
  return std::make_unique<PlainFile>(path, header);
}

}  // namespace attend
