#include "serve/serve_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "engine/tasks/translation_options.h"
#include "text/ascii.h"

namespace attend {
namespace {

// Browsers compare it to the letter with a scheme, host and port (RFC 6454, section 6.2).
void CheckOrigin(const std::string& origin) {
  if (origin.empty() || origin == "*" || origin == "null") return;
  const size_t scheme = origin.find("://");
  if (scheme != std::string::npos && scheme > 0 && origin.size() > scheme + 3 &&
      origin.find_first_of("/*, ?#", scheme + 3) == std::string::npos &&
      LowerCase(origin) == origin) {
    return;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("cors_origin is '{}', expected one as https://example.org, in small "
                          "letters and without a path, or *",
                          origin));
}

// Of a request's body: \ud83d\ude00 in JSON, %F0%9F%98%80 in a form.
constexpr int64_t kMostBytesOfACharacter = 12;
constexpr int64_t kRoomBesideText = 4096;

constexpr int64_t kMostHypothesesWithAttention = 4;

// Where the service listens, and for whom.
FieldList AccessFields(ServeOptions& options) {
  HttpOptions& http = options.http;
  FieldList fields;
  fields.Add("host", &http.host, "address to listen on; 0.0.0.0: all of the machine's")
      .Add("port", &http.port, 0, 65535, "port to listen on; 0: any that is free")
      .Add("metrics_address", &http.metrics_address,
           "address and port for /metrics and /health alone, as 127.0.0.1:9464; the other port has "
           "no /metrics then")
      .Add("allowed_host", &options.allowed_host,
           "names in a request's Host that are taken beside localhost's, as translate.example.org, "
           "*.example.org, or * for all; without it only localhost's, or all where host is another "
           "machine's to reach")
      .Add(
          "public_url", &options.public_url,
          "where clients reach the service, as https://example.org/translate, for links in answers")
      .Add("trusted_proxy", &http.trusted_proxy,
           "addresses or networks of proxies, as 10.0.0.0/8, whose X-Forwarded-For, -Proto and "
           "-Prefix count")
      .Add(
          "api_keys", &options.api_keys,
          "file of the keys that may translate, one a line, each as KEY or NAME: KEY, the name for "
          "logs; without it all may")
      .Add("cors_origin", &http.cors_origin,
           "origin whose web pages may call, as https://example.org; *: all; empty: none");
  return fields;
}

}  // namespace

std::pair<std::string, std::string> NameAndPath(const std::string& given) {
  const size_t equals = given.find('=');
  if (equals == std::string::npos || given.find('/') < equals) return {"", given};
  return {given.substr(0, equals), given.substr(equals + 1)};
}

void LimitToAttention(TranslationOptions* options) {
  options->n_best = std::min(options->n_best, kMostHypothesesWithAttention);
  options->max_length = std::min(options->max_length, kMostLengthWithAttention);
  options->min_length = std::min(options->min_length, kMostLengthWithAttention);
}

FieldList Fields(ServeOptions& options) {
  HttpOptions& http = options.http;
  FieldList fields;
  fields.Group("Models")
      .Add("model", &options.model,
           "model directories, each as DIRECTORY or NAME=DIRECTORY; the name of one without is its "
           "languages, as en-de, or else the directory's; of several for the same languages the "
           "first "
           "answers requests that name none")
      .Add("models_dir", &options.models_dir,
           "directory of model directories, each a model of its name; those that come or go while "
           "the server runs are loaded or let go, but for names that begin with a dot")
      .Add("shortlist", &options.shortlist,
           "files of `attend shortlist`, each as NAME=FILE for the model of that name, or FILE for "
           "the only one")
      .Nest("", Fields(options.translator).Select({"type", "protect"}))
      .Group("Network and access")
      .Nest("", AccessFields(options))
      .Group("Limits")
      .Add("connections", &http.connections, 1, 1e6, "connections open at once")
      .Add("max_header_bytes", &http.max_header_bytes, 1024, 1 << 20, "size of a request's header")
      .Add("max_body_bytes", &http.max_body_bytes, 1024, 1 << 28, "size of a request's body")
      .Add("max_characters", &options.max_characters, 0, 1e8,
           "characters that the texts of a request may have together; 0: what max_body_bytes holds")
      .Add("max_sentences", &options.max_sentences, 1, 1e6, "sentences a request may have")
      .Add("max_input_tokens", &options.max_input_tokens, 1, 100000,
           "pieces a sentence may have, of 64 bytes on average at most; a longer one is translated "
           "in parts")
      .Add("max_beam_size", &options.max_beam_size, 1, 64, "beam_size that a request may ask for")
      .Add("queue_sentences", &options.queue_sentences, 1, 1e7,
           "sentences that wait for each model; more are answered 503")
      .Add("request_limit", &options.request_limit, 0, 1e9,
           "requests a minute that each client (its key, or else its address) may make; more are "
           "answered 429; 0: as many as it likes")
      .Add("idle_timeout", &http.idle_timeout, 0.1, 86400, "seconds between two requests")
      .Add("read_timeout", &http.read_timeout, 0.1, 86400,
           "seconds for a request's header, and again for its body")
      .Add("write_timeout", &http.write_timeout, 0.1, 86400, "seconds to send an answer")
      .Add("request_timeout", &options.request_timeout, 0.1, 86400,
           "seconds until a request that is not answered gets 504")
      .Add("stop_timeout", &http.stop_timeout, 0, 86400,
           "seconds to answer what was accepted, on SIGTERM")
      .Group("")
      .Add("log_text", &options.log_text, "logs hold the texts of requests")
      .Group("Search, of requests that do not say otherwise")
      .Nest("", Fields(options.translation));
  return fields;
}

int64_t SureCharacters(const ServeOptions& options) {
  if (options.max_characters > 0) return options.max_characters;
  const int64_t room = options.http.max_body_bytes - kRoomBesideText;
  return std::max<int64_t>(1, room / kMostBytesOfACharacter);
}

void CheckServeOptions(const ServeOptions& options) {
  CheckTranslationOptions(options.translation);
  if (options.translation.beam_size > options.max_beam_size) {
    throw Error(ErrorKind::kUsage,
                fmt::format("beam_size is {}, above the max_beam_size of {}; raise max_beam_size",
                            options.translation.beam_size, options.max_beam_size));
  }
  CheckOrigin(options.http.cors_origin);
  if (options.model.empty() && options.models_dir.empty()) {
    throw Error(ErrorKind::kUsage, "there is no model; name one with --model or --models-dir");
  }
  const bool one_model = options.model.size() == 1 && options.models_dir.empty();
  for (const std::string& shortlist : options.shortlist) {
    if (one_model || !NameAndPath(shortlist).first.empty()) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("shortlist is '{}', expected NAME=FILE, as there may be several models",
                            shortlist));
  }
  if (options.max_characters * kMostBytesOfACharacter + kRoomBesideText >
          options.http.max_body_bytes &&
      options.max_characters > 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("max_characters is {}, which may take {} bytes, above the "
                            "max_body_bytes of {}; raise max_body_bytes",
                            options.max_characters,
                            options.max_characters * kMostBytesOfACharacter + kRoomBesideText,
                            options.http.max_body_bytes));
  }
  if (options.max_sentences > options.queue_sentences) {
    throw Error(ErrorKind::kUsage,
                fmt::format("max_sentences is {}, above the {} of queue_sentences, so that some "
                            "requests could never be taken; raise queue_sentences",
                            options.max_sentences, options.queue_sentences));
  }
}

FieldList Fields(RequestOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "name of the model; empty: the one of these languages")
      .Add("source", &options.source, "language of the text; auto: detected; empty: the model's")
      .Add("target", &options.target, "language of the translation; empty: the model's")
      .Nest("", Fields(options.translation)
                    .Select({"beam_size", "length_penalty", "n_best", "max_length", "min_length",
                             "allow_unknown", "alignments", "alignment_layer"}))
      .Add("protect", &options.protect,
           "copy spans that training protected exactly; false: translate them like all text")
      .Add("attention", &options.attention,
           fmt::format("give attention weights; of one sentence of at most {} pieces, with n_best "
                       "of at most {}, max_length and min_length of at most {}",
                       kMostPiecesWithAttention, kMostHypothesesWithAttention,
                       kMostLengthWithAttention))
      .Nest("", SplittingField(&options.split_sentences))
      .Add("stream", &options.stream, "answer with an event for each sentence as it is ready")
      .Add("priority", &options.priority, {"auto", "interactive", "bulk"},
           "interactive goes before bulk; auto: bulk from 9 sentences on")
      .Add("deadline_ms", &options.deadline_ms, 0, 3600000,
           "milliseconds after which nobody needs the answer; 0: as the server says");
  return fields;
}

}  // namespace attend
