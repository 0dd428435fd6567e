// Transcripts as subtitles: SRT (SubRip) and WebVTT (W3C).
#ifndef ATTEND_TASKS_TRANSCRIPTION_SUBTITLES_H_
#define ATTEND_TASKS_TRANSCRIPTION_SUBTITLES_H_

#include <span>
#include <string>
#include <vector>

#include "attend/translator.h"

namespace attend {

// A text that is on show from `begin` to `end`, in seconds.
struct Subtitle {
  std::string text;
  double begin = 0, end = 0;
  bool operator==(const Subtitle&) const = default;
};

// One for each segment with a text; several of one that is longer than 7 seconds and has times of
// words, divided between words, each of 7 seconds at most.
std::vector<Subtitle> SubtitlesOf(std::span<const TranscriptSegment> segments);

// Whole files. Line ends of texts become spaces, for a blank line would end a subtitle.
std::string ToSrt(std::span<const Subtitle> subtitles);
std::string ToVtt(std::span<const Subtitle> subtitles);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_SUBTITLES_H_
