#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it
#include <vector>

#include "attend/error.h"
#include "media/orientation.h"
#include "media/picture_decoders.h"
#include "media/pixel_rows.h"

namespace attend {
namespace {

// A progressive file has about ten scans; each costs a pass over all pixels.
constexpr int kMaxScans = 50;

// Cameras and editors leave these behind; the pixels are whole.
bool IsHarmless(int warning) {
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_JFIF_MAJOR ||
         warning == JWRN_ADOBE_XFORM;
}

// libjpeg leaves its functions by longjmp, as PngReader's libpng does.
class JpegReader {
 public:
  JpegReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    jpeg_.err = jpeg_std_error(&errors_);
    errors_.error_exit = OnError;
    errors_.emit_message = OnMessage;
    errors_.output_message = [](j_common_ptr) {};
    jpeg_.client_data = this;
    progress_.progress_monitor = OnProgress;
    Guard([this] { jpeg_create_decompress(&jpeg_); });
    jpeg_.progress = &progress_;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Picture Decode(int64_t channels, const PictureLimits& limits) {
    Guard([this] { ReadHeader(); });
    CheckPictureSize(jpeg_.image_width, jpeg_.image_height, limits, name_);
    const PixelLayout layout = ChooseOutput();
    Guard([this] { jpeg_start_decompress(&jpeg_); });
    picture_ = Picture(jpeg_.output_width, jpeg_.output_height, channels);
    row_.resize(static_cast<size_t>(jpeg_.output_width) * jpeg_.output_components);
    Guard([this, layout] { ReadRows(layout); });
    return Upright(std::move(picture_), orientation_);
  }

 private:
  template <class Step>
  void Guard(const Step& step) {
    if (setjmp(escape_) != 0) {
      throw Error(ErrorKind::kInput,
                  fmt::format("'{}' is a damaged JPEG file: {}", name_, message_));
    }
    step();
  }

  static void Fail(j_common_ptr jpeg, const char* message) {
    auto* self = static_cast<JpegReader*>(jpeg->client_data);
    std::snprintf(self->message_, sizeof(self->message_), "%s", message);
    std::longjmp(self->escape_, 1);
  }
  static void OnError(j_common_ptr jpeg) {
    char message[JMSG_LENGTH_MAX] = "";
    jpeg->err->format_message(jpeg, message);
    Fail(jpeg, jpeg->err->msg_code == JWRN_JPEG_EOF ? "it is cut short" : message);
  }
  static void OnMessage(j_common_ptr jpeg, int level) {
    if (level < 0 && !IsHarmless(jpeg->err->msg_code)) OnError(jpeg);
  }
  static void OnProgress(j_common_ptr jpeg) {
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > kMaxScans)
      Fail(jpeg, "it has more than 50 scans");
  }

  void ReadHeader() {
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    jpeg_save_markers(&jpeg_, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&jpeg_, TRUE);
    for (auto* marker = jpeg_.marker_list; marker != nullptr; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (!data.starts_with("Exif")) continue;
      orientation_ = OrientationOf(data);
      break;
    }
  }

  // Grey is made of colours by Luma afterwards: that and not the file's Y is what Pillow has.
  PixelLayout ChooseOutput() {
    jpeg_.dct_method = JDCT_ISLOW;
    switch (jpeg_.num_components) {
      case 1:
        jpeg_.out_color_space = JCS_GRAYSCALE;
        return PixelLayout::kGrey;
      case 3:
        jpeg_.out_color_space = JCS_RGB;
        return PixelLayout::kRgb;
      case 4:
        jpeg_.out_color_space = JCS_CMYK;
        return PixelLayout::kInvertedCmyk;
      default:
        throw Error(ErrorKind::kInput,
                    fmt::format("'{}' is a JPEG file of {} components, expected 1, 3 or 4", name_,
                                jpeg_.num_components));
    }
  }

  void ReadRows(PixelLayout layout) {
    for (int64_t y = 0; y < picture_.height; ++y) {
      JSAMPROW row = row_.data();
      jpeg_read_scanlines(&jpeg_, &row, 1);
      StoreRow(row, layout, y, &picture_);
    }
    jpeg_finish_decompress(&jpeg_);  // up to the end marker
  }

  std::string_view bytes_;
  const std::string& name_;
  jpeg_decompress_struct jpeg_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_progress_mgr progress_ = {};
  std::jmp_buf escape_;
  char message_[JMSG_LENGTH_MAX] = "";
  std::vector<JSAMPLE> row_;
  Picture picture_;
  int orientation_ = 1;
};

}  // namespace

Picture DecodeJpeg(std::string_view bytes, const std::string& name, int64_t channels,
                   const PictureLimits& limits) {
  return JpegReader(bytes, name).Decode(channels, limits);
}

}  // namespace attend
