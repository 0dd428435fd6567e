#include "data/cleaning/cleaning_report.h"

#include <fmt/format.h>

#include "base/excerpt.h"

namespace attend {
namespace {

double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// Text in a cell of a table.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos) cell.push_back('\\');
    cell.push_back(c);
  }
  return cell;
}

}  // namespace

void CleaningReport::Add(Fault fault, int64_t number, std::span<const std::string_view> sides) {
  ++lines_;
  Dropped& dropped = faults_[static_cast<size_t>(fault)];
  ++dropped.count;
  if (fault == Fault::kNone || dropped.examples.size() >= kShown) return;
  Example& example = dropped.examples.emplace_back();
  example.number = number;
  for (const std::string_view side : sides) example.sides.push_back(Excerpt(side));
}

std::string CleaningReport::Text() const {
  std::string text =
      fmt::format("{} lines, {} kept ({:.1f} %)", lines_, kept(), Percent(kept(), lines_));
  const char* before = "; dropped: ";
  for (size_t i = 1; i < kFaults; ++i) {
    if (faults_[i].count == 0) continue;
    text += fmt::format("{}{} {}", before, faults_[i].count, FaultText(static_cast<Fault>(i)));
    before = ", ";
  }
  return text;
}

Json CleaningReport::ToJson() const {
  Json dropped = Json::object();
  for (size_t i = 1; i < kFaults; ++i) {
    if (faults_[i].count == 0) continue;
    Json examples = Json::array();
    for (const Example& example : faults_[i].examples)
      examples.push_back({{"line", example.number}, {"text", example.sides}});
    dropped[FaultName(static_cast<Fault>(i))] = {{"count", faults_[i].count},
                                                 {"examples", examples}};
  }
  return {{"lines", lines_}, {"kept", kept()}, {"dropped", dropped}};
}

std::string CleaningReport::Markdown() const {
  std::string page = fmt::format(
      "# Cleaned text\n\n{} lines, {} kept ({:.1f} %).\n\n| reason | lines | share "
      "|\n|---|---|---|\n",
      lines_, kept(), Percent(kept(), lines_));
  std::string examples;
  for (size_t i = 1; i < kFaults; ++i) {
    if (faults_[i].count == 0) continue;
    const std::string name = FaultText(static_cast<Fault>(i));
    page += fmt::format("| {} | {} | {:.2f} % |\n", name, faults_[i].count,
                        Percent(faults_[i].count, lines_));
    for (const Example& example : faults_[i].examples) {
      examples += fmt::format("| {} | {} |", name, example.number);
      for (size_t side = 0; side < 2; ++side)
        examples +=
            fmt::format(" {} |", side < example.sides.size() ? Cell(example.sides[side]) : "");
      examples += "\n";
    }
  }
  if (examples.empty()) return page;
  return page + "\n| reason | line | source | target |\n|---|---|---|---|\n" + examples;
}

}  // namespace attend
