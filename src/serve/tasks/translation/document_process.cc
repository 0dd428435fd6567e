#include "serve/tasks/translation/document_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "base/process.h"
#include "serve/refusal.h"
#include "serve/tasks/translation/file_check.h"
#include "text/utf8.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr int kAskWanted = 50;             // milliseconds
constexpr size_t kMostOfALine = 64 << 10;  // bytes of an answer
constexpr rlim_t kMostFiles = 64;
constexpr int kNiceness = 10;  // translations go first
constexpr const char* kTexts = "texts.json";
constexpr const char* kTranslations = "translations.json";
constexpr const char* kErrors = "errors";

// Connections that the server has open must not stay open in the process.
constexpr const char* kProgram =
    "import os; os.closerange(3, 65536); from attend.documents._serving import main; main()";

[[noreturn]] void ThrowSystem(const std::string& what, int error) {
  throw Error(ErrorKind::kRuntime, fmt::format("{}: {}", what, std::strerror(error)));
}

void SetLimit(pid_t process, __rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit limit{};  // none is raised
  bool failed = prlimit(process, resource, nullptr, &limit) != 0;
  limit = {std::min(soft, limit.rlim_max), std::min(hard, limit.rlim_max)};
  failed = failed || prlimit(process, resource, &limit, nullptr) != 0;
  if (failed) ThrowSystem("the process that reads documents can't be limited", errno);
}

// Ends of pipes and of a file, as the new process has its standard streams.
class Streams {
 public:
  Streams(int input, int output, const std::string& errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, errors.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
  }
  ~Streams() { posix_spawn_file_actions_destroy(&actions_); }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// A group of its own, which the terminal's Ctrl-C does not reach, and signals as a program expects.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

DocumentProcess::DocumentProcess(PythonInterpreter python, const DocumentLimits& limits,
                                 std::function<bool()> wanted)
    : limits_(limits), wanted_(std::move(wanted)) {
  int input[2] = {-1, -1}, output[2] = {-1, -1};
  int failed = pipe2(input, O_CLOEXEC) == 0 && pipe2(output, O_CLOEXEC) == 0 ? 0 : errno;
  requests_ = input[1];
  answers_ = output[0];
  if (failed == 0) {
    std::vector<std::string> call = CallOf(python, kProgram);
    const Streams streams(input[0], output[1], (folder_.path() / kErrors).string());
    const Attributes attributes;
    failed = posix_spawnp(&process_, python.program.c_str(), streams.actions(), attributes.get(),
                          Pointers(call).data(), Pointers(python.environment).data());
  }
  for (const int end : {input[0], output[1]}) {
    if (end >= 0) close(end);
  }
  try {
    if (failed != 0) ThrowSystem(fmt::format("can't start '{}'", python.program), failed);
    SetLimits();
  } catch (const Error&) {
    End();
    throw;
  }
}

DocumentProcess::~DocumentProcess() { End(); }

void DocumentProcess::End() {
  if (process_ > 0) {
    kill(-process_, SIGKILL);
    AwaitEnd(process_);
  }
  process_ = 0;
  for (int* end : {&requests_, &answers_}) {
    if (*end >= 0) close(std::exchange(*end, -1));
  }
  folder_.Remove();
}

void DocumentProcess::SetLimits() const {
  const auto memory = static_cast<rlim_t>(limits_.memory_bytes);
  const auto file = static_cast<rlim_t>(limits_.file_bytes);
  const auto seconds = static_cast<rlim_t>(limits_.processor_seconds);
  SetLimit(process_, RLIMIT_AS, memory, memory);
  SetLimit(process_, RLIMIT_FSIZE, file, file);
  SetLimit(process_, RLIMIT_CPU, seconds, seconds + 1);  // first SIGXCPU, which tells why
  SetLimit(process_, RLIMIT_NOFILE, kMostFiles, kMostFiles);
  SetLimit(process_, RLIMIT_CORE, 0, 0);
  setpriority(PRIO_PROCESS, process_, kNiceness);
}

Json DocumentProcess::Formats() { return Ask({{"ask", "formats"}}).at("formats"); }

std::vector<std::string> DocumentProcess::Read(const UploadedFile& file,
                                               const std::string& source_language,
                                               const std::string& target_language) {
  name_ = file.name;
  path_ = (folder_.path() / ("document" + SuffixOf(file.name))).string();
  WriteFileSynced(path_, file.content);
  Ask({{"ask", "read"},
       {"path", path_},
       {"texts", (folder_.path() / kTexts).string()},
       {"source_language", source_language},
       {"target_language", target_language}});
  return Json::parse(ReadFile(folder_.path() / kTexts)).get<std::vector<std::string>>();
}

std::string DocumentProcess::Write(const std::vector<std::string>& translations) {
  const fs::path target = folder_.path() / ("translated" + SuffixOf(name_));
  WriteFileSynced(folder_.path() / kTranslations, Dump(translations));
  Ask({{"ask", "write"},
       {"path", target.string()},
       {"translations", (folder_.path() / kTranslations).string()}});
  return ReadFile(target);
}

Json DocumentProcess::Ask(const Json& request) {
  const std::string line = Dump(request) + "\n";  // shorter than what a pipe holds
  if (write(requests_, line.data(), line.size()) != std::ssize(line)) ThrowEnded();
  const Json answer = Json::parse(ReadLine(), nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) ThrowNonsense();
  if (answer.contains("error")) ThrowRefused(answer);
  return answer;
}

std::string DocumentProcess::ReadLine() {
  std::string line;
  char bytes[4096];
  while (line.size() < kMostOfALine) {
    if (!wanted_()) throw Refusal(504, "nobody waits for the answer any more");
    pollfd ready{answers_, POLLIN, 0};
    if (poll(&ready, 1, kAskWanted) <= 0) continue;
    const ssize_t count = read(answers_, bytes, sizeof bytes);
    if (count <= 0) ThrowEnded();
    line.append(bytes, static_cast<size_t>(count));
    if (line.ends_with('\n')) return line;
  }
  ThrowNonsense();
}

void DocumentProcess::ThrowRefused(const Json& answer) const {
  std::string message = answer.at("error").get<std::string>();
  if (!path_.empty()) Replace(path_, name_, &message);
  const std::string kind = answer.value("kind", "");
  if (kind == "input") throw Error(ErrorKind::kInput, message);
  if (kind == "memory") ThrowTooMuchMemory();
  if (kind == "size") {
    throw Refusal(413, fmt::format("'{}' becomes larger than {} MiB; divide it", name_,
                                   limits_.file_bytes >> 20));
  }
  throw Error(ErrorKind::kRuntime, fmt::format("'{}': {}", name_, message));
}

void DocumentProcess::ThrowTooMuchMemory() const {
  throw Refusal(413, fmt::format("'{}' takes more than {} MiB of memory; divide it, or raise the "
                                 "server's --document-memory",
                                 name_, limits_.memory_bytes >> 20));
}

void DocumentProcess::ThrowNonsense() const {
  throw Error(ErrorKind::kRuntime,
              fmt::format("'{}': the Python package's answer makes no sense; is it of another "
                          "version than the server?",
                          name_));
}

void DocumentProcess::ThrowEnded() {
  int status = 0;
  if (const pid_t process = std::exchange(process_, 0); process > 0) {
    kill(-process, SIGKILL);  // where it has only closed its end
    status = AwaitEnd(process);
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGXCPU) {
    throw Refusal(413, fmt::format("'{}' takes more than {} s to read or write; divide it", name_,
                                   limits_.processor_seconds));
  }
  if (signal == SIGKILL || signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS) {
    throw Error(ErrorKind::kInput,
                fmt::format("'{}' can't be read: its reader was ended by signal {} ({}); the "
                            "document may be damaged, or too large",
                            name_, signal, strsignal(signal)));
  }
  std::error_code none;
  const bool told = fs::file_size(folder_.path() / kErrors, none) > 0;
  std::string errors = told && !none ? ReadFile(folder_.path() / kErrors) : "";
  while (errors.ends_with('\n')) errors.pop_back();
  errors.erase(0, errors.rfind('\n') + 1);
  if (errors.starts_with("MemoryError")) ThrowTooMuchMemory();
  throw Error(ErrorKind::kRuntime, errors.empty() ? "it ends with an error" : Excerpt(errors, 500));
}

}  // namespace attend
