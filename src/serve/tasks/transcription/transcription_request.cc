#include "serve/tasks/transcription/transcription_request.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "serve/multipart.h"
#include "serve/refusal.h"
#include "serve/request_body.h"
#include "tasks/transcription/subtitles.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr const char* kFile = "file";
constexpr const char* kGranularities = "timestamp_granularities[]";

void AddGranularity(const std::string& value, TranscriptionRequest* asked) {
  if (value == "word") {
    asked->words = true;
  } else if (value == "segment") {
    asked->segments = true;
  } else {
    throw Error(ErrorKind::kInput, fmt::format("request: {} is '{}', expected word or segment",
                                               kGranularities, Excerpt(value)));
  }
}

void Check(TranscriptionRequest* asked) {
  if (asked->temperature != 0) {
    throw Error(ErrorKind::kInput,
                "request: temperature must be 0: transcripts are searched for, not drawn");
  }
  if (!asked->prompt.empty())
    throw Error(ErrorKind::kInput, "request: prompt must be empty: the model reads none");
  if (asked->stream)
    throw Error(ErrorKind::kInput, "request: stream must be false: the answer comes whole");
  const bool verbose = asked->format == TranscriptFormat::kVerboseJson;
  if ((asked->words || asked->segments) && !verbose) {
    throw Error(ErrorKind::kInput, fmt::format("request: {} goes with response_format "
                                               "verbose_json alone",
                                               kGranularities));
  }
  if (asked->attention && !verbose) {
    throw Error(ErrorKind::kInput,
                "request: attention goes with response_format verbose_json alone");
  }
  if (!asked->words) asked->segments = true;
}

Json Segments(const Transcription& found) {
  Json segments = Json::array();
  for (const TranscriptSegment& each : found.segments) {
    const Hypothesis& best = each.hypotheses[0];
    const auto tokens = static_cast<double>(best.ids.size() + (best.finished ? 1 : 0));
    segments.push_back({{"id", segments.size()},
                        {"seek", 0},
                        {"start", each.begin},
                        {"end", each.end},
                        {"text", best.text},
                        {"tokens", best.ids},
                        {"temperature", 0},
                        {"avg_logprob", tokens > 0 ? best.log_probability / tokens : 0}});
  }
  return segments;
}

Json Words(const Transcription& found) {
  Json words = Json::array();
  for (const TranscriptSegment& segment : found.segments) {
    for (const TimedWord& word : segment.words)
      words.push_back({{"word", word.text}, {"start", word.begin}, {"end", word.end}});
  }
  return words;
}

}  // namespace

FieldList Fields(TranscriptionRequest& request) {
  FieldList fields;
  fields
      .Add("model", &request.model,
           "name of the model; empty: the only one that answers at the route")
      .Add("response_format", &request.format, {"json", "text", "srt", "verbose_json", "vtt"},
           "what the answer is")
      .Add("language", &request.language, "the model's own; empty: that one")
      .Add("temperature", &request.temperature, 0, 1, "0: transcripts are not drawn")
      .Add("prompt", &request.prompt, "empty: a model reads no prompt")
      .Add("stream", &request.stream, "false: the answer comes whole")
      .Add("attention", &request.attention,
           "say what each word looks at in the recording; goes with response_format verbose_json")
      .Nest("", Fields(request.queue));
  return fields;
}

TranscriptionRequest ReadTranscriptionRequest(Exchange* exchange) {
  const HttpRequest& request = exchange->request();
  if (MediaTypeOf(request) != "multipart/form-data")
    throw Refusal(415, "expected Content-Type: multipart/form-data");
  if (!request.query.empty())
    throw Error(ErrorKind::kInput, "the request has a query, expected a form alone");
  TranscriptionRequest asked;
  const FieldList fields = Fields(asked);
  std::set<std::string> seen;
  for (FormPart& part : ParseMultipart(request.content_type, exchange->TakeBody())) {
    if (part.name != kGranularities && !seen.insert(part.name).second) {
      throw Error(ErrorKind::kInput,
                  fmt::format("request: {} appears twice; send it once", Excerpt(part.name)));
    }
    if (part.name == kFile) {
      asked.file_name = Excerpt(part.file_name.value_or(""));
      if (asked.file_name.empty()) asked.file_name = kFile;
      asked.file = std::move(part.content);
      continue;
    }
    if (!IsValidUtf8(part.name) || !IsValidUtf8(part.content))
      throw Error(ErrorKind::kInput, "request body: not a valid form: expected UTF-8");
    if (part.name == kGranularities) {
      AddGranularity(part.content, &asked);
    } else {
      fields.Get(part.name, "request").Parse(part.content, "request");
    }
  }
  if (!seen.contains(kFile))
    throw Error(ErrorKind::kInput, "request: file is missing, expected a sound file");
  Check(&asked);
  return asked;
}

HttpResponse TranscriptionResponse(const TranscriptionRequest& asked, const Transcription& found,
                                   const std::string& language, Json attention) {
  const std::string& text = found.hypotheses[0].text;
  switch (asked.format) {
    case TranscriptFormat::kText:
      return {200, text + '\n', "text/plain; charset=utf-8"};
    case TranscriptFormat::kSrt:
      return {200, ToSrt(SubtitlesOf(found.segments)), "text/plain; charset=utf-8"};
    case TranscriptFormat::kVtt:
      return {200, ToVtt(SubtitlesOf(found.segments)), "text/vtt; charset=utf-8"};
    default:
      break;
  }
  Json answer = {{"text", text}, {"usage", {{"type", "duration"}, {"seconds", found.seconds}}}};
  if (asked.format == TranscriptFormat::kVerboseJson) {
    answer["task"] = "transcribe";
    answer["language"] = language;
    answer["duration"] = found.seconds;
    if (asked.segments) answer["segments"] = Segments(found);
    if (asked.words) answer["words"] = Words(found);
    if (asked.attention) answer["attention"] = std::move(attention);
  }
  return {200, Dump(answer)};
}

}  // namespace attend
