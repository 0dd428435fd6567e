#include "data/streamed_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "attend/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "base/thread_pool.h"
#include "data/file_weights.h"
#include "text/lines.h"

namespace attend {
namespace {

constexpr size_t kOpenSegments = 4;              // of a corpus
constexpr int64_t kSegmentsOfAWindow = 64;       // that its lines come from, or more
constexpr int64_t kMinSegmentLines = 64;         // shorter ones would not be worth the seeking
constexpr uint64_t kOrderKey = 0x736861726473;   // "shards"
constexpr uint64_t kWeightKey = 0x776569676874;  // "weight"
constexpr uint64_t kSampleKey = 0x73616d706c65;  // "sample"

// One of an epoch's passes over a segment.
struct Pass {
  int64_t segment = 0;  // of segments_
  int64_t time = 0;     // from 0
  auto operator<=>(const Pass&) const = default;
};

// A segment that gives lines.
struct OpenPass {
  size_t pass = 0;   // of Group::passes()
  int64_t line = 0;  // of the file: its next
};

// The segments of one weight, in one epoch. A weight above 1 takes all of them several times, one
// time after another, so that copies of a line are far apart.
struct Group {
  double weight = 1;
  std::vector<int64_t> order;  // of segments
  size_t next = 0;             // pass to be opened
  std::vector<OpenPass> open;
  size_t turn = 0;    // in `open`: whose line comes next
  int64_t read = 0;   // lines so far
  int64_t total = 0;  // lines of all passes

  size_t times() const { return static_cast<size_t>(TimesOf(weight)); }
  size_t passes() const { return times() * order.size(); }
  Pass PassOf(size_t pass) const {
    return {order[pass % order.size()], static_cast<int64_t>(pass / order.size())};
  }
  bool IsOpen(int64_t segment) const {
    return std::any_of(open.begin(), open.end(), [&](const OpenPass& other) {
      return PassOf(other.pass).segment == segment;
    });
  }
};

// Where each `step`-th line of a file begins.
std::vector<int64_t> LineOffsets(const std::string& path, int64_t step, int64_t* lines) {
  LineReader reader(path);
  std::vector<int64_t> offsets;
  std::string line;
  do {
    if (reader.lines() % step == 0) offsets.push_back(reader.offset());
  } while (reader.Next(&line));
  *lines = reader.lines();
  return offsets;
}

}  // namespace

// Lines of a file that are read one after another.
struct StreamedCorpus::Segment {
  int64_t file = 0;
  int64_t first = 0, end = 0;
  std::vector<int64_t> offsets;  // by column: where line `first` begins
  int64_t lines() const { return end - first; }
};

struct StreamedCorpus::Line {
  Origin origin;
  Pass pass;
  std::vector<std::string> text;  // by column; empty until it is read
};

class StreamedCorpus::Reader : public WindowReader {
 public:
  Reader(const StreamedCorpus* corpus, int64_t epoch, const WindowStart& start,
         const WindowPart& part)
      : corpus_(corpus), part_(part), epoch_(epoch), number_(start.number) {
    StartEpoch();
    if (!start.cursor.is_null()) Seek(start.cursor);
  }
  WindowWork Next() override;

 private:
  // The files of a segment, which are read.
  struct OpenFiles {
    int64_t line = 0;                                  // their next
    std::vector<std::unique_ptr<LineReader>> columns;  // by column
  };
  void StartEpoch();
  Json Cursor() const;
  void Seek(const Json& cursor);
  bool AddsUp(const Group& group) const;
  const Segment& SegmentOf(const Group& group, size_t pass) const {
    return corpus_->segments_[group.PassOf(pass).segment];
  }
  void OpenSegments(Group* group) const;
  Group* NextGroup();
  Line Advance(Group* group) const;
  bool IsTaken(const Group& group, const Line& line) const;
  std::vector<Line> PlannedLines();
  OpenFiles Open(const Segment& segment) const;
  bool IsUnderWay(const Pass& pass) const;
  void ReadText(std::vector<Line>* lines);
  void CheckOpenFiles();

  const StreamedCorpus* corpus_;
  const WindowPart part_;
  int64_t epoch_;
  int64_t number_;
  std::vector<Group> groups_;
  std::map<Pass, OpenFiles> open_files_;
};

void StreamedCorpus::Reader::StartEpoch() {
  std::map<double, Group> by_weight;
  for (int64_t index = 0; index < std::ssize(corpus_->segments_); ++index) {
    const Segment& segment = corpus_->segments_[index];
    const double weight = corpus_->WeightOf(segment.file);
    Group& group = by_weight[weight];
    group.weight = weight;
    group.order.push_back(index);
    group.total += segment.lines() * static_cast<int64_t>(group.times());
  }
  groups_.clear();
  Random random{corpus_->options_.seed, static_cast<uint64_t>(epoch_), kOrderKey};
  for (auto& [weight, group] : by_weight) {
    random.Shuffle(&group.order);
    groups_.push_back(std::move(group));
  }
}

void StreamedCorpus::Reader::OpenSegments(Group* group) const {
  while (group->open.size() < kOpenSegments && group->next < group->passes() &&
         !group->IsOpen(group->PassOf(group->next).segment)) {
    group->open.push_back({group->next, SegmentOf(*group, group->next).first});
    ++group->next;
  }
}

Json StreamedCorpus::Reader::Cursor() const {
  Json cursor = Json::array();
  for (const Group& group : groups_) {
    Json open = Json::array();
    for (const OpenPass& pass : group.open)
      open.push_back({{"pass", pass.pass}, {"line", pass.line}});
    cursor.push_back(
        {{"next", group.next}, {"turn", group.turn}, {"read", group.read}, {"open", open}});
  }
  return cursor;
}

void StreamedCorpus::Reader::Seek(const Json& cursor) {
  const std::string where = "the data position is not one of this corpus";
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::kInput, fmt::format("{}: {}", where, why));
  };
  if (!cursor.is_array() || cursor.size() != groups_.size()) refuse("its weights are others");
  for (size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    group.next = MemberOf<size_t>(cursor[i], "next", where);
    group.turn = MemberOf<size_t>(cursor[i], "turn", where);
    group.read = MemberOf<int64_t>(cursor[i], "read", where);
    for (const Json& pass : MemberOf<Json::array_t>(cursor[i], "open", where)) {
      const auto number = MemberOf<size_t>(pass, "pass", where);
      if (number >= group.passes()) refuse("a pass is none of the epoch's");
      group.open.push_back({number, MemberOf<int64_t>(pass, "line", where)});
    }
    if (!AddsUp(group)) refuse("its lines do not add up");
  }
}

// Whether what is open and what waits make up the lines that are not read yet.
bool StreamedCorpus::Reader::AddsUp(const Group& group) const {
  if (group.next > group.passes()) return false;
  if (group.turn != 0 && group.turn >= group.open.size()) return false;
  int64_t left = 0;
  for (const OpenPass& open : group.open) {
    const Segment& segment = SegmentOf(group, open.pass);
    if (open.pass >= group.next || open.line < segment.first || open.line >= segment.end)
      return false;
    left += segment.end - open.line;
  }
  for (size_t pass = group.next; pass < group.passes(); ++pass)
    left += SegmentOf(group, pass).lines();
  return group.read == group.total - left;
}

// The one that is furthest behind; null at the end of the epoch.
Group* StreamedCorpus::Reader::NextGroup() {
  Group* next = nullptr;
  const auto share = [](const Group& group) {
    return (static_cast<double>(group.read) + 0.5) / static_cast<double>(group.total);
  };
  for (Group& group : groups_) {
    if (group.read == group.total) continue;
    if (next == nullptr || share(group) < share(*next)) next = &group;
  }
  return next;
}

// The group's next line.
StreamedCorpus::Line StreamedCorpus::Reader::Advance(Group* group) const {
  OpenSegments(group);
  OpenPass& open = group->open[group->turn];
  const Segment& segment = SegmentOf(*group, open.pass);
  Line line{{segment.file, open.line}, group->PassOf(open.pass), {}};
  ++open.line;
  ++group->read;
  if (open.line == segment.end) {
    group->open.erase(group->open.begin() + static_cast<std::ptrdiff_t>(group->turn));
    OpenSegments(group);
  } else {
    ++group->turn;
  }
  if (!group->open.empty()) group->turn %= group->open.size();
  return line;
}

bool StreamedCorpus::Reader::IsTaken(const Group& group, const Line& line) const {
  const Random random{corpus_->options_.seed, static_cast<uint64_t>(line.origin.file),
                      static_cast<uint64_t>(line.origin.line), kWeightKey};
  return TakesExample(group.weight, random, epoch_, line.pass.time);
}

// This part's of the next window, without their text.
std::vector<StreamedCorpus::Line> StreamedCorpus::Reader::PlannedLines() {
  std::vector<Line> lines;
  while (std::ssize(lines) < corpus_->options_.shuffle_buffer) {
    Group* group = NextGroup();
    if (group == nullptr) break;
    Line line = Advance(group);
    if (IsTaken(*group, line)) lines.push_back(std::move(line));
  }
  if (part_.count == 1) return lines;
  const int64_t count = std::ssize(lines);
  const auto begin = std::make_move_iterator(lines.begin());
  return {begin + count * part_.index / part_.count,
          begin + count * (part_.index + 1) / part_.count};
}

StreamedCorpus::Reader::OpenFiles StreamedCorpus::Reader::Open(const Segment& segment) const {
  corpus_->CheckUnchanged(segment);
  OpenFiles files{segment.first, {}};
  for (size_t column = 0; column < segment.offsets.size(); ++column) {
    const std::string& path = corpus_->columns()[column].files[segment.file];
    files.columns.push_back(std::make_unique<LineReader>(path));
    files.columns.back()->SkipTo(segment.offsets[column], segment.first);
  }
  return files;
}

// Whether windows to come have lines of the pass.
bool StreamedCorpus::Reader::IsUnderWay(const Pass& pass) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    return std::any_of(group.open.begin(), group.open.end(),
                       [&](const OpenPass& open) { return group.PassOf(open.pass) == pass; });
  });
}

// Files are closed with the last of their lines that this part takes.
void StreamedCorpus::Reader::ReadText(std::vector<Line>* lines) {
  std::map<Pass, const Line*> last;
  for (const Line& line : *lines) last[line.pass] = &line;
  for (Line& line : *lines) {
    const Segment& segment = corpus_->segments_[line.pass.segment];
    auto found = open_files_.find(line.pass);
    if (found == open_files_.end()) found = open_files_.emplace(line.pass, Open(segment)).first;
    OpenFiles& files = found->second;
    line.text.resize(files.columns.size());
    while (files.line <= line.origin.line) {  // what comes before is not this part's
      for (size_t column = 0; column < files.columns.size(); ++column) {
        if (!files.columns[column]->Next(&line.text[column]))
          corpus_->RefuseChanged(static_cast<int64_t>(column), segment.file);
      }
      ++files.line;
    }
    if (last.at(line.pass) != &line || IsUnderWay(line.pass)) continue;
    corpus_->CheckUnchanged(segment);
    open_files_.erase(found);
  }
}

// That nobody wrote to them; and closes those whose last lines are not this part's.
void StreamedCorpus::Reader::CheckOpenFiles() {
  for (const auto& [pass, files] : open_files_)
    corpus_->CheckUnchanged(corpus_->segments_[pass.segment]);
  std::erase_if(open_files_, [&](const auto& files) { return !IsUnderWay(files.first); });
}

WindowWork StreamedCorpus::Reader::Next() {
  WindowWork work;
  work.epoch = epoch_;
  work.start = {number_++, Cursor()};
  const auto lines = std::make_shared<std::vector<Line>>(PlannedLines());
  work.last = NextGroup() == nullptr;
  ReadText(lines.get());
  CheckOpenFiles();
  work.make = [corpus = corpus_, epoch = epoch_, lines] { return corpus->Make(epoch, *lines); };
  if (work.last) {
    ++epoch_;
    number_ = 0;
    StartEpoch();
  }
  return work;
}

StreamedCorpus::StreamedCorpus(std::vector<CorpusColumn> columns, const CorpusFilters& filters,
                               const StreamOptions& options, int threads)
    : LineCorpus(std::move(columns), filters, options.changes), options_(options) {
  if (!options.weights.empty() && std::ssize(options.weights) != files()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("there are {} weights for {} files, expected one for each",
                            options.weights.size(), files()));
  }
  CutFiles(threads);
  WarnOfLongFiles();
}

StreamedCorpus::~StreamedCorpus() = default;

double StreamedCorpus::WeightOf(int64_t file) const {
  return options_.weights.empty() ? 1 : options_.weights[file];
}

void StreamedCorpus::CheckUnchanged(const Segment& segment) const {
  for (int64_t column = 0; column < std::ssize(columns()); ++column)
    Corpus::CheckUnchanged(column, segment.file);
}

void StreamedCorpus::CutFiles(int threads) {
  const int64_t count = files(), sides = std::ssize(columns());
  const int64_t step = std::max(kMinSegmentLines, options_.shuffle_buffer / kSegmentsOfAWindow);
  std::vector<std::vector<int64_t>> offsets(count * sides);
  ThreadPool(threads).ParallelFor(count * sides, [&](int64_t task, int) {
    FileDigest& known = digest(task / count, task % count);
    Stamp(task / count, task % count);
    offsets[task] = LineOffsets(known.path, step, &known.lines);
    known.sha256 = Sha256OfFile(known.path);
  });
  for (int64_t file = 0; file < count; ++file) {
    const int64_t lines = digest(0, file).lines;
    int64_t length = step;
    for (int64_t column = 0; column < sides; ++column) {
      CheckLineCounts(digest(0, file), digest(column, file));
      if (IsCompressed(digest(column, file).path)) length = lines;
    }
    for (int64_t first = 0; first < lines; first += length) {
      Segment segment{file, first, std::min(first + length, lines), {}};
      for (int64_t column = 0; column < sides; ++column)
        segment.offsets.push_back(offsets[column * count + file][first / step]);
      segments_.push_back(std::move(segment));
    }
  }
}

// A segment with a quarter of its weight's lines or more, as there are four open at a time, is
// beside the same lines in every epoch, or alone for a part of it.
void StreamedCorpus::WarnOfLongFiles() const {
  std::map<double, int64_t> lines;
  for (const Segment& segment : segments_) lines[WeightOf(segment.file)] += segment.lines();
  for (const Segment& segment : segments_) {
    const int64_t share = lines[WeightOf(segment.file)] / static_cast<int64_t>(kOpenSegments);
    const int64_t window = std::max(kMinSegmentLines, options_.shuffle_buffer);
    if (segment.lines() <= window || segment.lines() < share) continue;
    int64_t column = 0;
    while (!IsCompressed(digest(column, segment.file).path)) ++column;
    options_.log(LogLevel::kWarning,
                 fmt::format("the {} lines of '{}' come in nearly the same order in every epoch, "
                             "since a compressed file is read from its beginning to its end; "
                             "unpack it, or cut it into many files",
                             segment.lines(), digest(column, segment.file).path));
    return;
  }
}

std::unique_ptr<WindowReader> StreamedCorpus::Open(int64_t epoch, const WindowStart& start,
                                                   const WindowPart& part) const {
  return std::make_unique<Reader>(this, epoch, start, part);
}

std::string StreamedCorpus::Summary() const {
  int64_t lines = 0;
  for (int64_t file = 0; file < files(); ++file) lines += digest(0, file).lines;
  return fmt::format("{} lines in {} file{}, read as training goes", lines, files(),
                     files() == 1 ? "" : "s");
}

Window StreamedCorpus::Make(int64_t epoch, const std::vector<Line>& lines) const {
  auto table = std::make_shared<ExampleTable>(EmptyTable());
  CorpusReport report;
  for (const Line& line : lines) {
    Random random{options_.seed,
                  static_cast<uint64_t>(epoch),
                  static_cast<uint64_t>(line.pass.time),
                  static_cast<uint64_t>(line.origin.file),
                  static_cast<uint64_t>(line.origin.line),
                  kSampleKey};
    const auto time = static_cast<uint64_t>(epoch) << 32 | static_cast<uint64_t>(line.pass.time);
    TextEncoder sample;
    if (options_.sampling > 0) {
      sample = [&](const Vocabulary& vocabulary, const std::string& text, int64_t* malformed) {
        return vocabulary.Sample(text, options_.sampling, random.Next(), malformed);
      };
    }
    Keep(EncodeLine(line.origin, time, line.text, sample), table.get(), &report);
  }
  return {table, report};
}

}  // namespace attend
