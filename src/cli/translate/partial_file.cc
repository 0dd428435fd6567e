#include "cli/translate/partial_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "attend/error.h"
#include "text/compressor.h"
#include "text/lines.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSuffix = ".partial";
constexpr const char* kJournalSuffix = ".partial.jsonl";
constexpr int64_t kFormat = 1;
// What a machine that loses power may lose.
constexpr std::chrono::seconds kBetweenSyncs{10};

fs::path With(fs::path path, const char* suffix) {
  path += suffix;
  return path;
}

fs::path Writable(const fs::path& target) {
  fs::path path = WithoutLink(target);
  if (!fs::exists(path) || access(path.c_str(), W_OK) == 0) return path;
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't write '{}': {}", path.string(), std::strerror(errno)));
}

std::string Plural(int64_t lines) { return fmt::format("{} line{}", lines, lines == 1 ? "" : "s"); }

// "beam_size was 4, now it is 5"; empty where both say the same.
std::string SettingsDifference(const Json& was, const Json& now) {
  const Json before = was.flatten(), after = now.flatten();
  const auto value = [](const Json& all, const std::string& name) {
    return all.contains(name) ? Dump(all[name]) : "not there";
  };
  for (const Json* all : {&after, &before}) {
    for (const auto& [name, unused] : all->items()) {
      const std::string old_value = value(before, name), new_value = value(after, name);
      if (old_value != new_value)
        return fmt::format("{} was {}, now it is {}", name.substr(1), old_value, new_value);
    }
  }
  return {};
}

}  // namespace

PartialFile::PartialFile(const fs::path& target, const JobKey& key, bool resume, const Log& log)
    : target_(Writable(target)),
      text_(With(target_, kSuffix)),
      journal_(With(target_, kJournalSuffix)) {
  const std::vector<std::string> journal = ReadJournal();
  FindFinished(journal, log);
  if (done_.empty()) {
    Begin(key);
    return;
  }
  last_ = done_.back();
  const std::string there = fmt::format("'{}' has the output of {} by an earlier call",
                                        text_.path().string(), Plural(lines()));
  if (!resume) {
    throw Error(ErrorKind::kUsage,
                there + "; --resume goes on from there, removing the file starts again");
  }
  CheckKey(journal[0], key, log);
  log(LogLevel::kInfo, there + ", which this one continues");
  size_t kept = 0;
  for (size_t i = 0; i <= done_.size(); ++i) kept += journal[i].size() + 1;
  journal_.Truncate(static_cast<int64_t>(kept));
  text_.Truncate(last_.bytes);
}

// A last line without its end was cut by a kill.
std::vector<std::string> PartialFile::ReadJournal() const {
  const std::string bytes = ReadFile(journal_.path());
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end = 0; (end = bytes.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(bytes.substr(begin, end - begin));
  }
  return lines;
}

std::optional<PartialFile::Entry> PartialFile::EntryOf(const std::string& line) {
  try {
    const std::string where = "journal";
    const Json entry = ParseJson(line, where);
    return Entry{.lines = MemberOf<int64_t>(entry, "lines", where),
                 .bytes = MemberOf<int64_t>(entry, "bytes", where),
                 .source = MemberOf<std::string>(entry, "source", where),
                 .output = MemberOf<std::string>(entry, "output", where)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

void PartialFile::CheckKey(const std::string& first_line, const JobKey& key, const Log& log) const {
  const std::string where = journal_.path().string();
  const Json made = ParseJson(first_line, where);
  const auto format = MemberOf<int64_t>(made, "format", where);
  if (format != kFormat) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: format is {}, expected {}; finish it with the "
                                               "attend that began it",
                                               where, format, kFormat));
  }
  const std::string difference =
      SettingsDifference(MemberOf<Json>(made, "settings", where), key.settings);
  if (!difference.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("'{}' can't be gone on with: {}; give what it was begun with, or "
                            "remove it to start again",
                            text_.path().string(), difference));
  }
  const auto program = MemberOf<std::string>(made, "program", where);
  if (program != key.program) {
    log(LogLevel::kWarning,
        fmt::format("'{}' was begun by attend {}, this is {}: lines to come may differ from those "
                    "of one version",
                    text_.path().string(), program, key.program));
  }
}

// Sets done_ to the entries that the text bears out, and output_ to the text up to there.
void PartialFile::FindFinished(const std::vector<std::string>& journal, const Log& log) {
  std::vector<Entry> entries;
  for (size_t i = 1; i < journal.size(); ++i) {
    const std::optional<Entry> entry = EntryOf(journal[i]);
    if (!entry || (!entries.empty() && entry->bytes < entries.back().bytes)) break;
    entries.push_back(*entry);
  }
  Sha256Stream sums;
  int64_t read = 0;
  bool equal = true;
  ReadPieces(text_.path(), [&](std::string_view piece) {
    while (equal && done_.size() < entries.size()) {
      const Entry& next = entries[done_.size()];
      const auto wanted = static_cast<size_t>(next.bytes - read);
      if (wanted > piece.size()) break;
      sums.Add(piece.substr(0, wanted));
      piece.remove_prefix(wanted);
      read = next.bytes;
      equal = sums.Digest() == next.output;
      if (!equal) return;
      done_.push_back(next);
      output_ = sums;
    }
    sums.Add(piece);
    read += std::ssize(piece);
  });
  const std::string name = text_.path().string();
  if (done_.empty() && text_.size() > 0 && (journal.empty() || !entries.empty())) {
    if (journal.empty()) journal_.Remove();
    throw Error(ErrorKind::kUsage,
                fmt::format("'{}' is there and is not what '{}' tells of; remove or rename it",
                            name, journal_.path().string()));
  }
  if (done_.size() < entries.size() && !done_.empty()) {
    log(LogLevel::kWarning, fmt::format("'{}' is damaged after the output of {}; what follows is "
                                        "made again",
                                        name, Plural(done_.back().lines)));
  }
}

void PartialFile::Begin(const JobKey& key) {
  text_.Truncate(0);
  journal_.Truncate(0);
  journal_.Write(Dump({{"format", kFormat}, {"program", key.program}, {"settings", key.settings}}) +
                 "\n");
}

void PartialFile::Take(std::string_view line) {
  ++taken_;
  source_.Add(line);
  source_.Add("\n");
  if (checked_ == done_.size() || done_[checked_].lines != taken_) return;
  const int64_t first = checked_ == 0 ? 1 : done_[checked_ - 1].lines + 1;
  if (source_.Digest() != done_[checked_].source) {
    RefuseInput(
        fmt::format("lines {} to {} of the input differ from those that '{}' was made of; "
                    "give the same input, or remove it to start again",
                    first, taken_, text_.path().string()));
  }
  ++checked_;
}

void PartialFile::RefuseInput(const std::string& message) {
  input_refused_ = true;
  throw Error(ErrorKind::kInput, message);
}

void PartialFile::Write(std::string_view text) {
  text_.Write(text);
  output_.Add(text);
  Entry entry = {taken_, last_.bytes + std::ssize(text), source_.Digest(), output_.Digest()};
  journal_.Write(Dump({{"lines", entry.lines},
                       {"bytes", entry.bytes},
                       {"source", entry.source},
                       {"output", entry.output}}) +
                 "\n");
  last_ = std::move(entry);
  SyncAtTimes();
}

// The text first: the journal then tells of nothing that is not on the disk.
void PartialFile::SyncAtTimes() {
  const auto now = std::chrono::steady_clock::now();
  if (now - synced_ < kBetweenSyncs) return;
  synced_ = now;
  text_.Sync();
  journal_.Sync();
}

std::string PartialFile::Leave() {
  if (committed_ || input_refused_) return {};
  if (lines() > 0) {
    return fmt::format(
        "the output of {} is in '{}', and the same command with --resume goes on "
        "from there",
        Plural(lines()), text_.path().string());
  }
  text_.Remove();
  journal_.Remove();
  return {};
}

void PartialFile::Finish() {
  if (!IsCompressed(target_)) return;
  compressed_.emplace(target_);
  const auto compressor = Compressor::ForName(target_.string());
  ReadPieces(text_.path(),
             [&](std::string_view piece) { compressed_->Write(compressor->Add(piece)); });
  compressed_->Write(compressor->End());
}

void PartialFile::Commit() {
  if (compressed_) {
    compressed_->Commit();
    text_.Remove();
  } else {
    text_.MoveTo(target_);
  }
  committed_ = true;
  journal_.Remove();
}

}  // namespace attend
