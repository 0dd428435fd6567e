#include "tasks/translation/alternatives.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "tasks/translation/translation_options.h"
#include "text/lines.h"

namespace attend {
namespace {

constexpr int64_t kTokensOfAWord = 8;  // that continue the prefix, or begin the same word

// The text up to the end of its word number `count`, from 1.
std::string_view FirstWords(std::string_view text, int64_t count) {
  size_t end = 0;
  for (; count > 0 && end < text.size(); --count)
    end = std::min(text.find_first_of(" \t", text.find_first_not_of(" \t", end)), text.size());
  return text.substr(0, end);
}

}  // namespace

void SearchNextToken(int64_t words, SearchInput* input) {
  input->max_length = std::ssize(input->prefix) + 1;
  input->options.groups = 1;
  input->options.beam_size = input->options.n_best =
      std::min(kTokensOfAWord * words, kMostBeamSize);
}

std::vector<std::vector<int32_t>> LongerPrefixes(const TaskRunner& runner,
                                                 const std::vector<int32_t>& prefix,
                                                 std::span<const Hypothesis> found) {
  const auto last_word = [&](const std::vector<int32_t>& ids) {
    const std::vector<int64_t> words = runner.target().WordsOfIds(ids);
    return words.empty() ? -1 : words.back();
  };
  std::vector<std::vector<int32_t>> longer;
  for (const Hypothesis& hypothesis : found) {
    if (!hypothesis.finished && last_word(hypothesis.ids) > last_word(prefix))
      longer.push_back(hypothesis.ids);
  }
  if (longer.empty()) longer.push_back(prefix);
  return longer;
}

Translation BestByNextWord(std::vector<Translation> found, const std::string& prefix,
                           int64_t count) {
  std::ranges::stable_sort(found, std::greater(),
                           [](const Translation& each) { return each.hypotheses[0].score; });
  Translation alternatives;
  std::set<std::string, std::less<>> known;  // up to the word in question
  const int64_t words = CountWords(prefix) + 1;
  for (Translation& each : found) {
    if (std::ssize(alternatives.hypotheses) == count) break;
    alternatives.unknown_characters = each.unknown_characters;
    if (known.emplace(FirstWords(each.hypotheses[0].text, words)).second)
      alternatives.hypotheses.push_back(std::move(each.hypotheses[0]));
  }
  return alternatives;
}

}  // namespace attend
