#include "serve/tasks/translation/file_api.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "attend/error.h"
#include "serve/json_request.h"
#include "serve/refusal.h"
#include "serve/tasks/translation/file_check.h"
#include "serve/tasks/translation/model_choice.h"

namespace attend {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);  // so often whether it is still wanted

// Of a request to translate a file.
constexpr std::string_view kMembers[] = {"file",   "source",   "target", "model",
                                         "stream", "glossary", "memory", "api_key"};

bool IsStream(const RequestBody& body) {
  const std::string stream = body.Text("stream", "false");
  if (stream == "true" || stream == "false") return stream == "true";
  throw Error(ErrorKind::kInput,
              fmt::format("request: stream is '{}', expected true or false", stream));
}

// What a document's texts became.
struct Translated {
  std::vector<std::string> texts;
  LibreCounts counts;
};

// Nothing: nobody waits for it any more, or the request has an error for an answer.
std::optional<Translated> Await(std::future<Translated> result,
                                const std::function<bool()>& wanted) {
  while (result.wait_for(kLook) != std::future_status::ready) {
    if (!wanted()) return std::nullopt;
  }
  try {
    return result.get();
  } catch (const std::future_error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<Route> FileApi::Routes() {
  const auto call = [this](void (FileApi::*answer)(const ExchangePtr&) const) {
    return [this, answer](const ExchangePtr& exchange) { (this->*answer)(exchange); };
  };
  return {{"/v1/check_file", "POST", call(&FileApi::Check), Effort::kReading, KeySource::kBody},
          {.path = "/translate_file",
           .methods = "POST",
           .answer = call(&FileApi::Translate),
           .effort = Effort::kModel,
           .key = KeySource::kBody,
           .takes_files = true},
          {"/download_file/{name}", "GET, HEAD", call(&FileApi::Download)}};
}

LibreRequest FileApi::RequestOf(const ExchangePtr& exchange, const RequestBody& body,
                                bool stream) const {
  LibreRequest request{.html = true, .priority = Priority::kBulk};
  request.model = body.Text("model", "");
  request.source = body.Text("source", "auto");
  request.target = body.Text("target");
  Json terms = {{"glossary", body.Text("glossary", "")}};
  const auto& given = terms["glossary"].get_ref<const std::string&>();
  if (given.starts_with('[')) terms["glossary"] = ParseJson(given, "glossary", kMostJsonValues);
  request.glossary = glossaries_.Take(&terms);
  const std::string memory = body.Text("memory", "");
  if (!memory.empty()) request.memory = memories_.Find(memory);
  if (stream) {
    request.progress = [exchange](int64_t done, int64_t sentences) {
      exchange->SendEvent(ToEvent("progress", Dump({{"done", done}, {"sentences", sentences}})));
    };
  }
  return request;
}

void FileApi::Check(const ExchangePtr& exchange) const {
  const UploadedFile file = context_.router.ReadBody(exchange).File("file");
  CheckFileFormat(file);
  const std::string suffix = SuffixOf(file.name);
  const auto answer = [exchange] { exchange->Answer({200, Dump(Json::object())}); };
  if (!IsDocument(suffix)) return answer();
  const bool taken = documents_.WhenKnown([this, exchange, suffix, answer] {
    Attempt(exchange, [&] {
      documents_.Check(suffix);
      answer();
    });
  });
  if (!taken) context_.router.RefuseWork();
}

void FileApi::Translate(const ExchangePtr& exchange) const {
  const RequestBody body = context_.router.ReadBody(exchange);
  body.CheckMembers(kMembers);
  UploadedFile file = body.File("file");
  const std::string suffix = SuffixOf(file.name);
  CheckWholeFile(file);
  const bool stream = IsStream(body);
  LibreRequest request = RequestOf(exchange, body, stream);
  if (IsDocument(suffix)) {
    const bool waits =
        documents_.WhenKnown([this, exchange, suffix, stream, request = std::move(request),
                              file = std::make_shared<UploadedFile>(std::move(file))] {
          Attempt(exchange, [&] {
            documents_.Check(suffix);
            const bool taken = documents_.TryRun([this, exchange, stream, request, file] {
              Attempt(exchange, [&] { TranslateDocument(exchange, *file, request, stream); });
            });
            if (!taken) context_.router.RefuseWork();
          });
        });
    if (!waits) context_.router.RefuseWork();
    return;
  }
  const int64_t limit = context_.options.http.max_body_bytes;  // of text to read in this process
  if (std::ssize(file.content) > limit) {
    throw Refusal(413, fmt::format("the file has {} bytes, expected at most {}; send less at once, "
                                   "or raise the server's --max-body-bytes",
                                   file.content.size(), limit));
  }
  request.html = suffix != ".txt";
  request.texts = {std::move(file.content)};
  libre_.Run(exchange, std::move(request),
             [this, suffix, exchange, stream](const auto&, const TranslationJob& job,
                                              const SourceTexts& texts, const auto&) {
               Answer(exchange, texts.Translated(job, 0)[0], suffix, CountsOf(job), stream);
             });
}

void FileApi::TranslateDocument(const ExchangePtr& exchange, const UploadedFile& file,
                                LibreRequest request, bool stream) const {
  const auto wanted = [this, exchange] { return exchange->Wanted() && !documents_.closed(); };
  DocumentProcess process = documents_.Start(wanted);
  request.together = true;
  request.texts = process.Read(file, IsAuto(request.source) ? "" : request.source, request.target);
  auto promise = std::make_shared<std::promise<Translated>>();
  std::future<Translated> result = promise->get_future();
  context_.router.Continue(exchange, true, [this, exchange, request = std::move(request), promise] {
    if (!exchange->Wanted()) return;
    Attempt(exchange, [&] {
      libre_.Run(
          exchange, request,
          [promise](const auto&, const TranslationJob& job, const SourceTexts& texts, const auto&) {
            promise->set_value({texts.Translated(job, 0), CountsOf(job)});
          });
    });
  });
  promise.reset();  // whoever else drops it has answered
  const std::optional<Translated> translated = Await(std::move(result), wanted);
  if (!translated) return;
  Answer(exchange, process.Write(translated->texts), SuffixOf(file.name), translated->counts,
         stream);
}

void FileApi::Answer(const ExchangePtr& exchange, std::string content, const std::string& suffix,
                     const LibreCounts& counts, bool stream) const {
  const std::string name = files_.Put(std::move(content), suffix, TranslatedFiles::Clock::now());
  Json answer;
  answer["translatedFileUrl"] =
      context_.router.LinkTo("/download_file/" + name, exchange->request());
  if (stream) {
    answer.update(counts.ToJson());
    exchange->SendEvent(ToEvent("done", Dump(answer)));
    return exchange->EndEvents();
  }
  HttpResponse response{200, Dump(answer)};
  counts.AddTo(&response.headers);
  exchange->Answer(std::move(response));
}

// Never as HTML, which would run its scripts as ours.
void FileApi::Download(const ExchangePtr& exchange) const {
  const std::string name =
      exchange->request().path.substr(std::string_view("/download_file/").size());
  std::optional<std::string> file = files_.Get(name, TranslatedFiles::Clock::now());
  if (!file) throw Refusal(404, "there is no such file; files are kept for ten minutes");
  exchange->Answer({200,
                    std::move(*file),
                    "application/octet-stream",
                    {{"Content-Disposition", fmt::format("attachment; filename=\"{}\"", name)}}});
}

}  // namespace attend
