#include "data/document_corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "text/lines.h"

namespace attend {
namespace {

constexpr size_t kLinesAtOnce = 8192;
constexpr int64_t kLinesOfTask = 256;

}  // namespace

class DocumentCorpus::Reader : public WindowReader {
 public:
  Reader(const DocumentCorpus* corpus, int64_t epoch) : corpus_(corpus), epoch_(epoch) {}
  WindowWork Next() override {
    const MakeWindow make = [corpus = corpus_, epoch = epoch_] {
      const Random random{corpus->seed_, static_cast<uint64_t>(epoch), kContextKey};
      return Window{
          std::make_shared<const ExampleTable>(corpus->documents_.ShuffledContexts(random)), {}};
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
    : PlainTextCorpus(std::move(files), vocabulary, options), documents_(*vocabulary, options) {
  ThreadPool pool(threads);
  for (int64_t file = 0; file < this->files(); ++file) ReadFile(file, &pool);
  report_.tokens = {text_size().tokens};
  if (text_size().documents == 0) RefuseNoText();
}

void DocumentCorpus::ReadFile(int64_t file, ThreadPool* pool) {
  FileDigest& known = digest(0, file);
  LineReader reader(known.path);
  std::vector<std::string> texts;
  std::vector<Documents::Line> lines;
  while (true) {
    texts.clear();
    std::string text;
    while (texts.size() < kLinesAtOnce && reader.Next(&text)) texts.push_back(text);
    if (texts.empty()) break;
    lines.assign(texts.size(), {});
    const int64_t tasks = (std::ssize(texts) + kLinesOfTask - 1) / kLinesOfTask;
    pool->ParallelFor(tasks, [&](int64_t task, int) {
      const auto end = std::min(texts.size(), static_cast<size_t>((task + 1) * kLinesOfTask));
      for (auto i = static_cast<size_t>(task * kLinesOfTask); i < end; ++i)
        lines[i] = Documents::Encode(vocabulary(), texts[i]);
    });
    const int64_t first = reader.lines() - std::ssize(texts);
    for (size_t i = 0; i < lines.size(); ++i)
      Add(texts[i], lines[i], {file, first + static_cast<int64_t>(i)}, &documents_, &report_);
  }
  documents_.End();
  known.lines = reader.lines();
  known.sha256 = Sha256OfFile(known.path);
}

std::unique_ptr<WindowReader> DocumentCorpus::Open(int64_t epoch, const WindowStart& /*start*/,
                                                   const WindowPart& /*part*/) const {
  return std::make_unique<Reader>(this, epoch);
}

std::string DocumentCorpus::Summary() const {
  const TextSize& size = text_size();
  return fmt::format("{} lines, {} documents, {} tokens, {} words, {} characters", report_.kept,
                     size.documents, size.tokens, size.words, size.characters);
}

}  // namespace attend
