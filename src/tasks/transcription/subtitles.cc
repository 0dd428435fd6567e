#include "tasks/transcription/subtitles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "text/text_parts.h"

namespace attend {
namespace {

constexpr double kLongest = 7;  // seconds, which readers of subtitles are used to

void Divide(const TranscriptSegment& segment, std::vector<Subtitle>* subtitles) {
  bool fresh = true;
  for (const TimedWord& word : segment.words) {
    if (fresh || word.end - subtitles->back().begin > kLongest) {
      // A word that lasts longer has the silence behind it.
      subtitles->push_back({word.text, word.begin, std::min(word.end, word.begin + kLongest)});
      fresh = false;
    } else {
      subtitles->back().text += ' ' + word.text;
      subtitles->back().end = word.end;
    }
  }
}

// 00:00:01,000 with this mark before the thousandths.
std::string Clock(int64_t milliseconds, char mark) {
  const int64_t seconds = milliseconds / 1000;
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", seconds / 3600, seconds / 60 % 60, seconds % 60,
                     mark, milliseconds % 1000);
}

// A subtitle lasts, for a reader of the file refuses one that ends where it begins.
std::string Span(const Subtitle& subtitle, char mark) {
  const int64_t begin = std::llround(subtitle.begin * 1000);
  const int64_t end = std::max<int64_t>(begin + 1, std::llround(subtitle.end * 1000));
  return Clock(begin, mark) + " --> " + Clock(end, mark);
}

std::string OneLine(std::string text) {
  for (char& character : text)
    if (character == '\n' || character == '\r') character = ' ';
  return WithSingleSpaces(text);
}

// WebVTT takes tags and character references for what they are.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    if (character == '&') {
      escaped += "&amp;";
    } else if (character == '<') {
      escaped += "&lt;";
    } else if (character == '>') {
      escaped += "&gt;";
    } else {
      escaped += character;
    }
  }
  return escaped;
}

}  // namespace

std::vector<Subtitle> SubtitlesOf(std::span<const TranscriptSegment> segments) {
  std::vector<Subtitle> subtitles;
  for (const TranscriptSegment& segment : segments) {
    if (segment.end - segment.begin > kLongest && !segment.words.empty()) {
      Divide(segment, &subtitles);
    } else if (const std::string& text = segment.hypotheses[0].text; !text.empty()) {
      subtitles.push_back({text, segment.begin, segment.end});
    }
  }
  return subtitles;
}

std::string ToSrt(std::span<const Subtitle> subtitles) {
  std::string file;
  for (size_t i = 0; i < subtitles.size(); ++i) {
    file += fmt::format("{}{}\n{}\n{}\n", i == 0 ? "" : "\n", i + 1, Span(subtitles[i], ','),
                        OneLine(subtitles[i].text));
  }
  return file;
}

std::string ToVtt(std::span<const Subtitle> subtitles) {
  std::string file = "WEBVTT\n";
  for (const Subtitle& subtitle : subtitles)
    file += fmt::format("\n{}\n{}\n", Span(subtitle, '.'), Escaped(OneLine(subtitle.text)));
  return file;
}

}  // namespace attend
