// An item as a drawing that stands still: attention rollout over words, links and picture.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "cli/attention_view/item_view.h"
#include "cli/svg_text.h"

namespace attend {
namespace {

// Draws one part below another.
class ItemDrawing {
 public:
  explicit ItemDrawing(const ItemView& view) : answer_(view.answer) {
    Text(kMargin, 36, 18, "font-weight=\"600\"", view.name);
    Text(kMargin, 58, 13, "", view.told);
    y_ = 74;
    const Json& attention = answer_["attention"];
    AddContributions();
    if (!attention["text"].is_null()) AddWords(attention["text"]);
    if (!attention["picture"].is_null()) AddPicture(attention["picture"]);
    if (!attention["links"].is_null()) AddLinks(attention["links"]);
  }

  std::string Finished(const std::string& title) const {
    return SvgDocument(kWidth, y_ + kMargin, title, body_);
  }

 private:
  static constexpr double kMargin = 28, kWidth = 760, kBarWidth = 260, kPictureSide = 210;
  static constexpr double kWordSize = 14, kWordRow = 26, kTripleRow = 19;
  static constexpr const char *kHeat = "#ff5a1f", *kSoft = "#667080", *kLine = "#d5dae0";
  static constexpr double kMostOpaque = 0.6, kMostOpaquePatch = 0.85;

  template <class... Values>
  void Append(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Values>(values)...);
  }
  void Text(double x, double y, double size, const std::string& style, const std::string& text) {
    Append("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\" {}>{}</text>\n", x, y, size, style,
           EscapeMarkup(text));
  }
  void Title(const std::string& title) {
    y_ += 34;
    Text(kMargin, y_, 13, "font-weight=\"600\"", title);
    y_ += 12;
  }
  void Box(double x, double y, double width, double height, const std::string& style) {
    Append("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n", x, y, width,
           height, style);
  }
  static std::string Heat(double share, double most, double opaque) {
    return fmt::format("fill=\"{}\" fill-opacity=\"{:.3f}\"", kHeat,
                       most > 0 ? opaque * share / most : 0);
  }

  void AddContributions() {
    Title("What each input contributes");
    const double middle = kMargin + 70 + kBarWidth / 2;
    double most = 1;  // less than e-fold is a short bar
    for (const auto& [input, value] : answer_["contributions"].items())
      if (!value.is_null()) most = std::max(most, std::abs(value.get<double>()));
    for (const auto& [input, value] : answer_["contributions"].items()) {
      y_ += 22;
      const double difference = value.is_null() ? 0 : value.get<double>();
      const double width = kBarWidth / 2 * std::abs(difference) / most;
      Text(kMargin, y_, 13, "", input);
      Box(middle - kBarWidth / 2, y_ - 10, kBarWidth, 10,
          fmt::format("rx=\"5\" fill=\"{}\"", kLine));
      Box(difference < 0 ? middle - width : middle, y_ - 10, width, 10,
          difference < 0 ? "fill=\"#b3382c\"" : "fill=\"#2b7a4b\"");
      Text(middle + kBarWidth / 2 + 14, y_, 12, fmt::format("fill=\"{}\"", kSoft),
           value.is_null() ? "alone" : fmt::format("{:+.2f}", difference));
    }
  }

  void AddWords(const Json& text) {
    Title("Words");
    const std::vector<std::string> words = text["words"];
    const std::vector<int64_t> places = text["piece_words"];
    std::vector<double> shares(words.size());
    for (size_t piece = 0; piece < places.size(); ++piece)
      if (places[piece] >= 0) shares[places[piece]] += text["rollout"][piece].get<double>();
    const double most = shares.empty() ? 0 : *std::ranges::max_element(shares);
    double x = kMargin;
    y_ += kWordRow - 8;
    for (size_t i = 0; i < words.size(); ++i) {
      const double width = kWordSize * TextWidth(words[i]) + 6;
      if (x + width > kWidth - kMargin && x > kMargin) {
        x = kMargin;
        y_ += kWordRow;
      }
      Box(x, y_ - 15, width, 21, "rx=\"4\" " + Heat(shares[i], most, kMostOpaque));
      Append(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\" text-anchor=\"middle\">{}<title>"
          "{:.1f} %</title></text>\n",
          x + width / 2, y_, kWordSize, EscapeMarkup(words[i]), 100 * shares[i]);
      x += width + 4;
    }
  }

  void AddPicture(const Json& picture) {
    Title("Picture: what the model reads, and what it looks at");
    const std::vector<double> rollout = picture["rollout"];
    const auto rows = picture["rows"].get<double>(), columns = picture["columns"].get<double>();
    const double side = kPictureSide / std::max(rows, columns);
    for (const bool with_heat : {false, true}) {
      Append(
          "<image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated{}\" href=\"{}\"/>\n",
          with_heat ? kMargin + columns * side + 20 : kMargin, y_, columns * side, rows * side,
          with_heat ? kGreyUnderHeat : "", picture["picture"].get<std::string>());
    }
    const double most = *std::ranges::max_element(rollout);
    for (size_t i = 0; i < rollout.size(); ++i) {
      const auto row = i / static_cast<size_t>(columns), column = i % static_cast<size_t>(columns);
      Box(kMargin + columns * side + 20 + static_cast<double>(column) * side,
          y_ + static_cast<double>(row) * side, side, side,
          Heat(rollout[i], most, kMostOpaquePatch));
    }
    y_ += rows * side;
  }

  void AddLinks(const Json& links) {
    Title("Links, and what the graph says of them");
    const std::vector<double> rollout = links["rollout"];
    const double most = *std::ranges::max_element(rollout);
    double x = kMargin;
    y_ += 14;
    for (size_t i = 0; i < rollout.size(); ++i) {
      const std::string told =
          fmt::format("{} {:.1f} %", links["nodes"][i].get<std::string>(), 100 * rollout[i]);
      const double width = 13 * TextWidth(told) + 14;
      if (x + width > kWidth - kMargin && x > kMargin) {
        x = kMargin;
        y_ += 32;
      }
      Box(x, y_ - 13, width, 25,
          "rx=\"7\" stroke=\"#2563a8\" stroke-width=\"1.5\" " +
              Heat(rollout[i], most, kMostOpaque));
      Text(x + width / 2, y_ + 4, 13, "text-anchor=\"middle\"", told);
      x += width + 8;
    }
    y_ += 14;
    for (const Json& triple : answer_["graph"]["triples"]) {
      y_ += kTripleRow;
      Text(kMargin + 200, y_, 12, "text-anchor=\"end\"", triple[0]);
      Text(kMargin + 212, y_, 12, fmt::format("font-style=\"italic\" fill=\"{}\"", kSoft),
           triple[1].get<std::string>() + " \u2192");
      Text(kMargin + 400, y_, 12, "", triple[2]);
    }
  }

  const Json& answer_;
  double y_ = 0;  // where the next part begins
  std::string body_;
};

}  // namespace

std::string ItemViewToSvg(const ItemView& view) {
  return ItemDrawing(view).Finished("What the model looks at: " + view.name);
}

}  // namespace attend
