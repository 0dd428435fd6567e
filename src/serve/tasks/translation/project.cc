#include "serve/tasks/translation/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "attend/error.h"
#include "base/json.h"
#include "text/lines.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr const char* kProjectFile = "project.json";
constexpr const char* kLogFile = "corrections.jsonl";
constexpr const char* kVersionFile = "version.json";
constexpr const char* kVersions = "versions";
constexpr const char* kCurrent = "current";
constexpr const char* kAdapter = "adapter";
constexpr const char* kGone = ".gone";  // of names that begin with a dot

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// 0: it is none.
int64_t NumberOf(const fs::path& directory) {
  const std::string name = directory.filename().string();
  int64_t number = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  return status == std::errc() && end == name.data() + name.size() ? number : 0;
}

// The name of the model that a project adapts.
std::string ReadModel(const fs::path& project) {
  const fs::path file = project / kProjectFile;
  return MemberOf<std::string>(ParseJson(ReadFile(file), file.string()), "model", file.string());
}

}  // namespace

FieldList Fields(ProjectVersion& version) {
  FieldList fields;
  fields
      .Add("corrections", &version.corrections, 0, 1e15,
           "corrections that there were when training began")
      .Add("finished", &version.finished, 0, 1e15, "when training ended, in seconds since 1970")
      .Add("seconds", &version.seconds, 0, 1e15, "that training took");
  return fields;
}

bool IsProjectName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && IsLetterOrDigit(name[0]) &&
         !name.ends_with(kTemporarySuffix) && std::ranges::all_of(name, [](char c) {
           return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-';
         });
}

std::string ModelOfProject(const fs::path& adapter) {
  const fs::path project = adapter.parent_path();
  std::error_code none;
  const bool served = adapter.filename() == kCurrent && fs::exists(project / kProjectFile, none);
  return served ? ReadModel(project) : "";
}

void RemoveLeftovers(const fs::path& directory) {
  std::vector<fs::path> leftovers;
  for (const auto& found : fs::directory_iterator(directory)) {
    const std::string name = found.path().filename().string();
    if (name.ends_with(kTemporarySuffix) || (name.starts_with('.') && name.ends_with(kGone)))
      leftovers.push_back(found.path());
  }
  for (const fs::path& leftover : leftovers) fs::remove_all(leftover);
}

// What is half removed has another name by then, which is none of a project's or a version's.
void RemoveWhole(const fs::path& directory) {
  const fs::path gone = directory.parent_path() / ("." + directory.filename().string() + kGone);
  fs::remove_all(gone);
  fs::rename(directory, gone);
  SyncDirectory(gone.parent_path());
  fs::remove_all(gone);
}

Project::Project(const fs::path& directory, const std::string& model) : directory_(directory) {
  if (fs::exists(directory)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("'{}' is there already, but was not when the service started; start "
                            "the service again",
                            directory.string()));
  }
  AtomicDirectory made(directory);
  WriteFileSynced(made.path() / kProjectFile, Dump({{"model", model}}) + "\n");
  WriteFileSynced(made.path() / kLogFile, "");
  made.Commit();
  Open();
}

Project::Project(const fs::path& directory) : directory_(directory) { Open(); }

void Project::Open() {
  model_ = ReadModel(directory_);
  log_ = std::make_unique<GrowingFile>(directory_ / kLogFile);
  const std::string text = ReadFile(log_->path());
  const size_t whole = text.rfind('\n') + 1;  // 0 where there is none
  if (whole < text.size()) log_->Truncate(static_cast<int64_t>(whole));
  corrections_ = std::ranges::count(text, '\n');
  Read();  // is it damaged?
  fs::remove_all(training());
  ReadVersions();
}

fs::path Project::PathOf(int64_t version) const {
  return directory_ / kVersions / std::to_string(version);
}

void Project::ReadVersions() {
  if (!fs::exists(directory_ / kVersions)) return;
  RemoveLeftovers(directory_ / kVersions);
  for (const auto& entry : fs::directory_iterator(directory_ / kVersions)) {
    ProjectVersion version{.number = NumberOf(entry.path())};
    if (version.number == 0) continue;
    const fs::path file = entry.path() / kVersionFile;
    FieldsFromJson(ParseJson(ReadFile(file), file.string()), Fields(version), file.string());
    versions_.push_back(version);
  }
  std::ranges::sort(versions_, {}, &ProjectVersion::number);
}

int64_t Project::current() const {
  std::error_code none;
  const fs::path link = fs::read_symlink(directory_ / kCurrent, none);
  return none ? 0 : NumberOf(link.parent_path());
}

void Project::Add(const std::vector<Correction>& corrections) {
  const int64_t now = std::time(nullptr), before = log_->size();
  std::string lines;
  for (const Correction& one : corrections)
    lines += Dump({{"time", now}, {"source", one.source}, {"target", one.target}}) + "\n";
  try {
    log_->Write(lines);
    log_->Sync();
  } catch (const Error&) {  // a full disk: nothing of them stays
    log_->Truncate(before);
    throw;
  }
  corrections_ += std::ssize(corrections);
}

std::vector<Correction> Project::Read() const {
  LineReader reader(log_->path().string(), FormatCheck::kText);
  std::vector<Correction> corrections;
  std::unordered_map<std::string, size_t> places;
  for (std::string line; reader.Next(&line);) {
    const std::string where = fmt::format("{}:{}", reader.name(), reader.lines());
    const Json json = ParseJson(line, where);
    Correction one{MemberOf<std::string>(json, "source", where),
                   MemberOf<std::string>(json, "target", where)};
    const auto [place, added] = places.emplace(one.source, corrections.size());
    if (added) {
      corrections.push_back(std::move(one));
    } else {
      corrections[place->second] = std::move(one);
    }
  }
  return corrections;
}

void Project::AddVersion(const fs::path& adapter, ProjectVersion facts, int64_t most) {
  facts.number = versions_.empty() ? 1 : versions_.back().number + 1;
  fs::create_directories(directory_ / kVersions);
  AtomicDirectory made(PathOf(facts.number));
  fs::rename(adapter, made.path() / kAdapter);
  WriteFileSynced(made.path() / kVersionFile, Dump(FieldsToJson(Fields(facts))) + "\n");
  made.Commit();
  versions_.push_back(facts);
  Serve(facts.number);
  while (std::ssize(versions_) > most) {
    const fs::path oldest = PathOf(versions_.front().number);
    versions_.erase(versions_.begin());
    RemoveWhole(oldest);
  }
}

void Project::Serve(int64_t version) {
  const fs::path link = directory_ / kCurrent;
  if (version == 0) {
    fs::remove(link);
    return SyncDirectory(directory_);
  }
  if (std::ranges::find(versions_, version, &ProjectVersion::number) == versions_.end()) {
    throw Error(ErrorKind::kUsage,
                versions_.empty()
                    ? fmt::format("version is {}, expected 0: there is none yet", version)
                    : fmt::format("version is {}, expected one of {} to {}, or 0 for none", version,
                                  versions_.front().number, versions_.back().number));
  }
  const fs::path next = directory_ / (std::string(kCurrent) + kTemporarySuffix);
  fs::remove(next);
  fs::create_symlink(fs::path(kVersions) / std::to_string(version) / kAdapter, next);
  fs::rename(next, link);
  SyncDirectory(directory_);
}

}  // namespace attend
