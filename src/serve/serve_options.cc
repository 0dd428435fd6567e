#include "serve/serve_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "tasks/loaded_model.h"
#include "tasks/translation/sentence_splitting.h"
#include "tasks/translation/translation_options.h"
#include "text/ascii.h"
#include "text/utf8.h"

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

// What is served.
FieldList ModelFields(ServeOptions& options) {
  FieldList fields;
  fields
      .Add("model", &options.model,
           "model directories, each as DIRECTORY or NAME=DIRECTORY; the default name is the "
           "languages, such as en-de, or else the directory's name; of several models for the same "
           "languages the first is the default")
      .Add(
          "adapter", &options.adapter,
          "adapters of these models, each as DIRECTORY or NAME=DIRECTORY; one is served beside its "
          "model under the name MODEL/NAME, and shares the weights that it leaves as they are; the "
          "default NAME is the directory's")
      .Add("models_dir", &options.models_dir,
           "directory of directories of models and adapters; each is served under its name (an "
           "adapter as MODEL/NAME) and may be added or removed while the service runs; names that "
           "begin with a dot are ignored")
      .Add("shortlist", &options.shortlist,
           "files of `attend shortlist`, each as NAME=FILE for the model of that name, or FILE for "
           "the only model")
      .Add("estimator", &options.estimator,
           "model directories of estimators of quality, as `attend translate` takes one, each as "
           "NAME=DIRECTORY for the model of that name, or DIRECTORY for the only model")
      .Add("glossary", &options.glossary,
           "files of terms that translations must hold, each as NAME=FILE; a request for "
           "translations names one")
      .Add("memory", &options.memory,
           "translation memories, each as FILE or NAME=FILE: a TMX, or lines of source, tab and "
           "target; the default NAME is the file's, without its endings")
      .Add("memory_source", &options.memory_source,
           "the source's language in a TMX; empty: the one that the file names")
      .Add("memory_target", &options.memory_target,
           "the target's language in a TMX; empty: the only other one")
      .Nest("", TypeField(&options.load.type))
      .Nest("", Fields(options.translator).Select({"protect"}));
  return fields;
}

// Where the service listens, and for whom.
FieldList AccessFields(ServeOptions& options) {
  HttpOptions& http = options.http;
  FieldList fields;
  fields.Add("host", &http.host, "address to listen on; 0.0.0.0: all addresses of the machine")
      .Add("port", &http.port, 0, 65535, "port to listen on; 0: any free port")
      .Add("metrics_address", &http.metrics_address,
           "separate address and port for /metrics and /health, such as 127.0.0.1:9464; the main "
           "address then has no /metrics")
      .Add("allowed_host", &options.allowed_host,
           "names to accept in a request's Host besides localhost, such as translate.example.org, "
           "*.example.org, or * for all; default: only localhost, or all names if host is not a "
           "loopback address")
      .Add("public_url", &options.public_url,
           "URL at which clients reach the service, such as https://example.org/translate; used "
           "for links in answers")
      .Add("trusted_proxy", &http.trusted_proxy,
           "addresses or networks of proxies whose X-Forwarded-For, -Proto and -Prefix are "
           "believed, such as 10.0.0.0/8")
      .Add("api_keys", &options.api_keys,
           "file of API keys, one a line, as KEY or NAME: KEY; logs show the name; default: no key "
           "is needed")
      .Add("cors_origin", &http.cors_origin,
           "origin whose web pages may use the service, such as https://example.org; *: all; "
           "empty: none");
  return fields;
}

// What one request, and all that wait, may ask of the models.
FieldList WorkFields(ServeOptions& options) {
  FieldList fields;
  fields
      .Add("max_characters", &options.max_characters, 0, 1e8,
           "maximum characters in all texts of a request; 0: as many as fit into max_body_bytes")
      .Add("max_sentences", &options.max_sentences, 1, 1e6,
           "maximum number of sentences, outputs or texts in a request")
      .Add("max_input_tokens", &options.max_input_tokens, 0, 100000,
           "maximum tokens of a sentence, and 64 times as many bytes; a longer one is divided; " +
               InputLimitHelp() +
               "; a longer prompt, or text to tag, classify, fill or embed, is refused, 0: above "
               "4096")
      .Add("max_beam_size", &options.max_beam_size, 1, 64, "maximum beam_size of a request")
      .Add("queue_sentences", &options.queue_sentences, 1, 1e7,
           "maximum sentences, prompts or texts that wait for each model; further requests get "
           "503");
  return fields;
}

// Of documents that the Python package reads.
FieldList DocumentFields(ServeOptions& options) {
  FieldList fields;
  fields
      .Add("documents", &options.documents, {"auto", "off"},
           "documents of other programs (.docx, .odt, .epub, .xliff ...) at /translate_file, read "
           "by the Python package; auto: where it is installed (ATTEND_PYTHON may name a Python)")
      .Add("document_count", &options.document_count, 1, 64,
           "maximum documents at once, each with a process of its own; further ones get 503")
      .Add("document_memory", &options.document_memory, 64, 1 << 20,
           "maximum memory of such a process, in MiB");
  return fields;
}

// What is learned from corrections.
FieldList AdaptationFields(ServeOptions& options) {
  FieldList fields;
  fields
      .Add("projects", &options.projects,
           "directory where /v1/corrections keeps what users correct, a project each, and the "
           "adapters that are trained on it in the background; needs the program attend-train "
           "beside attend; empty: corrections are refused")
      .Add("adaptation_pause", &options.adaptation_pause, 0, 86400,
           "seconds without a new correction after which the training of a project begins")
      .Add("adaptation_timeout", &options.adaptation_timeout, 1, 1e6,
           "seconds after which a training that has not ended is taken for failed")
      .Add("adaptation_recipe", &options.adaptation_recipe,
           "TOML file of training options for the adapters of projects, in place of the usual "
           "ones; not the text, nor init and output")
      .Add("max_corrections", &options.max_corrections, 1, 1e6,
           "maximum number of corrections of a project")
      .Add("max_projects", &options.max_projects, 1, 1e6,
           "maximum number of projects; each may take nearly as much memory as its model");
  return fields;
}

// Not all tasks take batch_tokens as they stand.
FieldList SearchFields(ServeOptions& options) {
  FieldList fields;
  std::vector<std::string> names = Fields(options.translation).Names();
  std::erase(names, "batch_tokens");
  fields.Nest("", Fields(options.translation).Select(names))
      .Add("batch_tokens", &options.translation.batch_tokens, 1, 1e15,
           "input tokens that run together on a thread; a sentence counts as at least 16; an "
           "encoder alone takes at most 512; a language model always has 65536, output tokens "
           "included");
  return fields;
}

}  // namespace

std::pair<std::string, std::string> NameAndPath(const std::string& given) {
  const size_t equals = given.find('=');
  if (equals == std::string::npos || given.find('/') < equals) return {"", given};
  return {given.substr(0, equals), given.substr(equals + 1)};
}

FieldList Fields(ServeOptions& options) {
  HttpOptions& http = options.http;
  FieldList fields;
  fields.Group("Models")
      .Nest("", ModelFields(options))
      .Group("Network and access")
      .Nest("", AccessFields(options))
      .Group("Limits")
      .Add("connections", &http.connections, 1, 1e6, "maximum number of open connections")
      .Add("max_header_bytes", &http.max_header_bytes, 1024, 1 << 20,
           "maximum size of a request's header, in bytes")
      .Add("max_body_bytes", &http.max_body_bytes, 1024, 1 << 28,
           "maximum size of a request's body, in bytes")
      .Add("max_upload_bytes", &http.max_upload_bytes, 1024, 1 << 28,
           "maximum size of a body that may have pictures, recordings or documents, in bytes; "
           "max_body_bytes where that is more")
      .Nest("", WorkFields(options))
      .Nest("", DocumentFields(options))
      .Add("request_limit", &options.request_limit, 0, 1e9,
           "maximum number of requests a minute by one client (key, or else address); further "
           "requests get 429; 0: no limit")
      .Add("idle_timeout", &http.idle_timeout, 0.1, 86400, "seconds between two requests")
      .Add("read_timeout", &http.read_timeout, 0.1, 86400,
           "seconds for a request's header, and again for each max_body_bytes of its body")
      .Add("write_timeout", &http.write_timeout, 0.1, 86400, "seconds to send an answer")
      .Add("request_timeout", &options.request_timeout, 0.1, 86400,
           "seconds until an unanswered request gets 504")
      .Add("stop_timeout", &http.stop_timeout, 0, 86400,
           "on SIGTERM, seconds to finish accepted requests")
      .Group("Learning from corrections")
      .Nest("", AdaptationFields(options))
      .Group("")
      .Add("log_text", &options.log_text, "log the texts of requests")
      .Group("Search, unless the request says otherwise")
      .Nest("", SearchFields(options));
  return fields;
}

int64_t SureCharacters(const ServeOptions& options) {
  if (options.max_characters > 0) return options.max_characters;
  const int64_t room = options.http.max_body_bytes - kRoomBesideText;
  return std::max<int64_t>(1, room / kMostBytesOfACharacter);
}

void CheckCharacters(const std::vector<std::string>& texts, const ServeOptions& options,
                     const std::vector<std::string>& more) {
  int64_t characters = 0;
  for (const auto* some : {&texts, &more}) {
    for (const std::string& text : *some) characters += CountCodePoints(text);
  }
  if (options.max_characters == 0 || characters <= options.max_characters) return;
  throw Error(ErrorKind::kInput,
              fmt::format("the request has {} characters, expected at most {}; send less text at "
                          "once",
                          characters, options.max_characters));
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
  const auto check_named = [&](const char* option, const std::vector<std::string>& all,
                               const char* expected) {
    for (const std::string& given : all) {
      if (one_model || !NameAndPath(given).first.empty()) continue;
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} is '{}', expected NAME={}, as there may be several models",
                              option, given, expected));
    }
  };
  check_named("shortlist", options.shortlist, "FILE");
  check_named("estimator", options.estimator, "DIRECTORY");
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

}  // namespace attend
