// `attend serve`: models of every task over HTTP.

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "serve/http_server.h"
#include "serve/service.h"

namespace attend {
namespace {

// Connections' threads; models have their own.
constexpr int kHttpThreads = 2;

// A JSON object a line, on standard error.
class EventLog {
 public:
  explicit EventLog(bool quiet) : quiet_(quiet) {}

  void Write(const char* event, const Json& members, bool warning = false) {
    if (quiet_ && !warning) return;
    Json line;
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char time[32];
    std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", &utc);
    line["time"] = time;
    line["level"] = warning ? "warning" : "info";
    line["event"] = event;
    line.update(members);
    const std::string text = Printable(Dump(line)) + "\n";  // JSON has the same escapes
    const std::lock_guard lock(mutex_);
    std::fputs(text.c_str(), stderr);
  }

 private:
  const bool quiet_;
  std::mutex mutex_;
};

// What ran, in the order it must end.
class Program {
 public:
  Program(const ServeOptions& options, const CommonOptions& common)
      : options_(options), log_(common.quiet), keys_(options.api_keys) {
    models_.emplace(options_, common.ThreadCount(),
                    [this](const char* event, const std::string& name, const std::string& error) {
                      if (event == std::string_view("reload"))
                        metrics_.Reloaded(name, !error.empty());
                      Json members{{"model", name}};
                      if (!error.empty()) members["error"] = error;
                      log_.Write(event, members, !error.empty());
                    });
    service_.emplace(options_, &*models_, &keys_, &metrics_,
                     [this](const char* event, const Json& members, bool warning) {
                       log_.Write(event, members, warning);
                     });
  }

  void Run() {
    HttpCallbacks callbacks;
    callbacks.handle = [this](const auto& exchange) { service_->Handle(exchange); };
    callbacks.answered = [this](const HttpRequest& request, const RequestFacts& facts,
                                const AnswerFacts& answer) { Answered(request, facts, answer); };
    callbacks.errors = [this](const std::string& path) { return service_->ErrorsAt(path); };
    callbacks.takes_files = [this](const std::string& path) {
      return service_->TakesFilesAt(path);
    };
    callbacks.reload = [this] { Reload(); };
    callbacks.stopping = [this] {
      log_.Write("stopping", Json::object());
      service_->Stop();
    };
    HttpServer server(options_.http, std::move(callbacks));
    Json names = Json::array();
    for (const auto& model : models_->models()) names.push_back(model->name());
    Json listening{{"host", options_.http.host}, {"port", server.port()}, {"models", names}};
    if (server.metrics_port() != 0) listening["metrics_port"] = server.metrics_port();
    log_.Write("listening", listening);
    server.Run(kHttpThreads);
    service_->Close();  // before the server, whose exchanges it and the models' jobs hold
    models_->Stop();
    log_.Write("stopped", Json::object());
  }

 private:
  void Answered(const HttpRequest& request, const RequestFacts& facts, const AnswerFacts& answer) {
    const std::string route = service_->RouteOf(request);
    metrics_.Answered(route, answer.status, answer.seconds);
    Json members{{"route", route}, {"status", answer.status}, {"request_id", request.id}};
    members["client"] = request.client;
    if (!facts.key.empty()) members["key"] = facts.key;
    members["ms"] = static_cast<int64_t>(answer.seconds * 1000);
    if (!facts.model.empty()) {
      members["model"] = facts.model;
      members["sentences"] = facts.sentences;
      members["source_pieces"] = facts.source_pieces;
    }
    if (!facts.text.empty()) members["text"] = facts.text;
    if (!answer.failure.empty()) members["error"] = answer.failure;
    log_.Write("request", members, !answer.failure.empty());
  }

  void Reload() {
    models_->ReloadAll();
    try {
      keys_.Reload();
    } catch (const Error& error) {
      log_.Write("reload", {{"error", error.what()}}, true);
    }
  }

  const ServeOptions& options_;
  EventLog log_;
  ApiKeys keys_;
  Metrics metrics_;
  std::optional<ModelStore> models_;
  std::optional<Service> service_;
};

// Of options that are given, but of which nothing comes.
void CheckUse(const CommandLine& command_line, const ServeOptions& options) {
  const auto check = [&](const std::vector<const char*>& names, bool used, const char* with) {
    for (const char* name : names) {
      if (used || !command_line.IsSet(name)) continue;
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} is given, but does nothing without {}; give that too, or leave "
                              "out {}",
                              name, with, name));
    }
  };
  check({"adaptation_pause", "adaptation_timeout", "adaptation_recipe", "max_corrections",
         "max_projects"},
        !options.projects.empty(), "projects");
  check({"memory_source", "memory_target"}, !options.memory.empty(), "memory");
  check({"document_count", "document_memory"}, options.documents != DocumentUse::kOff,
        "documents auto");
}

}  // namespace

int RunServe(const std::vector<std::string>& arguments) {
  CommonOptions common;
  ServeOptions options;
  CommandLine command_line("serve", "run models of every task over HTTP",
                           "attend serve --model MODEL\n"
                           "attend serve --model MODEL --port 8080 --api-keys keys.txt\n"
                           "attend serve --models-dir /srv/models --public-url "
                           "https://translate.example.org --trusted-proxy 127.0.0.1\n"
                           "curl -d '{\"text\": \"A dog runs.\"}' -H 'Content-Type: "
                           "application/json' http://127.0.0.1:5000/v1/translate");
  command_line.Options(Fields(options)).Options(Fields(common, {"threads", "quiet"}));
  if (!command_line.Parse(arguments)) return 0;
  CheckServeOptions(options);
  CheckUse(command_line, options);
  std::signal(SIGPIPE, SIG_IGN);
  Program(options, common).Run();
  return 0;
}

}  // namespace attend
