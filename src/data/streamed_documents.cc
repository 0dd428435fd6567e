#include "data/streamed_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "attend/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "base/thread_pool.h"
#include "text/lines.h"

namespace attend {
namespace {

constexpr size_t kOpenRuns = 4;                    // that give blocks in turn
constexpr int64_t kBlocksOfAWindow = 64;           // or more
constexpr int64_t kMinBlockLines = 64;             // shorter ones would not be worth the seeking
constexpr uint64_t kBlockOrderKey = 0x6f72646572;  // "order"

// Blocks that are read one after another.
struct Run {
  int64_t next = 0, end = 0;
};

}  // namespace

// Lines [first, end) of a file.
struct StreamedDocuments::Block {
  int64_t file = 0;
  int64_t first = 0, end = 0;
  int64_t offset = 0;         // where line `first` begins
  bool ends_document = true;  // with its last line
  int64_t lines() const { return end - first; }
};

struct StreamedDocuments::BlockText {
  const Block* block = nullptr;
  std::vector<std::string> lines;
};

class StreamedDocuments::Reader : public WindowReader {
 public:
  Reader(const StreamedDocuments* corpus, int64_t epoch, const WindowStart& start)
      : corpus_(corpus), epoch_(epoch), number_(start.number), order_(corpus->OrderOf(epoch)) {
    if (start.cursor.is_null()) return;
    const std::string where = "the data position is not one of this text";
    next_ = MemberOf<int64_t>(start.cursor, "block", where);
    if (next_ < 0 || next_ >= std::ssize(order_))
      throw Error(ErrorKind::kInput, fmt::format("{}: it has {} blocks", where, order_.size()));
  }
  WindowWork Next() override;

 private:
  std::vector<std::string> Read(const Block& block);

  const StreamedDocuments* corpus_;
  int64_t epoch_, number_;
  std::vector<int64_t> order_;
  int64_t next_ = 0;                                     // in order_
  std::map<int64_t, std::unique_ptr<LineReader>> open_;  // compressed files under way
};

WindowWork StreamedDocuments::Reader::Next() {
  WindowWork work;
  work.epoch = epoch_;
  work.start = {number_, {{"block", next_}}};
  const auto texts = std::make_shared<std::vector<BlockText>>();
  for (int64_t lines = 0; lines < corpus_->options_.shuffle_buffer && next_ < std::ssize(order_);) {
    const Block& block = corpus_->blocks_[order_[next_++]];
    texts->push_back({&block, Read(block)});
    lines += block.lines();
  }
  work.make = [corpus = corpus_, texts,
               random = Random{corpus_->options_.seed, static_cast<uint64_t>(epoch_),
                               static_cast<uint64_t>(number_), kContextKey}] {
    Documents documents(corpus->vocabulary(), corpus->context());
    Window window;
    for (const BlockText& text : *texts) corpus->Encode(text, &documents, &window.report);
    window.report.tokens = {documents.text_size().tokens};
    window.examples = std::make_shared<const ExampleTable>(documents.ShuffledContexts(random));
    return window;
  };
  ++number_;
  work.last = next_ == std::ssize(order_);
  if (work.last) {
    number_ = next_ = 0;
    order_ = corpus_->OrderOf(++epoch_);
  }
  return work;
}

std::vector<std::string> StreamedDocuments::Reader::Read(const Block& block) {
  const std::string& path = corpus_->digest(0, block.file).path;
  corpus_->CheckUnchanged(0, block.file);
  std::unique_ptr<LineReader> reader = std::move(open_[block.file]);
  open_.erase(block.file);
  if (reader == nullptr) {
    reader = std::make_unique<LineReader>(path);
    reader->SkipTo(block.offset, block.first);
  }
  std::vector<std::string> lines(block.lines());
  for (std::string& line : lines)
    if (!reader->Next(&line)) corpus_->RefuseChanged(0, block.file);
  corpus_->CheckUnchanged(0, block.file);
  const bool goes_on = block.end < corpus_->digest(0, block.file).lines;
  if (IsCompressed(path) && goes_on) open_[block.file] = std::move(reader);
  return lines;
}

StreamedDocuments::StreamedDocuments(std::vector<std::string> files,
                                     std::shared_ptr<const Vocabulary> vocabulary,
                                     const ContextOptions& context,
                                     const DocumentStreamOptions& options, int threads)
    : PlainTextCorpus(std::move(files), vocabulary, context),
      options_(options),
      beginning_(*vocabulary, context) {
  std::vector<std::vector<Block>> blocks(this->files());
  ThreadPool(threads).ParallelFor(this->files(),
                                  [&](int64_t file, int) { blocks[file] = CutFile(file); });
  for (const std::vector<Block>& of_file : blocks)
    blocks_.insert(blocks_.end(), of_file.begin(), of_file.end());
  CorpusReport read;
  for (const Block& block : blocks_) {
    if (beginning_.text_size().documents > 0) break;
    LineReader reader(digest(0, block.file).path);
    reader.SkipTo(block.offset, block.first);
    BlockText text{&block, std::vector<std::string>(block.lines())};
    for (std::string& line : text.lines) reader.Next(&line);
    Encode(text, &beginning_, &read);
  }
  if (beginning_.text_size().documents == 0) RefuseNoText();
}

StreamedDocuments::~StreamedDocuments() = default;

// A block ends with the first document that ends after `step` lines, or after twice as many lines.
std::vector<StreamedDocuments::Block> StreamedDocuments::CutFile(int64_t file) {
  const int64_t step = std::max(kMinBlockLines, options_.shuffle_buffer / kBlocksOfAWindow);
  FileDigest& known = digest(0, file);
  Stamp(0, file);
  LineReader reader(known.path);
  std::vector<Block> blocks;
  Block block{file};
  std::string line;
  while (reader.Next(&line)) {
    const int64_t lines = reader.lines() - block.first;
    const bool divides = beginning_.Divides(line);
    const bool waits = context().documents == DocumentEnd::kBlankLine && lines < 2 * step;
    if (lines < step || (!divides && waits)) continue;
    block.end = reader.lines();
    block.ends_document = divides;
    blocks.push_back(block);
    block = {file, reader.lines(), 0, reader.offset()};
  }
  if (block.first < reader.lines()) {
    block.end = reader.lines();
    blocks.push_back(block);
  }
  if (!blocks.empty()) blocks.back().ends_document = true;
  known.lines = reader.lines();
  known.sha256 = Sha256OfFile(known.path);
  return blocks;
}

std::vector<int64_t> StreamedDocuments::OrderOf(int64_t epoch) const {
  std::vector<Run> runs;
  for (int64_t i = 0; i < std::ssize(blocks_); ++i) {
    const bool goes_on = i > 0 && blocks_[i - 1].file == blocks_[i].file &&
                         IsCompressed(digest(0, blocks_[i].file).path);
    if (goes_on) {
      runs.back().end = i + 1;
    } else {
      runs.push_back({i, i + 1});
    }
  }
  Random{options_.seed, static_cast<uint64_t>(epoch), kBlockOrderKey}.Shuffle(&runs);
  std::vector<int64_t> order;
  std::vector<Run> open;
  auto waiting = runs.begin();
  size_t turn = 0;  // in `open`
  while (order.size() < blocks_.size()) {
    while (open.size() < kOpenRuns && waiting != runs.end()) open.push_back(*waiting++);
    if (turn >= open.size()) turn = 0;
    Run& run = open[turn];
    order.push_back(run.next++);
    if (run.next == run.end) {
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(turn));
    } else {
      ++turn;
    }
  }
  return order;
}

void StreamedDocuments::Encode(const BlockText& text, Documents* documents,
                               CorpusReport* report) const {
  Origin origin{text.block->file, text.block->first};
  for (const std::string& line : text.lines) {
    Add(line, Documents::Encode(vocabulary(), line), origin, documents, report);
    ++origin.line;
  }
  if (text.block->ends_document) {
    documents->End();
  } else {
    documents->Break();
  }
}

std::unique_ptr<WindowReader> StreamedDocuments::Open(int64_t epoch, const WindowStart& start,
                                                      const WindowPart& /*part*/) const {
  return std::make_unique<Reader>(this, epoch, start);
}

std::string StreamedDocuments::Summary() const {
  int64_t lines = 0;
  for (int64_t file = 0; file < files(); ++file) lines += digest(0, file).lines;
  return fmt::format("{} lines in {} file{}, read as training goes", lines, files(),
                     files() == 1 ? "" : "s");
}

}  // namespace attend
