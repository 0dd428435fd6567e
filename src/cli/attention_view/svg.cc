// One layer's heads as an SVG: a panel each, tokens on both axes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "cli/attention_view/attention_view.h"
#include "cli/svg_text.h"

namespace attend {

std::string WeightColor(double weight) {
  const double w = std::clamp(weight, 0.0, 1.0);
  const double lightness = 0.972 - 0.68 * w, a = -0.004 - 0.012 * w, b = -0.006 - 0.135 * w;
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  const std::array<double, 3> linear = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                                        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                                        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  std::array<int, 3> bytes;
  std::transform(linear.begin(), linear.end(), bytes.begin(), [](double value) {
    const double c = std::clamp(value, 0.0, 1.0);
    return static_cast<int>(
        std::lround(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055)));
  });
  return fmt::format("#{:02x}{:02x}{:02x}", bytes[0], bytes[1], bytes[2]);
}

namespace {

constexpr double kMargin = 28;
constexpr double kPanelGap = 26;
constexpr double kHeaderHeight = 104;
constexpr double kHeadTitleHeight = 24;
constexpr size_t kMaxLabel = 18;          // characters of a token that are shown
constexpr double kMaxTooltips = 6000;     // cells that name their value when pointed at
constexpr double kCharacterWidth = 0.62;  // of a font's size, on average
constexpr double kInvisible = 0.002;      // weights below leave the panel's ground

std::string Shortened(const std::string& text, size_t characters) {
  const std::vector<size_t> starts = CharacterStarts(text);
  return starts.size() <= characters ? text : text.substr(0, starts[characters - 1]) + "…";
}

// As it stands in a label: cut to length, the mark of a word's beginning paler than the word.
std::string Label(const std::string& token) {
  constexpr std::string_view kWordMark = "▁";
  const std::string shown = Shortened(token, kMaxLabel);
  if (!shown.starts_with(kWordMark)) return EscapeMarkup(shown);
  return fmt::format(R"(<tspan fill="#b4bcc7">{}</tspan>{})", kWordMark,
                     EscapeMarkup(shown.substr(kWordMark.size())));
}

struct Layout {
  double cell, font, label_width, label_height, panel_width, panel_height;
  int64_t columns, rows;
  double width, height;
  bool tooltips;
};

Layout LayoutOf(const AttentionKind& kind, int64_t heads) {
  Layout layout;
  const auto queries = static_cast<double>(kind.queries.size()),
             keys = static_cast<double>(kind.keys.size());
  layout.cell = std::clamp(300 / std::max(keys, queries), 13.0, 28.0);
  // Labels at 45 degrees stand cell / sqrt(2) apart, which must not be less than a line of them is
  // high.
  layout.font = std::min(12.5, 0.62 * layout.cell);
  double query_width = 2, key_width = 2;
  for (const std::string& token : kind.queries)
    query_width = std::max(query_width, TextWidth(Shortened(token, kMaxLabel)));
  for (const std::string& token : kind.keys)
    key_width = std::max(key_width, TextWidth(Shortened(token, kMaxLabel)));
  layout.label_width = layout.font * query_width + 10;
  layout.label_height = layout.font * (key_width + 1) * M_SQRT1_2 + 10;
  // Labels lean out to the right of their columns.
  double right = keys * layout.cell;
  for (size_t i = 0; i < kind.keys.size(); ++i) {
    const double width = layout.font * TextWidth(Shortened(kind.keys[i], kMaxLabel));
    right = std::max(
        right, (static_cast<double>(i) + 0.5) * layout.cell + (width + layout.font) * M_SQRT1_2);
  }
  layout.panel_width = layout.label_width + right;
  layout.panel_height = kHeadTitleHeight + layout.label_height + queries * layout.cell;
  layout.columns = std::clamp(static_cast<int64_t>(1700 / (layout.panel_width + kPanelGap)),
                              int64_t{1}, std::min<int64_t>(heads, 4));
  layout.rows = (heads + layout.columns - 1) / layout.columns;
  layout.width = std::max(
      620.0, 2 * kMargin + layout.columns * layout.panel_width + (layout.columns - 1) * kPanelGap);
  layout.height = kHeaderHeight + kMargin + layout.rows * (layout.panel_height + kPanelGap);
  layout.tooltips = static_cast<double>(heads) * queries * keys <= kMaxTooltips;
  return layout;
}

class Svg {
 public:
  template <class... Values>
  void Add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

void AddLegend(double right, double y, Svg* svg) {
  constexpr double kWidth = 160, kHeight = 12;
  const double x = right - kWidth;
  svg->Add("<g class=\"legend\">\n");
  for (int step = 0; step < 40; ++step) {
    svg->Add(R"(<rect x="{:.1f}" y="{:.1f}" width="4.5" height="{}" fill="{}"/>)", x + 4 * step, y,
             kHeight, WeightColor((step + 0.5) / 40));
  }
  for (const double weight : {0.0, 0.5, 1.0}) {
    svg->Add(R"(<text x="{:.1f}" y="{:.1f}" font-size="11" text-anchor="middle">{}</text>)",
             x + kWidth * weight, y + kHeight + 13, weight);
  }
  svg->Add(R"(<text x="{:.1f}" y="{:.1f}" font-size="11" text-anchor="end">weight</text></g>)"
           "\n",
           x - 9, y + 10);
}

void AddHeader(const AttentionView& view, const AttentionKind& kind, int64_t layer,
               const Layout& layout, Svg* svg) {
  svg->Add(R"(<text x="{}" y="38" font-size="19" font-weight="600">{}, layer {} of {}</text>)"
           "\n",
           kMargin, EscapeMarkup(kind.title), layer + 1, kind.weights.size());
  const auto room = static_cast<size_t>((layout.width - 2 * kMargin) / (13 * kCharacterWidth));
  const auto line = [&](double y, const char* name, const std::string& text) {
    svg->Add(
        R"(<text x="{}" y="{}" font-size="13"><tspan fill="#667080">{} </tspan>{}<title>{}</title></text>)"
        "\n",
        kMargin, y, name, EscapeMarkup(Shortened(text, std::max<size_t>(room, 30) - 10)),
        EscapeMarkup(text));
  };
  line(61, "source", view.source);
  if (!view.target.empty()) line(80, "target", view.target);
  svg->Add(
      R"(<text x="{}" y="98" font-size="11" fill="#667080">rows: {}; columns: {}; ▁ begins a word</text>)"
      "\n",
      kMargin, EscapeMarkup(kind.query_title), EscapeMarkup(kind.key_title));
  AddLegend(layout.width - kMargin - 8, 24, svg);
}

void AddTokens(const AttentionKind& kind, const Layout& layout, double x, double y, Svg* svg) {
  for (size_t i = 0; i < kind.keys.size(); ++i) {
    const double left = x + (i + 0.5) * layout.cell;
    svg->Add(
        R"svg(<text class="key" transform="translate({:.1f} {:.1f}) rotate(-45)" font-size="{:.1f}">{}<title>{}</title></text>)svg"
        "\n",
        left + 0.3 * layout.font, y - 5, layout.font, Label(kind.keys[i]),
        EscapeMarkup(kind.keys[i]));
  }
  for (size_t i = 0; i < kind.queries.size(); ++i) {
    svg->Add(
        R"(<text class="query" x="{:.1f}" y="{:.1f}" font-size="{:.1f}" text-anchor="end">{}<title>{}</title></text>)"
        "\n",
        x - 6, y + (i + 0.5) * layout.cell + 0.35 * layout.font, layout.font,
        Label(kind.queries[i]), EscapeMarkup(kind.queries[i]));
  }
}

void AddCells(const AttentionKind& kind, const std::vector<std::vector<float>>& weights,
              const Layout& layout, std::pair<double, double> corner, Svg* svg) {
  const auto [x, y] = corner;
  for (size_t row = 0; row < weights.size(); ++row) {
    for (size_t column = 0; column < weights[row].size(); ++column) {
      const double weight = weights[row][column];
      if (!(weight >= kInvisible)) continue;
      svg->Add(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}")",
               x + column * layout.cell + 0.5, y + row * layout.cell + 0.5, layout.cell - 1,
               layout.cell - 1, WeightColor(weight));
      if (layout.tooltips) {
        svg->Add("><title>{} → {}: {:.3f}</title></rect>\n", EscapeMarkup(kind.queries[row]),
                 EscapeMarkup(kind.keys[column]), weight);
      } else {
        svg->Add("/>\n");
      }
    }
  }
}

}  // namespace

std::string AttentionToSvg(const AttentionView& view, const std::string& kind_name,
                           int64_t layer_number) {
  const AttentionKind& kind = view.Kind(kind_name);
  const int64_t layer = LayerIndex(std::ssize(kind.weights), layer_number);
  const auto& heads = kind.weights[layer];
  const Layout layout = LayoutOf(kind, static_cast<int64_t>(heads.size()));
  Svg svg;
  AddHeader(view, kind, layer, layout, &svg);
  for (size_t head = 0; head < heads.size(); ++head) {
    const size_t column = head % layout.columns, row = head / layout.columns;
    const double left = kMargin + static_cast<double>(column) * (layout.panel_width + kPanelGap);
    const double top = kHeaderHeight + static_cast<double>(row) * (layout.panel_height + kPanelGap);
    const double x = left + layout.label_width, y = top + kHeadTitleHeight + layout.label_height;
    svg.Add(
        "<g class=\"head\" id=\"head-{0}\">\n<text x=\"{1:.1f}\" y=\"{2:.1f}\" font-size=\"13\" "
        "font-weight=\"600\">head {0}</text>\n",
        head + 1, x, top + 15);
    svg.Add(
        R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" stroke="#d5dae0"/>)"
        "\n",
        x, y, kind.keys.size() * layout.cell, kind.queries.size() * layout.cell, WeightColor(0));
    AddCells(kind, heads[head], layout, {x, y}, &svg);
    AddTokens(kind, layout, x, y, &svg);
    svg.Add("</g>\n");
  }
  return SvgDocument(layout.width, layout.height,
                     fmt::format("{}, layer {}", kind.title, layer + 1), svg.text());
}

}  // namespace attend
