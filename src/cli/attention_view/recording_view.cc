#include "cli/attention_view/recording_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "attend/error.h"
#include "cli/attention_view/attention_view.h"
#include "cli/attention_view/html_page.h"
#include "cli/svg_text.h"
#include "media/picture_codec.h"
#include "tasks/transcription/attended_recording.h"

namespace attend {
namespace {

constexpr double kSoundMargin = 28, kSoundHeader = 104, kSoundLabels = 112, kSoundWidth = 700,
                 kSpectrogramHeight = 110;
constexpr double kWordRow = 15, kSoundGap = 26, kSoundHeadWidth = 252,
                 kSoundHeadRow = 5;  // of rows of words
constexpr double kTickSeconds[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60}, kMostTicks = 12;
constexpr std::array<uint8_t, 3> kSoundHeat = {0xff, 0x5a, 0x1f};  // the strongest weight

// The strongest in full colour, 0 white.
std::string HeatUrl(const std::vector<float>& map_WC, int64_t columns) {
  const int64_t words = std::ssize(map_WC) / columns;
  Picture picture(columns, words, 3);
  const float most = *std::ranges::max_element(map_WC);
  for (size_t i = 0; i < map_WC.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) {
      const float share = most > 0 ? map_WC[i] / most : 0;
      picture.pixels[3 * i + c] =
          static_cast<uint8_t>(std::lround(255 - share * (255 - kSoundHeat[c])));
    }
  }
  return PngDataUrl(picture);
}

std::string InkUrl(Picture spectrogram) {
  for (uint8_t& pixel : spectrogram.pixels) pixel = static_cast<uint8_t>(255 - pixel);
  return PngDataUrl(spectrogram);
}

struct RecordingView {
  std::string name;
  AttendedRecording recording;
};

// One segment, one layer.
class RecordingDrawing {
 public:
  RecordingDrawing(const TranscriptSegment& segment, const SegmentAttention& attention)
      : segment_(segment), attention_(attention) {}

  double width() const { return 2 * kSoundMargin + kSoundLabels + kSoundWidth; }
  double height() const { return y_ + kSoundMargin; }
  const std::string& body() const { return body_; }

  void AddSpectrogram() {
    Append(
        R"(<image x="{:.1f}" y="{:.1f}" width="{}" height="{}" preserveAspectRatio="none" href="{}"/>)"
        "\n",
        kSoundMargin + kSoundLabels, y_, kSoundWidth, kSpectrogramHeight,
        InkUrl(attention_.spectrogram));
    Frame(kSoundMargin + kSoundLabels, kSoundWidth, kSpectrogramHeight);
    y_ += kSpectrogramHeight + 6;
  }

  // With the words, and the seconds below.
  void AddMean() {
    const double height = kWordRow * static_cast<double>(segment_.words.size());
    Heat(attention_.mean_WC, kSoundMargin + kSoundLabels, kSoundWidth, height);
    for (size_t w = 0; w < segment_.words.size(); ++w) {
      Append(
          R"(<text class="word" x="{:.1f}" y="{:.1f}" font-size="11" text-anchor="end">{}</text>)"
          "\n",
          kSoundMargin + kSoundLabels - 8, y_ + kWordRow * (static_cast<double>(w) + 0.76),
          EscapeMarkup(Shortened(segment_.words[w].text)));
    }
    y_ += height + 15;
    const double seconds = segment_.end - segment_.begin;
    const auto* step = std::ranges::find_if(
        kTickSeconds, [&](double each) { return seconds <= kMostTicks * each; });
    const double distance = step == std::end(kTickSeconds) ? *std::prev(step) : *step;
    for (double tick = std::ceil(segment_.begin / distance); tick * distance <= segment_.end + 1e-9;
         ++tick) {
      Append(
          R"(<text x="{:.1f}" y="{:.1f}" font-size="11" fill="#667080" text-anchor="middle">{:.{}f} s</text>)"
          "\n",
          kSoundMargin + kSoundLabels + kSoundWidth * (tick * distance - segment_.begin) / seconds,
          y_, tick * distance, distance < 1 ? 1 : 0);
    }
    y_ += kSoundGap + 8;
  }

  void AddHeads(int64_t layer) {
    const auto& heads = attention_.heads_WC[layer];
    const double height =
        std::max(40.0, kSoundHeadRow * static_cast<double>(segment_.words.size()));
    const auto across = static_cast<size_t>((kSoundLabels + kSoundWidth + kSoundGap) /
                                            (kSoundHeadWidth + kSoundGap));
    for (size_t head = 0; head < heads.size(); ++head) {
      const double x =
          kSoundMargin + static_cast<double>(head % across) * (kSoundHeadWidth + kSoundGap);
      Append(R"(<text class="head" x="{:.1f}" y="{:.1f}" font-size="12" font-weight="600">)"
             "head {}</text>\n",
             x, y_, head + 1);
      y_ += 8;
      Heat(heads[head], x, kSoundHeadWidth, height);
      y_ -= 8;
      if ((head + 1) % across == 0 || head + 1 == heads.size()) y_ += height + kSoundGap + 8;
    }
    y_ -= kSoundGap;
  }

 private:
  template <class... Values>
  void Append(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Values>(values)...);
  }

  static std::string Shortened(const std::string& word) {
    constexpr size_t kMost = 14;
    const std::vector<size_t> starts = CharacterStarts(word);
    return starts.size() <= kMost ? word : word.substr(0, starts[kMost - 1]) + "…";
  }

  void Frame(double x, double width, double height) {
    Append(
        R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="none" stroke="#d5dae0"/>)"
        "\n",
        x, y_, width, height);
  }

  void Heat(const std::vector<float>& map_WC, double x, double width, double height) {
    Append(
        R"(<image x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" preserveAspectRatio="none" style="image-rendering:pixelated" href="{}"/>)"
        "\n",
        x, y_, width, height, HeatUrl(map_WC, attention_.columns));
    Frame(x, width, height);
  }

  const TranscriptSegment& segment_;
  const SegmentAttention& attention_;
  double y_ = kSoundHeader;
  std::string body_;
};

std::string RecordingToSvg(const RecordingView& view, const ModelConfig& config, int64_t segment,
                           int64_t layer) {
  const TranscriptSegment& shown = view.recording.found.segments[segment];
  if (shown.words.empty()) throw Error(ErrorKind::kInput, "the segment has no word to draw");
  RecordingDrawing drawing(shown, view.recording.attention[segment]);
  drawing.AddSpectrogram();
  drawing.AddMean();
  drawing.AddHeads(layer);
  const std::string title =
      fmt::format("What each word looks at, layer {} of {}", layer + 1, config.decoder->layers);
  const std::string part =
      fmt::format("segment {} of {}: {:.1f} to {:.1f} s", segment + 1,
                  view.recording.found.segments.size(), shown.begin, shown.end);
  const std::string header = fmt::format(
      R"(<text x="{0}" y="36" font-size="19" font-weight="600">{1}</text>)"
      R"(<text x="{0}" y="58" font-size="13">{2}<tspan fill="#667080"> {3}</tspan></text>)"
      R"(<text x="{0}" y="80" font-size="11" fill="#667080">the spectrogram that the model reads; below, for each word, the mean of the heads of layer {4}, which times are read from, then layer {5} head by head</text>)"
      "\n",
      kSoundMargin, title, EscapeMarkup(view.name), part, config.AlignmentLayer(), layer + 1);
  return SvgDocument(drawing.width(), drawing.height(), title, header + drawing.body());
}

std::string RecordingToHtml(const RecordingView& view, const ModelConfig& config, int64_t segment,
                            int64_t layer) {
  Json data =
      RecordingAttentionToJson(config, view.recording.found.segments, view.recording.attention);
  data["segment"] = segment;
  data["layer"] = layer;
  return HtmlPage("spectrogram_attention.html",
                  {"attention.css", "spectrogram_attention.css", "spectrogram_attention.js"},
                  {{"NAME", EscapeMarkup(view.name)},
                   {"TEXT", EscapeMarkup(view.recording.found.hypotheses[0].text)}},
                  data);
}

}  // namespace

std::string DrawRecording(const std::shared_ptr<const LoadedModel>& loaded, const std::string& path,
                          int threads, const std::string& file, int64_t segment, int64_t layer) {
  const ModelConfig& config = loaded->config();
  const int64_t layer_index = LayerIndex(config.decoder->layers, layer);
  const bool page = file.ends_with(".html");
  AttentionBounds bounds = file.ends_with(".json") ? AttentionBounds{} : kShownAttention;
  if (!page) {
    bounds.segments = segment;
    bounds.numbers = AttentionBounds::kNone;
  }
  const RecordingView view{std::filesystem::path(path).filename().string(),
                           AttendRecording(Transcriber(loaded, threads), *loaded, path, bounds)};
  const int64_t last = std::ssize(view.recording.attention);
  if (segment > last) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--segment is {}, expected 1 to {}, the last that there is to see",
                            segment, last));
  }
  if (page) return RecordingToHtml(view, config, segment - 1, layer_index);
  if (file.ends_with(".svg")) return RecordingToSvg(view, config, segment - 1, layer_index);
  Json json = SegmentAttentionToJson(view.recording.found.segments[segment - 1],
                                     view.recording.attention[segment - 1]);
  json["name"] = view.name;
  json["alignment_layer"] = config.AlignmentLayer();
  return Dump(json) + "\n";
}

}  // namespace attend
