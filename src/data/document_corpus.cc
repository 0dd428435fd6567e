#include "data/document_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "attend/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "text/lines.h"
#include "text/newlines.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr size_t kLinesAtOnce = 8192;
constexpr int64_t kLinesOfTask = 256;

// Fills examples with tokens that follow each other.
class ContextWriter {
 public:
  ContextWriter(ExampleTable* table, int32_t bos, int64_t context, int64_t first)
      : table_(table), bos_(bos), context_(context), room_(first) {}

  void Write(std::span<const int32_t> ids, const Origin& origin) {
    while (!ids.empty()) {
      if (!open_) Begin(origin);
      const auto taken = std::min<int64_t>(room_, std::ssize(ids));
      table_->Append(0, ids.first(taken));
      ids = ids.subspan(taken);
      room_ -= taken;
      if (room_ == 0) End();
    }
  }

  // The next context is a whole one.
  void End() {
    if (open_) table_->EndExample(origin_);
    open_ = false;
    room_ = context_;
  }

 private:
  void Begin(const Origin& origin) {
    table_->Append(0, std::span(&bos_, 1));
    origin_ = origin;
    open_ = true;
  }

  ExampleTable* table_;
  int32_t bos_;
  int64_t context_, room_;
  bool open_ = false;
  Origin origin_;
};

}  // namespace

FieldList Fields(ContextOptions& options) {
  FieldList fields;
  fields
      .Add("context_tokens", &options.context_tokens, 2, 1 << 20,
           "tokens that the model reads at once; the text is cut into contexts of this length")
      .Add("documents", &options.documents, {"blank_line", "file"},
           "where a document ends: at blank lines, or with its file")
      .Add("across_documents", &options.across_documents,
           "a context may go on with the next document, and attention reaches back into the one "
           "before; otherwise each document has contexts of its own");
  return fields;
}

// One line, encoded.
struct DocumentCorpus::Line {
  std::vector<int32_t> ids;
  int64_t words = 0, characters = 0, malformed = 0;
  bool blank = false;
};

class DocumentCorpus::Reader : public WindowReader {
 public:
  Reader(const DocumentCorpus* corpus, int64_t epoch) : corpus_(corpus), epoch_(epoch) {}
  WindowWork Next() override {
    const MakeWindow make = [corpus = corpus_, epoch = epoch_] {
      return Window{std::make_shared<const ExampleTable>(corpus->CutEpoch(epoch)), {}};
    };
    return {epoch_++, {}, /*last=*/true, make};
  }

 private:
  const DocumentCorpus* corpus_;
  int64_t epoch_;
};

DocumentCorpus::DocumentCorpus(std::vector<std::string> files,
                               std::shared_ptr<const Vocabulary> vocabulary,
                               const ContextOptions& options, int threads)
    : TextCorpus({{"text", std::move(files), vocabulary}}),
      options_(options),
      bos_(static_cast<int32_t>(vocabulary->special_ids().bos)),
      eos_(static_cast<int32_t>(vocabulary->special_ids().eos)),
      newline_(NewlineId(*vocabulary)) {
  ThreadPool pool(threads);
  for (int64_t file = 0; file < this->files(); ++file) ReadFile(file, &pool);
  size_.documents = std::ssize(origins_);
  size_.tokens = std::ssize(ids_);
  report_.tokens = {size_.tokens};
  if (size_.documents > 0) return;
  throw Error(ErrorKind::kInput, fmt::format("'{}' has no text", columns()[0].files[0]));
}

void DocumentCorpus::ReadFile(int64_t file, ThreadPool* pool) {
  const std::string& path = columns()[0].files[file];
  const Vocabulary& vocabulary = *columns()[0].vocabulary;
  LineReader reader(path);
  std::vector<std::string> texts;
  std::vector<Line> lines;
  while (true) {
    texts.clear();
    std::string text;
    while (texts.size() < kLinesAtOnce && reader.Next(&text)) texts.push_back(text);
    if (texts.empty()) break;
    lines.assign(texts.size(), {});
    const int64_t tasks = (std::ssize(texts) + kLinesOfTask - 1) / kLinesOfTask;
    pool->ParallelFor(tasks, [&](int64_t task, int) {
      const auto end = std::min(texts.size(), static_cast<size_t>((task + 1) * kLinesOfTask));
      for (auto i = static_cast<size_t>(task * kLinesOfTask); i < end; ++i) {
        Line& line = lines[i];
        line.ids = vocabulary.Encode(texts[i], &line.malformed);
        line.words = CountWords(texts[i]) + 1;
        line.characters = CountCodePoints(RepairUtf8(texts[i])) + 1;
        line.blank = texts[i].find_first_not_of(" \t\r") == std::string::npos;
      }
    });
    const int64_t first = reader.lines() - std::ssize(texts);
    for (size_t i = 0; i < lines.size(); ++i) {
      const Line& line = lines[i];
      const Origin origin{file, first + static_cast<int64_t>(i)};
      ++report_.lines;
      if (line.malformed > 0) Count(origin, 0, &report_.malformed);
      if (line.blank && options_.documents == DocumentEnd::kBlankLine) {
        EndDocument();
        continue;
      }
      ++report_.kept;
      if (!open_) origins_.push_back(origin);
      open_ = true;
      ids_.insert(ids_.end(), line.ids.begin(), line.ids.end());
      if (newline_ >= 0) ids_.push_back(newline_);
      size_.words += line.words;
      size_.characters += line.characters;
    }
  }
  EndDocument();
  FileDigest& known = digest(0, file);
  known.lines = reader.lines();
  known.sha256 = Sha256OfFile(path);
}

void DocumentCorpus::EndDocument() {
  if (!open_) return;
  ids_.push_back(eos_);
  ends_.push_back(std::ssize(ids_));
  open_ = false;
}

std::span<const int32_t> DocumentCorpus::Document(int64_t document) const {
  return std::span(ids_).subspan(ends_[document], ends_[document + 1] - ends_[document]);
}

ExampleTable DocumentCorpus::Cut(const std::vector<int64_t>& order, int64_t first) const {
  ExampleTable table({ColumnType{}});
  ContextWriter writer(&table, bos_, options_.context_tokens, first);
  for (const int64_t document : order) {
    writer.Write(Document(document), origins_[document]);
    if (!options_.across_documents) writer.End();
  }
  writer.End();
  return table;
}

ExampleTable DocumentCorpus::CutEpoch(int64_t epoch) const {
  Random random({seed_, static_cast<uint64_t>(epoch), 0x637574});
  std::vector<int64_t> order(size_.documents);
  std::iota(order.begin(), order.end(), 0);
  random.Shuffle(&order);
  return Cut(order, 1 + static_cast<int64_t>(random.Below(options_.context_tokens)));
}

ExampleTable DocumentCorpus::Contexts() const {
  std::vector<int64_t> order(size_.documents);
  std::iota(order.begin(), order.end(), 0);
  return Cut(order, options_.context_tokens);
}

std::unique_ptr<WindowReader> DocumentCorpus::Open(int64_t epoch, const WindowStart& /*start*/,
                                                   const WindowPart& /*part*/) const {
  return std::make_unique<Reader>(this, epoch);
}

std::string DocumentCorpus::Text() const {
  return fmt::format("{} lines, {} documents, {} tokens, {} words, {} characters", report_.kept,
                     size_.documents, size_.tokens, size_.words, size_.characters);
}

int64_t DocumentCorpus::unknown_tokens() const {
  const auto unk = static_cast<int32_t>(columns()[0].vocabulary->special_ids().unk);
  return std::ranges::count(ids_, unk);
}

}  // namespace attend
