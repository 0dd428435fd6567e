#include "cli/attention_view/picture_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "cli/attention_view/attention_view.h"
#include "cli/attention_view/html_page.h"
#include "cli/svg_text.h"
#include "media/picture_codec.h"

namespace attend {
namespace {

constexpr double kPictureMargin = 28, kPictureGap = 22, kPictureHeader = 92, kPictureTitle = 22;
constexpr double kPanelSide = 168;             // of a panel's longer side
constexpr const char* kHeatColor = "#ff5a1f";  // whose opacity tells the weight
constexpr double kMostOpaque = 0.85;

// Draws panels of the same picture, row after row.
class PicturePanels {
 public:
  PicturePanels(const PictureView& view, size_t panels) : view_(view) {
    const auto width = static_cast<double>(view.picture.width),
               height = static_cast<double>(view.picture.height);
    width_ = kPanelSide * width / std::max(width, height);
    height_ = kPanelSide * height / std::max(width, height);
    columns_ = std::min<size_t>(panels, 4);
    rows_ = (panels + columns_ - 1) / columns_;
    url_ = PngDataUrl(view.picture);
  }

  double total_width() const {
    return std::max(620.0, 2 * kPictureMargin + columns_ * (kPanelSide + kPictureGap));
  }
  double total_height() const {
    return kPictureHeader + kPictureMargin + rows_ * (height_ + kPictureTitle + kPictureGap);
  }

  // Without a map the picture alone.
  void Add(const std::string& title, const std::vector<float>* map) {
    const size_t column = drawn_ % columns_, row = drawn_ / columns_;
    const double x = kPictureMargin + static_cast<double>(column) * (kPanelSide + kPictureGap);
    const double y = kPictureHeader + kPictureTitle +
                     static_cast<double>(row) * (height_ + kPictureTitle + kPictureGap);
    ++drawn_;
    Append(
        R"(<g class="panel"><text x="{:.1f}" y="{:.1f}" font-size="12" font-weight="600">{}</text>)",
        x, y - 7, EscapeMarkup(title));
    Append(
        R"(<image x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" style="image-rendering:pixelated{}" href="{}"/>)"
        "\n",
        x, y, width_, height_, map == nullptr ? "" : kGreyUnderHeat, url_);
    if (map != nullptr) AddPatches(*map, x, y);
    Append(
        R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="none" stroke="#d5dae0"/></g>)"
        "\n",
        x, y, width_, height_);
  }

  const std::string& body() const { return body_; }

 private:
  template <class... Values>
  void Append(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Values>(values)...);
  }

  void AddPatches(const std::vector<float>& map, double x, double y) {
    const double most = *std::ranges::max_element(map);
    const double across = width_ / static_cast<double>(view_.attention.columns),
                 down = height_ / static_cast<double>(view_.attention.rows);
    for (size_t i = 0; i < map.size(); ++i) {
      const size_t row = i / view_.attention.columns, column = i % view_.attention.columns;
      Append(
          R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}" fill-opacity="{:.3f}">)"
          "<title>row {}, column {}: {:.4f}</title></rect>\n",
          x + column * across, y + row * down, across, down, kHeatColor,
          most > 0 ? kMostOpaque * map[i] / most : 0.0, row + 1, column + 1, map[i]);
    }
  }

  const PictureView& view_;
  double width_, height_;
  size_t columns_, rows_, drawn_ = 0;
  std::string url_, body_;
};

std::string WithMost(const std::string& title, const std::vector<float>& map) {
  return fmt::format("{}, most {:.1f} %", title, 100 * *std::ranges::max_element(map));
}

}  // namespace

Json PictureViewToJson(const PictureView& view) {
  Json json = PictureAttentionToJson(view.attention, view.picture);
  json["name"] = view.name;
  json["told"] = view.told;
  return json;
}

std::string PictureViewToSvg(const PictureView& view, int64_t layer_number) {
  const auto& layers = view.attention.heads;
  const int64_t layer = LayerIndex(std::ssize(layers), layer_number);
  const auto& heads = layers[layer];
  PicturePanels panels(view, heads.size() + 2);
  panels.Add("what the model reads", nullptr);
  panels.Add(WithMost("rollout", view.attention.rollout), &view.attention.rollout);
  for (size_t head = 0; head < heads.size(); ++head)
    panels.Add(WithMost(fmt::format("head {}", head + 1), heads[head]), &heads[head]);
  const std::string title =
      fmt::format("What the model looks at, layer {} of {}", layer + 1, layers.size());
  const std::string header = fmt::format(
      R"(<text x="{0}" y="34" font-size="19" font-weight="600">{1}</text>)"
      R"(<text x="{0}" y="56" font-size="13">{2}<tspan fill="#667080"> {3}</tspan></text>)"
      R"(<text x="{0}" y="74" font-size="11" fill="#667080">the stronger the colour, the more: the strongest is the most of its panel</text>)"
      "\n",
      kPictureMargin, title, EscapeMarkup(view.told), EscapeMarkup(view.name));
  return SvgDocument(panels.total_width(), panels.total_height(), title, header + panels.body());
}

std::string PictureViewToHtml(const PictureView& view, int64_t layer) {
  Json data = PictureAttentionToJson(view.attention, view.picture);
  data["layer"] = LayerIndex(std::ssize(view.attention.heads), layer);
  return HtmlPage("picture_attention.html",
                  {"attention.css", "picture_attention.css", "picture_attention.js"},
                  {{"NAME", EscapeMarkup(view.name)}, {"TOLD", EscapeMarkup(view.told)}}, data);
}

}  // namespace attend
