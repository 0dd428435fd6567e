#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <vector>

#include "attend/error.h"
#include "base/base64.h"
#include "media/orientation.h"
#include "media/picture_decoders.h"
#include "media/pixel_rows.h"

namespace attend {
namespace {

// Chunks that change no pixel here, compressed ones among them, which could grow a thousandfold.
constexpr png_byte kIgnoredChunks[] =
    "bKGD\0cHRM\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0tEXt\0tIME\0"
    "zTXt";
constexpr int kIgnoredCount = sizeof(kIgnoredChunks) / 5;
static_assert(sizeof(kIgnoredChunks) % 5 == 0);

// A chunk that claims more bytes than there are is refused here: libpng takes memory for all of
// some before it reads them.
void CheckChunks(std::string_view bytes, const std::string& name) {
  constexpr size_t kFrame = 12;  // length, kind and sum of a chunk
  for (size_t at = kPngMagic.size(); at < bytes.size();) {
    const size_t left = bytes.size() - at;
    size_t size = 0;
    for (size_t i = 0; i < std::min<size_t>(left, 4); ++i)
      size = size << 8 | static_cast<uint8_t>(bytes[at + i]);
    if (left < kFrame || size > left - kFrame)
      throw Error(ErrorKind::kInput,
                  fmt::format("'{}' is a damaged PNG file: it is cut short", name));
    if (bytes.substr(at + 4, 4) == "IEND") return;
    at += kFrame + size;
  }
}

// libpng leaves its functions by longjmp. What it leaves has nothing to destroy: all that owns
// memory is a member.
class PngReader {
 public:
  PngReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, OnError, OnWarning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Picture Decode(int64_t channels, const PictureLimits& limits) {
    Guard([this] { ReadHeader(); });
    CheckPictureSize(width_, height_, limits, name_);
    Guard([this] { SetTransforms(); });
    const auto layout = static_cast<PixelLayout>(png_get_channels(png_, info_));
    picture_ = Picture(width_, height_, channels);
    rows_.resize(row_bytes_ * (passes_ == 1 ? 1 : height_));
    Guard([this, layout] { ReadRows(layout); });
    return Upright(std::move(picture_), orientation_);
  }

 private:
  template <class Step>
  void Guard(const Step& step) {
    if (setjmp(escape_) != 0) {
      throw Error(ErrorKind::kInput,
                  fmt::format("'{}' is a damaged PNG file: {}", name_, message_));
    }
    step();
  }

  [[noreturn]] static void OnError(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self->message_, sizeof(self->message_), "%s", message);
    std::longjmp(self->escape_, 1);
  }
  static void OnWarning(png_structp, png_const_charp) {}

  static void Read(png_structp png, png_bytep to, size_t size) {
    auto* self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (size > self->bytes_.size() - self->at_) png_error(png, "it is cut short");
    self->bytes_.copy(reinterpret_cast<char*>(to), size, self->at_);
    self->at_ += size;
  }

  void ReadHeader() {
    png_set_read_fn(png_, this, Read);
    png_set_user_limits(png_, PNG_UINT_31_MAX,
                        PNG_UINT_31_MAX);  // CheckPictureSize has better ones
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kIgnoredChunks, kIgnoredCount);
    png_read_info(png_, info_);
    width_ = png_get_image_width(png_, info_);
    height_ = png_get_image_height(png_, info_);
  }

  void SetTransforms() {
    png_set_expand(png_);
    png_set_strip_16(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    row_bytes_ = png_get_rowbytes(png_, info_);
  }

  void ReadRows(PixelLayout layout) {
    for (int pass = 0; pass < passes_; ++pass) {
      for (int64_t y = 0; y < height_; ++y) {
        png_bytep row = rows_.data() + (passes_ == 1 ? 0 : y * row_bytes_);
        png_read_row(png_, row, nullptr);
        if (pass == passes_ - 1) StoreRow(row, layout, y, &picture_);
      }
    }
    png_read_end(png_, info_);
    png_uint_32 size = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &size, &exif) != 0)
      orientation_ = OrientationOf({reinterpret_cast<const char*>(exif), size});
  }

  std::string_view bytes_;
  const std::string& name_;
  size_t at_ = 0;  // of what is read of bytes_
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf escape_;
  char message_[200] = "";
  int64_t width_ = 0, height_ = 0;
  int passes_ = 1;
  size_t row_bytes_ = 0;
  std::vector<png_byte> rows_;  // one, or all of an interlaced picture
  Picture picture_;
  int orientation_ = 1;
};

// An 8-bit picture without extras; the same safety as PngReader.
class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, OnError, OnWarning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  std::string Encode(const Picture& picture) {
    if (setjmp(escape_) != 0) throw Error(ErrorKind::kRuntime, "libpng can't write a picture");
    WriteAll(picture);
    return std::move(bytes_);
  }

 private:
  [[noreturn]] static void OnError(png_structp png, png_const_charp) {
    std::longjmp(static_cast<PngWriter*>(png_get_error_ptr(png))->escape_, 1);
  }
  static void OnWarning(png_structp, png_const_charp) {}
  static void Write(png_structp png, png_bytep from, size_t size) {
    static_cast<PngWriter*>(png_get_io_ptr(png))
        ->bytes_.append(reinterpret_cast<const char*>(from), size);
  }
  static void Flush(png_structp) {}

  void WriteAll(const Picture& picture) {
    png_set_write_fn(png_, this, Write, Flush);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(picture.width),
                 static_cast<png_uint_32>(picture.height), 8,
                 picture.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    for (int64_t y = 0; y < picture.height; ++y) png_write_row(png_, picture.row(y));
    png_write_end(png_, info_);
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf escape_;
  std::string bytes_;
};

}  // namespace

Picture DecodePng(std::string_view bytes, const std::string& name, int64_t channels,
                  const PictureLimits& limits) {
  CheckChunks(bytes, name);
  return PngReader(bytes, name).Decode(channels, limits);
}

std::string EncodePng(const Picture& picture) { return PngWriter().Encode(picture); }

std::string PngDataUrl(const Picture& picture) {
  return "data:image/png;base64," + Base64Of(EncodePng(picture));
}

}  // namespace attend
