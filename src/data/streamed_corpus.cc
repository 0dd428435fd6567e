#include "data/streamed_corpus.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "attend/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "base/thread_pool.h"
#include "text/lines.h"

namespace attend {
namespace {

constexpr size_t kOpenFiles = 4;                 // of a corpus and a column
constexpr uint64_t kOrderKey = 0x736861726473;   // "shards"
constexpr uint64_t kWeightKey = 0x776569676874;  // "weight"
constexpr uint64_t kSampleKey = 0x73616d706c65;  // "sample"

// One reading of a file; a weight above 1 takes several.
struct Pass {
  int64_t file = 0;
  int64_t number = 0;
};

// A pass under way.
struct OpenPass {
  size_t pass = 0;  // in Group::order
  int64_t line = 0;
  std::vector<std::unique_ptr<LineReader>> readers;  // by column
};

// The files of one weight, in one epoch.
struct Group {
  double weight = 1;
  std::vector<Pass> order;
  size_t next = 0;  // in `order`: to be opened
  std::vector<OpenPass> open;
  size_t turn = 0;    // in `open`: whose line comes next
  int64_t read = 0;   // lines so far
  int64_t total = 0;  // lines of all passes
};

}  // namespace

struct StreamedCorpus::Line {
  Place place;
  int64_t pass = 0;
  std::vector<std::string> text;  // by column
};

class StreamedCorpus::Reader : public WindowReader {
 public:
  Reader(const StreamedCorpus* corpus, int64_t epoch, const WindowStart& start)
      : corpus_(corpus), epoch_(epoch), number_(start.number) {
    StartEpoch();
    if (!start.cursor.is_null()) Seek(start.cursor);
  }
  WindowWork Next() override;

 private:
  void StartEpoch();
  Json Cursor() const;
  void Seek(const Json& cursor);
  bool IsPlace(const Group& group) const;
  OpenPass OpenFile(const Group& group, size_t pass) const;
  void FillPlaces(Group* group) const;
  Group* NextGroup();
  bool Read(Group* group, Line* line);
  bool IsTaken(double weight, const Line& line) const;

  const StreamedCorpus* corpus_;
  int64_t epoch_;
  int64_t number_;
  std::vector<Group> groups_;
};

// Files without a line are left out, here and nowhere else.
void StreamedCorpus::Reader::StartEpoch() {
  std::map<double, Group> by_weight;
  for (int64_t file = 0; file < corpus_->files(); ++file) {
    const std::vector<double>& weights = corpus_->options_.weights;
    const double weight = weights.empty() ? 1 : weights[file];
    const int64_t lines = corpus_->digest(0, file).lines;
    if (lines == 0) continue;
    Group& group = by_weight[weight];
    group.weight = weight;
    for (int64_t pass = 0; pass < static_cast<int64_t>(std::ceil(weight)); ++pass) {
      group.order.push_back({file, pass});
      group.total += lines;
    }
  }
  groups_.clear();
  Random random{corpus_->options_.seed, static_cast<uint64_t>(epoch_), kOrderKey};
  for (auto& [weight, group] : by_weight) {
    random.Shuffle(&group.order);
    groups_.push_back(std::move(group));
  }
}

OpenPass StreamedCorpus::Reader::OpenFile(const Group& group, size_t pass) const {
  OpenPass open{pass, 0, {}};
  for (const CorpusColumn& column : corpus_->columns()) {
    open.readers.push_back(std::make_unique<LineReader>(column.files[group.order.at(pass).file]));
  }
  return open;
}

void StreamedCorpus::Reader::FillPlaces(Group* group) const {
  while (group->open.size() < kOpenFiles && group->next < group->order.size())
    group->open.push_back(OpenFile(*group, group->next++));
}

Json StreamedCorpus::Reader::Cursor() const {
  Json cursor = Json::array();
  for (const Group& group : groups_) {
    Json open = Json::array();
    for (const OpenPass& pass : group.open) {
      Json offsets = Json::array();
      for (const auto& reader : pass.readers) offsets.push_back(reader->offset());
      open.push_back({{"pass", pass.pass}, {"line", pass.line}, {"offsets", offsets}});
    }
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
      if (number >= group.order.size()) refuse("a pass is none of the epoch's");
      OpenPass& open = group.open.emplace_back(OpenFile(group, number));
      open.line = MemberOf<int64_t>(pass, "line", where);
      const auto offsets = MemberOf<std::vector<int64_t>>(pass, "offsets", where);
      if (offsets.size() != open.readers.size()) refuse("a pass has other columns");
      for (size_t column = 0; column < offsets.size(); ++column)
        open.readers[column]->SkipTo(offsets[column], open.line);
    }
    if (!IsPlace(group)) refuse("its lines do not add up");
  }
}

// Whether what is open and what waits make up the lines that are not read yet.
bool StreamedCorpus::Reader::IsPlace(const Group& group) const {
  const auto lines_of = [&](size_t pass) {
    return corpus_->digest(0, group.order[pass].file).lines;
  };
  if (group.next > group.order.size()) return false;
  if (group.turn != 0 && group.turn >= group.open.size()) return false;
  int64_t left = 0;
  for (const OpenPass& open : group.open) {
    if (open.pass >= group.next || open.line < 0 || open.line >= lines_of(open.pass)) return false;
    left += lines_of(open.pass) - open.line;
  }
  for (size_t pass = group.next; pass < group.order.size(); ++pass) left += lines_of(pass);
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

// Whether this pass takes the line: of `weight` passes an epoch, all epochs together take each line
// as evenly as whole numbers allow.
bool StreamedCorpus::Reader::IsTaken(double weight, const Line& line) const {
  const double start = Random{corpus_->options_.seed, static_cast<uint64_t>(line.place.file),
                              static_cast<uint64_t>(line.place.line), kWeightKey}
                           .Uniform();
  const double before = std::floor(start + weight * static_cast<double>(epoch_));
  return std::floor(start + weight * static_cast<double>(epoch_ + 1)) - before >
         static_cast<double>(line.pass);
}

// The group's next line; false where its pass does not take it.
bool StreamedCorpus::Reader::Read(Group* group, Line* line) {
  FillPlaces(group);
  OpenPass& open = group->open[group->turn];
  const Pass& pass = group->order[open.pass];
  line->place = {pass.file, open.line};
  line->pass = pass.number;
  line->text.resize(open.readers.size());
  for (size_t column = 0; column < open.readers.size(); ++column) {
    if (open.readers[column]->Next(&line->text[column])) continue;
    throw Error(
        ErrorKind::kInput,
        fmt::format("'{}' ends after line {}, but had {} lines when training started; "
                    "leave the text as it is while it is trained on",
                    open.readers[column]->name(), open.line, corpus_->digest(0, pass.file).lines));
  }
  ++open.line;
  ++group->read;
  if (open.line == corpus_->digest(0, pass.file).lines) {
    group->open.erase(group->open.begin() + static_cast<std::ptrdiff_t>(group->turn));
    FillPlaces(group);
  } else {
    ++group->turn;
  }
  if (!group->open.empty()) group->turn %= group->open.size();
  const bool whole = group->weight == std::floor(group->weight);
  return whole || IsTaken(group->weight, *line);
}

WindowWork StreamedCorpus::Reader::Next() {
  WindowWork work;
  work.epoch = epoch_;
  work.start = {number_++, Cursor()};
  auto lines = std::make_shared<std::vector<Line>>();
  Group* group = NextGroup();
  for (Line line; group != nullptr; group = NextGroup()) {
    if (std::ssize(*lines) == corpus_->options_.shuffle_buffer) break;
    if (Read(group, &line)) lines->push_back(std::move(line));
  }
  work.last = group == nullptr;
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
    : Corpus(std::move(columns), filters), options_(options) {
  if (!options.weights.empty() && std::ssize(options.weights) != files()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("there are {} weights for {} files, expected one for each",
                            options.weights.size(), files()));
  }
  const int64_t count = files(), sides = std::ssize(this->columns());
  ThreadPool(threads).ParallelFor(count * sides, [&](int64_t task, int) {
    FileDigest& known = digest(task / count, task % count);
    known.lines = CountLines(known.path);
    known.sha256 = Sha256OfFile(known.path);
  });
  for (int64_t file = 0; file < count; ++file) {
    for (int64_t column = 1; column < sides; ++column)
      CheckLineCounts(digest(0, file), digest(column, file));
  }
}

std::unique_ptr<WindowReader> StreamedCorpus::Open(int64_t epoch, const WindowStart& start) const {
  return std::make_unique<Reader>(this, epoch, start);
}

std::string StreamedCorpus::Text() const {
  int64_t lines = 0;
  for (int64_t file = 0; file < files(); ++file) lines += digest(0, file).lines;
  return fmt::format("{} lines in {} files, read as training goes", lines, files());
}

Window StreamedCorpus::Make(int64_t epoch, const std::vector<Line>& lines) const {
  auto table = std::make_shared<ExampleTable>(std::ssize(columns()));
  CorpusReport report;
  for (const Line& line : lines) {
    EncodedLine encoded{{line.place, {}}};
    Random random{options_.seed,
                  static_cast<uint64_t>(epoch),
                  static_cast<uint64_t>(line.pass),
                  static_cast<uint64_t>(line.place.file),
                  static_cast<uint64_t>(line.place.line),
                  kSampleKey};
    for (size_t column = 0; column < columns().size(); ++column) {
      const Vocabulary& vocabulary = *columns()[column].vocabulary;
      const std::string& text = line.text[column];
      encoded.example.columns.push_back(
          options_.sampling > 0
              ? vocabulary.Sample(text, options_.sampling, random.Next(), &encoded.malformed)
              : vocabulary.Encode(text, &encoded.malformed));
    }
    Keep(std::move(encoded), table.get(), &report);
  }
  return {table, report};
}

}  // namespace attend
