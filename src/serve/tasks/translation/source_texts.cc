#include "serve/tasks/translation/source_texts.h"

#include <utility>

namespace attend {
namespace {

constexpr size_t kEnoughText = 4096;  // bytes, to know the language

// `text` is the first of the document's segments among the job's texts, and then the next one's.
std::string JoinDocument(const HtmlDocument& document, const TranslationJob& job, size_t* text,
                         size_t rank) {
  std::vector<std::string> segments;
  for (size_t s = 0; s < document.segments(); ++s, ++*text) {
    const TranslationJob::Text& segment = job.texts[*text];
    const auto sentences = segment.Sentences();
    segments.push_back(document.Translate(s, segment.parts, [&](size_t i) -> const Hypothesis& {
      return sentences[i].result.translation.AtRank(rank);
    }));
  }
  return document.Join(segments);
}

}  // namespace

SourceTexts::SourceTexts(std::vector<std::string> texts, bool html) {
  if (!html) {
    segments_ = std::move(texts);
    return;
  }
  for (const std::string& text : texts) {
    const HtmlDocument& document = documents_.emplace_back(text);
    for (size_t s = 0; s < document.segments(); ++s) segments_.push_back(document.Text(s));
  }
}

std::vector<std::string> SourceTexts::Samples() const {
  if (documents_.empty()) return segments_;
  std::vector<std::string> samples;
  for (const HtmlDocument& document : documents_) {
    std::string& sample = samples.emplace_back();
    for (size_t s = 0; s < document.segments() && sample.size() < kEnoughText; ++s)
      sample += document.Text(s) + '\n';
  }
  return samples;
}

std::vector<size_t> SourceTexts::PerSegment(const std::vector<size_t>& of_text) const {
  if (documents_.empty()) return of_text;
  std::vector<size_t> of_segment;
  for (size_t i = 0; i < documents_.size(); ++i) {
    of_segment.insert(of_segment.end(), documents_[i].segments(), of_text[i]);
  }
  return of_segment;
}

std::vector<std::string> SourceTexts::Translated(const TranslationJob& job, size_t rank) const {
  std::vector<std::string> translated;
  if (documents_.empty()) {
    for (const auto& text : job.texts) translated.push_back(text.Join(rank));
  }
  size_t text = 0;
  for (const HtmlDocument& document : documents_) {
    translated.push_back(JoinDocument(document, job, &text, rank));
  }
  return translated;
}

}  // namespace attend
