#include "tasks/transcription/transcription_json.h"

#include <cmath>

namespace attend {

double InMilliseconds(double seconds) { return std::round(seconds * 1000) / 1000; }

Json WordsToJson(std::span<const TimedWord> words) {
  Json list = Json::array();
  for (const TimedWord& word : words)
    list.push_back({{"text", word.text},
                    {"begin", InMilliseconds(word.begin)},
                    {"end", InMilliseconds(word.end)}});
  return list;
}

Json TranscriptionToJson(const std::string& path, const Transcription& found) {
  if (!found.error.empty()) return {{"recording", path}, {"error", found.error}};
  Json hypotheses = Json::array();
  for (const Hypothesis& each : found.hypotheses) {
    hypotheses.push_back({{"text", each.text},
                          {"score", each.score},
                          {"log_probability", each.log_probability},
                          {"finished", each.finished}});
  }
  Json segments = Json::array();
  for (const TranscriptSegment& each : found.segments) {
    Json& segment = segments.emplace_back(Json{{"begin", InMilliseconds(each.begin)},
                                               {"end", InMilliseconds(each.end)},
                                               {"text", each.hypotheses[0].text}});
    if (!each.words.empty()) segment["words"] = WordsToJson(each.words);
  }
  return {{"recording", path},
          {"text", found.hypotheses[0].text},
          {"seconds", found.seconds},
          {"segments", std::move(segments)},
          {"hypotheses", std::move(hypotheses)}};
}

}  // namespace attend
