#include "data/denoising.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attend/error.h"
#include "text/lines.h"
#include "text/mask_token.h"
#include "text/sentinels.h"
#include "text/text_parts.h"

namespace attend {
namespace {

// How many of `count` tokens are hidden: at least one; and of several so many fewer that what T5
// adds, two sentinels or more, makes the output no longer than the text.
int64_t CountHidden(int64_t count, double density) {
  const int64_t hidden = std::llround(density * static_cast<double>(count));
  return std::clamp<int64_t>(hidden, 1, std::max<int64_t>(count - 2, 1));
}

}  // namespace

FieldList Fields(DenoisingOptions& options) {
  FieldList fields;
  fields
      .Add("denoising", &options.kind, {"spans", "infilling"},
           "spans: T5's noise, whose output is what the sentinels <extra_id_0> ... of the input "
           "stand for; infilling: BART's, whose output is the whole text, and a span of the input "
           "is one mask token")
      .Add("noise_density", &options.noise_density, 0, 0.9,
           "share of the tokens that noise hides; 0: 0.15 of spans, 0.3 of infilling")
      .Add("mean_noise_span_length", &options.mean_noise_span_length, 1, 100,
           "tokens of a hidden span, on average; those of infilling follow Poisson's distribution, "
           "and a span of none is a mask token too many")
      .Add("permute_sentences", &options.permute_sentences,
           "with infilling: the input has the line's sentences in another order, too");
  return fields;
}

std::vector<int64_t> RandomParts(int64_t total, int64_t parts, Random* random) {
  // Which of total + parts - 1 places are bars between stars (Feller, An Introduction to
  // Probability Theory, chapter II.5), by choosing without replacement.
  int64_t bars = parts - 1, places = total + bars;
  std::vector<int64_t> lengths(1, 0);
  for (; places > 0; --places) {
    if (static_cast<int64_t>(random->Below(static_cast<uint64_t>(places))) < bars) {
      --bars;
      lengths.push_back(0);
    } else {
      ++lengths.back();
    }
  }
  return lengths;
}

int64_t RandomPoisson(double mean, Random* random) {
  // Knuth, The Art of Computer Programming, volume 2, section 3.4.1.
  const double least = std::exp(-mean);
  int64_t count = 0;
  for (double product = random->Uniform(); product > least; product *= random->Uniform()) ++count;
  return count;
}

Denoising::Denoising(const DenoisingOptions& options, std::shared_ptr<const Vocabulary> vocabulary,
                     std::string language)
    : options_(options), vocabulary_(std::move(vocabulary)), language_(std::move(language)) {
  if (options.kind == NoiseKind::kInfilling) {
    marks_ = {MaskId(*vocabulary_)};
    if (marks_[0] >= 0) return;
    throw Error(ErrorKind::kConfiguration,
                fmt::format("denoising = infilling needs a {} token, which the vocabulary has not; "
                            "make one with `attend vocab --mask`, or give a model the token with "
                            "`attend extend MODEL --token {}`",
                            kMaskToken, kMaskToken));
  }
  marks_ = SentinelIds(*vocabulary_);
  if (marks_.size() >= 2) return;
  throw Error(
      ErrorKind::kConfiguration,
      fmt::format("denoising = spans needs sentinels, {} and so on, of which the vocabulary "
                  "has {}, expected 2 or more; make one with `attend vocab --sentinels {}`, "
                  "or give a model the tokens with `attend extend`",
                  SentinelText(0), marks_.size(), kSentinels));
}

NoisedText Denoising::AddNoise(std::span<const int32_t> ids, uint64_t key) const {
  Random random({key, 0x6E6F697365});
  if (options_.kind == NoiseKind::kSpans) return HideSpans(ids, &random);
  const std::vector<int32_t> text = options_.permute_sentences
                                        ? Permuted(ids, &random)
                                        : std::vector<int32_t>(ids.begin(), ids.end());
  return {Infill(text, &random), {ids.begin(), ids.end()}};
}

// As T5 draws them, but a line may begin with a span and end without one: T5's lines, which follow
// each other in a context, always begin with what is shown and end with a span.
NoisedText Denoising::HideSpans(std::span<const int32_t> ids, Random* random) const {
  const int64_t count = std::ssize(ids), hidden = CountHidden(count, options_.Density());
  const int64_t wanted =
      std::llround(static_cast<double>(hidden) / options_.mean_noise_span_length);
  // A token or more between two spans, a sentinel for each and one for the end, and an output that
  // is no longer than the text.
  const int64_t most = std::min({hidden, std::ssize(marks_) - 1, count - hidden - 1});
  const int64_t spans = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(most, 1));
  const std::vector<int64_t> lengths = RandomParts(hidden - spans, spans, random);
  const std::vector<int64_t> gaps = RandomParts(count - hidden - (spans - 1), spans + 1, random);
  NoisedText text;
  auto next = ids.begin();
  for (int64_t span = 0; span <= spans; ++span) {
    const int64_t between = span == 0 || span == spans ? 0 : 1;
    const auto shown_end = next + gaps[span] + between;
    text.input.insert(text.input.end(), next, shown_end);
    text.output.push_back(marks_[span]);
    if (span == spans) break;
    text.input.push_back(marks_[span]);
    next = shown_end + lengths[span] + 1;
    text.output.insert(text.output.end(), shown_end, next);
  }
  return text;
}

std::vector<int32_t> Denoising::Infill(std::span<const int32_t> ids, Random* random) const {
  const int64_t count = std::ssize(ids), hidden = CountHidden(count, options_.Density());
  std::vector<int64_t> lengths;  // of spans
  int64_t drawn = 0, more = 0;   // tokens hidden, mask tokens too many
  while (drawn < hidden) {
    const int64_t length =
        std::min(RandomPoisson(options_.mean_noise_span_length, random), hidden - drawn);
    if (length > 0)
      lengths.push_back(length);
    else
      ++more;
    drawn += length;
  }
  const auto spans = std::ssize(lengths);
  more = std::min(more, hidden - spans);  // the input is no longer than the text
  const std::vector<int64_t> gaps = RandomParts(count - hidden, spans + 1, random);
  std::vector<int32_t> input;
  auto next = ids.begin();
  for (int64_t span = 0; span <= spans; ++span) {
    input.insert(input.end(), next, next + gaps[span]);
    next += gaps[span];
    if (span == spans) break;
    input.push_back(marks_[0]);
    next += lengths[span];
  }
  for (; more > 0; --more) {
    const auto place = static_cast<std::ptrdiff_t>(random->Below(input.size() + 1));
    input.insert(input.begin() + place, marks_[0]);
  }
  return input;
}

std::vector<int32_t> Denoising::Permuted(std::span<const int32_t> ids, Random* random) const {
  const std::string text = vocabulary_->Decode(ids);
  std::vector<std::pair<int64_t, int64_t>> sentences;  // words, [begin, end)
  for (const TextPart& part : SentenceParts(text, language_)) {
    if (part.begin > 0 && text[part.begin - 1] != ' ') return {ids.begin(), ids.end()};
    const auto begin = static_cast<int64_t>(CountWords(text.substr(0, part.begin)));
    const auto words = static_cast<int64_t>(
        CountWords(std::string_view(text).substr(part.begin, part.end - part.begin)));
    sentences.emplace_back(begin, begin + words);
  }
  if (sentences.size() < 2) return {ids.begin(), ids.end()};
  sentences.front().first = -1;  // with what belongs to no word
  for (size_t i = 0; i + 1 < sentences.size(); ++i) sentences[i].second = sentences[i + 1].first;
  sentences.back().second = std::ssize(text);
  const std::vector<int64_t> words = vocabulary_->WordsOfIds(ids);
  random->Shuffle(&sentences);
  std::vector<int32_t> permuted;
  for (const auto& [begin, end] : sentences) {
    for (size_t i = 0; i < ids.size(); ++i)
      if (words[i] >= begin && words[i] < end) permuted.push_back(ids[i]);
  }
  return permuted;
}

}  // namespace attend
