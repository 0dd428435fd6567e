#include "media/picture_changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "media/crop.h"

namespace attend {
namespace {

using PixelMap = std::array<uint8_t, 256>;

// Where a pixel of the new picture comes from: x' = xx x + xy y + x0, y' = yx x + yy y + y0.
struct AffineMap {
  double xx = 1, xy = 0, x0 = 0;
  double yx = 0, yy = 1, y0 = 0;
};

// The nearest pixel of each centre, in 16-bit fixed point.
Picture Warp(const Picture& picture, const AffineMap& map) {
  const auto fixed = [](double number) {
    return static_cast<int64_t>(std::floor(number * 65536 + 0.5));
  };
  const int64_t xx = fixed(map.xx), xy = fixed(map.xy), yx = fixed(map.yx), yy = fixed(map.yy);
  const int64_t x0 = fixed(map.x0 + map.xx * 0.5 + map.xy * 0.5);
  const int64_t y0 = fixed(map.y0 + map.yx * 0.5 + map.yy * 0.5);
  Picture warped(picture.width, picture.height, picture.channels);
  for (int64_t y = 0; y < picture.height; ++y) {
    uint8_t* to = warped.row(y);
    for (int64_t x = 0; x < picture.width; ++x, to += picture.channels) {
      const int64_t from_x = (x0 + xx * x + xy * y) >> 16, from_y = (y0 + yx * x + yy * y) >> 16;
      if (from_x < 0 || from_x >= picture.width || from_y < 0 || from_y >= picture.height) continue;
      std::copy_n(picture.row(from_y) + from_x * picture.channels, picture.channels, to);
    }
  }
  return warped;
}

// Around the middle. Sines are rounded as Pillow's are, which turns 90 degrees into zeros and ones.
Picture Rotate(const Picture& picture, double degrees) {
  const double angle = -degrees * std::numbers::pi / 180;
  const auto rounded = [](double number) { return std::round(number * 1e15) / 1e15; };
  AffineMap map{rounded(std::cos(angle)),  rounded(std::sin(angle)), 0,
                rounded(-std::sin(angle)), rounded(std::cos(angle)), 0};
  const double x = static_cast<double>(picture.width) / 2;
  const double y = static_cast<double>(picture.height) / 2;
  map.x0 = map.xx * -x + map.xy * -y + x;
  map.y0 = map.yx * -x + map.yy * -y + y;
  return Warp(picture, map);
}

// From `base` at 0 to `picture` at 1 and beyond, cut to what a pixel holds.
Picture Blend(const Picture& base, const Picture& picture, double factor) {
  const auto share = static_cast<float>(factor);
  if (share == 1) return picture;
  Picture blended = base;
  for (size_t i = 0; i < blended.pixels.size(); ++i) {
    const int from = base.pixels[i], to = picture.pixels[i];
    const float value = static_cast<float>(from) + share * static_cast<float>(to - from);
    blended.pixels[i] = static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f));
  }
  return blended;
}

// An even picture of its mean grey.
Picture MeanGrey(const Picture& picture) {
  const Picture grey = ToChannels(picture, 1);
  double sum = 0;
  for (const uint8_t pixel : grey.pixels) sum += pixel;
  Picture even(picture.width, picture.height, picture.channels);
  std::ranges::fill(even.pixels,
                    static_cast<uint8_t>(sum / static_cast<double>(grey.pixels.size()) + 0.5));
  return even;
}

// A mean of each pixel (5 times) and its eight neighbours. Those at the edges stay.
Picture Smooth(const Picture& picture) {
  Picture smooth = picture;
  const int64_t step = picture.channels, line = picture.width * step;
  for (int64_t y = 1; y < picture.height - 1; ++y) {
    for (int64_t i = step; i < line - step; ++i) {
      const uint8_t* at = picture.row(y) + i;
      int sum = 4 * *at;
      for (const int64_t row : {-line, int64_t{0}, line})
        sum += at[row - step] + at[row] + at[row + step];
      smooth.row(y)[i] = static_cast<uint8_t>((2 * sum + 13) / 26);
    }
  }
  return smooth;
}

template <class MakeMap>
Picture MapChannels(const Picture& picture, const MakeMap& make_map) {
  Picture mapped = picture;
  for (int64_t c = 0; c < picture.channels; ++c) {
    std::array<int64_t, 256> counts = {};
    for (size_t i = c; i < picture.pixels.size(); i += picture.channels)
      ++counts[picture.pixels[i]];
    const PixelMap map = make_map(counts);
    for (size_t i = c; i < mapped.pixels.size(); i += picture.channels)
      mapped.pixels[i] = map[mapped.pixels[i]];
  }
  return mapped;
}

template <class Function>
PixelMap MapOf(const Function& function) {
  PixelMap map;
  for (int value = 0; value < 256; ++value)
    map[value] = static_cast<uint8_t>(std::clamp<int64_t>(function(value), 0, 255));
  return map;
}

// The darkest value becomes 0 and the brightest 255.
PixelMap StretchOf(const std::array<int64_t, 256>& counts) {
  int low = 0, high = 255;
  while (low < 255 && counts[low] == 0) ++low;
  while (high > 0 && counts[high] == 0) --high;
  if (high <= low) return MapOf([](int value) { return value; });
  const double scale = 255.0 / (high - low), offset = -low * scale;
  return MapOf([&](int value) { return static_cast<int64_t>(value * scale + offset); });
}

// Values spread so that each stretch of them has equally many pixels.
PixelMap EqualizerOf(const std::array<int64_t, 256>& counts) {
  int64_t pixels = 0, last = 0, values = 0;
  for (const int64_t count : counts) {
    pixels += count;
    if (count == 0) continue;
    last = count;
    ++values;
  }
  const int64_t step = (pixels - last) / 255;
  if (values <= 1 || step == 0) return MapOf([](int value) { return value; });
  int64_t below = step / 2;
  return MapOf([&](int value) {
    const int64_t mapped = below / step;
    below += counts[value];
    return mapped;
  });
}

Picture MapAll(const Picture& picture, const PixelMap& map) {
  return MapChannels(picture, [&](const auto&) { return map; });
}

}  // namespace

Picture Change(const Picture& picture, PictureChange change, double value) {
  switch (change) {
    case PictureChange::kIdentity:
      return picture;
    case PictureChange::kShearX:
      return Warp(picture, {.xy = value});
    case PictureChange::kShearY:
      return Warp(picture, {.yx = value});
    case PictureChange::kTranslateX:
      return Shift(picture, static_cast<int64_t>(value), 0);
    case PictureChange::kTranslateY:
      return Shift(picture, 0, static_cast<int64_t>(value));
    case PictureChange::kRotate:
      return Rotate(picture, value);
    case PictureChange::kBrightness:
      return Blend(Picture(picture.width, picture.height, picture.channels), picture, 1 + value);
    case PictureChange::kColor:
      return Blend(ToChannels(ToChannels(picture, 1), picture.channels), picture, 1 + value);
    case PictureChange::kContrast:
      return Blend(MeanGrey(picture), picture, 1 + value);
    case PictureChange::kSharpness:
      return Blend(Smooth(picture), picture, 1 + value);
    case PictureChange::kPosterize: {
      const int kept = 0xFF << (8 - static_cast<int>(value));
      return MapAll(picture, MapOf([&](int pixel) { return pixel & kept; }));
    }
    case PictureChange::kSolarize:
      return MapAll(picture, MapOf([&](int pixel) { return pixel < value ? pixel : 255 - pixel; }));
    case PictureChange::kAutoContrast:
      return MapChannels(picture, StretchOf);
    case PictureChange::kEqualize:
      return MapChannels(picture, EqualizerOf);
  }
  return picture;
}

double ChangeValue(PictureChange change, int64_t magnitude, int64_t width, int64_t height) {
  const auto up_to = [&](double most) {
    return most * static_cast<double>(magnitude) / static_cast<double>(kMaxMagnitude);
  };
  switch (change) {
    case PictureChange::kShearX:
    case PictureChange::kShearY:
      return up_to(0.3);
    case PictureChange::kTranslateX:
      return up_to(150.0 / 331.0 * static_cast<double>(width));
    case PictureChange::kTranslateY:
      return up_to(150.0 / 331.0 * static_cast<double>(height));
    case PictureChange::kRotate:
      return up_to(30);
    case PictureChange::kBrightness:
    case PictureChange::kColor:
    case PictureChange::kContrast:
    case PictureChange::kSharpness:
      return up_to(0.9);
    case PictureChange::kPosterize:
      return 8 - std::round(up_to(4));
    case PictureChange::kSolarize:
      return 255 - up_to(255);
    default:
      return 0;
  }
}

bool IsSigned(PictureChange change) {
  return change != PictureChange::kIdentity && change < PictureChange::kPosterize;
}

}  // namespace attend
