#include "cli/attention_view/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/svg_text.h"

namespace attend {
namespace {

void AddTo(const AttentionFigures& more, AttentionFigures* sum) {
  for (size_t i = 0; i < sum->size(); ++i) (*sum)[i] += more[i];
}

AttentionFigures Over(AttentionFigures sum, int64_t count) {
  for (double& figure : sum) figure /= static_cast<double>(std::max<int64_t>(count, 1));
  return sum;
}

Json FiguresToJson(const AttentionFigures& figures) {
  Json json = Json::object();
  for (size_t i = 0; i < figures.size(); ++i) json[std::string(kAttentionFigures[i])] = figures[i];
  return json;
}

std::string LineOf(const std::string& name, const AttentionFigures& figures) {
  std::string line = fmt::format("{:<14}", name);
  for (const double figure : figures) line += fmt::format("{:>9.3f}", figure);
  return line + "\n";
}

}  // namespace

AttentionFigures FiguresOf(std::span<const float> weights, size_t place) {
  AttentionFigures figures{};
  auto& [entropy, distance, previous, next, same, first, last] = figures;
  for (size_t key = 0; key < weights.size(); ++key) {
    const double weight = weights[key];
    if (weight > 0) entropy -= weight * std::log(weight);
    distance += weight * std::abs(static_cast<double>(key) - static_cast<double>(place));
    if (key + 1 == place) previous = weight;
    if (key == place + 1) next = weight;
    if (key == place) same = weight;
  }
  if (!weights.empty()) {
    first = weights.front();
    last = weights.back();
  }
  return figures;
}

void AttentionStatistics::Add(const AttentionView& view) {
  ++texts_;
  if (sums_.empty())
    for (const AttentionKind& kind : view.kinds)
      sums_.push_back({kind.name, kind.title, 0, {}, {}});
  for (size_t k = 0; k < sums_.size(); ++k) {
    const AttentionKind& kind = view.kinds.at(k);
    Kind& sum = sums_[k];
    const bool causal = kind.name == "decoder";
    sum.heads.resize(kind.weights.size());
    const auto seen = [&](size_t query, size_t keys) { return causal ? query + 1 : keys; };
    for (size_t layer = 0; layer < kind.weights.size(); ++layer) {
      sum.heads[layer].resize(kind.weights[layer].size());
      for (size_t head = 0; head < kind.weights[layer].size(); ++head) {
        const auto& rows = kind.weights[layer][head];
        for (size_t query = 0; query < rows.size(); ++query) {
          const size_t keys = seen(query, rows[query].size());
          AddTo(FiguresOf(std::span(rows[query]).first(keys), query), &sum.heads[layer][head]);
        }
      }
    }
    for (size_t query = 0; query < kind.queries.size(); ++query) {
      const size_t keys = seen(query, kind.keys.size());
      AddTo(FiguresOf(std::vector<float>(keys, 1 / static_cast<float>(keys)), query), &sum.even);
    }
    sum.queries += std::ssize(kind.queries);
  }
}

std::vector<AttentionStatistics::Kind> AttentionStatistics::kinds() const {
  std::vector<Kind> means = sums_;
  for (Kind& kind : means) {
    kind.even = Over(kind.even, kind.queries);
    for (auto& heads : kind.heads)
      for (AttentionFigures& figures : heads) figures = Over(figures, kind.queries);
  }
  return means;
}

Json StatisticsToJson(const AttentionStatistics& statistics) {
  Json kinds = Json::object();
  for (const auto& kind : statistics.kinds()) {
    Json layers = Json::array();
    for (const auto& heads : kind.heads) {
      Json layer = Json::array();
      for (const AttentionFigures& figures : heads) layer.push_back(FiguresToJson(figures));
      layers.push_back(std::move(layer));
    }
    kinds[kind.name] = {{"queries", kind.queries},
                        {"even", FiguresToJson(kind.even)},
                        {"layers", std::move(layers)}};
  }
  return {{"texts", statistics.texts()}, {"kinds", std::move(kinds)}};
}

std::string StatisticsToText(const AttentionStatistics& statistics) {
  std::string text;
  for (const auto& kind : statistics.kinds()) {
    text += fmt::format("{}{}: {} queries of {} texts\n{:<14}", text.empty() ? "" : "\n",
                        kind.title, kind.queries, statistics.texts(), "layer.head");
    for (const std::string_view figure : kAttentionFigures) text += fmt::format("{:>9}", figure);
    text += "\n";
    for (size_t layer = 0; layer < kind.heads.size(); ++layer)
      for (size_t head = 0; head < kind.heads[layer].size(); ++head)
        text += LineOf(fmt::format("{}.{}", layer + 1, head + 1), kind.heads[layer][head]);
    text += LineOf("spread evenly", kind.even);
  }
  return text;
}

namespace {

constexpr double kGridMargin = 28, kGridCellWidth = 42, kGridCellHeight = 24, kGridGap = 26,
                 kGridLabel = 22, kGridTitle = 58, kGridFooter = 40;

// The figures of all heads at `index`, darker where they are larger; entropy and distance against
// the largest of the panel or of even attention, shares against 1.
std::string PanelOf(const AttentionStatistics::Kind& kind, size_t index, double x, double y) {
  double most = 1;
  if (index < 2) {
    most = kind.even[index];
    for (const auto& heads : kind.heads)
      for (const AttentionFigures& figures : heads) most = std::max(most, figures[index]);
  }
  std::string svg =
      fmt::format(R"(<text x="{}" y="{}" font-size="13" font-weight="600">{}</text>)"
                  R"(<text x="{}" y="{}" font-size="11" fill="#667080">even {:.2f}</text>)"
                  "\n",
                  x, y - 24, kAttentionFigures[index], x, y - 9, kind.even[index]);
  for (size_t layer = 0; layer < kind.heads.size(); ++layer) {
    for (size_t head = 0; head < kind.heads[layer].size(); ++head) {
      const double value = kind.heads[layer][head][index], share = most > 0 ? value / most : 0;
      const double left = x + kGridCellWidth * static_cast<double>(head),
                   top = y + kGridCellHeight * static_cast<double>(layer);
      svg += fmt::format(
          R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"><title>layer {} head {}: {:.4f}</title></rect>)"
          R"(<text x="{}" y="{}" font-size="11" text-anchor="middle" fill="{}">{:.2f}</text>)"
          "\n",
          left, top, kGridCellWidth - 2, kGridCellHeight - 2, WeightColor(share), layer + 1,
          head + 1, value, left + kGridCellWidth / 2 - 1, top + kGridCellHeight / 2 + 3,
          share > 0.5 ? "#ffffff" : "#1d2126", value);
    }
  }
  return svg;
}

// The most heads of a layer.
double WidestOf(const AttentionStatistics::Kind& kind) {
  size_t heads = 1;
  for (const auto& layer : kind.heads) heads = std::max(heads, layer.size());
  return kGridCellWidth * static_cast<double>(heads);
}

}  // namespace

std::string StatisticsToSvg(const AttentionStatistics& statistics) {
  std::string body;
  double width = 0, y = kGridMargin;
  for (const auto& kind : statistics.kinds()) {
    const double panel = std::max(WidestOf(kind), 80.0) + kGridGap;
    const double rows = static_cast<double>(kind.heads.size());
    body += fmt::format(R"(<text x="{}" y="{}" font-size="17" font-weight="600">{}</text>)"
                        "\n",
                        kGridMargin, y + 12, EscapeMarkup(kind.title));
    y += kGridTitle;
    for (size_t layer = 0; layer < kind.heads.size(); ++layer) {
      body += fmt::format(R"(<text x="{}" y="{}" font-size="11" fill="#667080">{}</text>)"
                          "\n",
                          kGridMargin, y + kGridCellHeight * (static_cast<double>(layer) + 0.5) + 3,
                          layer + 1);
    }
    for (size_t index = 0; index < kAttentionFigures.size(); ++index)
      body +=
          PanelOf(kind, index, kGridMargin + kGridLabel + panel * static_cast<double>(index), y);
    width = std::max(width, kGridMargin + kGridLabel + panel * kAttentionFigures.size());
    y += kGridCellHeight * rows + kGridFooter;
  }
  body += fmt::format(
      R"(<text x="{}" y="{}" font-size="11" fill="#667080">rows: layers; columns: heads; means over {} texts; entropy in nats, distance in tokens, the rest shares of the weight</text>)"
      "\n",
      kGridMargin, y - 8, statistics.texts());
  y += 12;
  return SvgDocument(width, y, "", body);
}

}  // namespace attend
