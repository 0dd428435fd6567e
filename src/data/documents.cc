#include "data/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "attend/error.h"
#include "text/lines.h"
#include "text/newlines.h"
#include "text/utf8.h"

namespace attend {
namespace {

// Fills examples with tokens that follow each other.
class ContextWriter {
 public:
  // `first`: tokens of the first context.
  ContextWriter(ExampleTable* table, int32_t bos, int64_t context, int64_t first)
      : table_(table), bos_(bos), context_(context), room_(first) {}

  void Write(std::span<const int32_t> ids, const Origin& origin) {
    while (!ids.empty()) {
      if (!open_) Begin(origin);
      const auto taken = std::min<int64_t>(room_, std::ssize(ids));
      table_->Append(0, ids.first(taken));
      ids = ids.subspan(taken);
      room_ -= taken;
      if (room_ == 0) End(context_);
    }
  }

  // The next context has room for so many tokens.
  void End(int64_t room) {
    if (open_) table_->EndExample(origin_);
    open_ = false;
    room_ = room;
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

Documents::Documents(const Vocabulary& vocabulary, const ContextOptions& options)
    : options_(options),
      bos_(static_cast<int32_t>(vocabulary.special_ids().bos)),
      eos_(static_cast<int32_t>(vocabulary.special_ids().eos)),
      newline_(NewlineId(vocabulary)) {}

Documents::Line Documents::Encode(const Vocabulary& vocabulary, const std::string& text) {
  Line line;
  line.ids = vocabulary.Encode(text, &line.malformed);
  line.words = CountWords(text) + 1;
  line.characters = CountCodePoints(RepairUtf8(text)) + 1;
  return line;
}

bool Documents::Divides(const std::string& text) const {
  return options_.documents == DocumentEnd::kBlankLine &&
         text.find_first_not_of(" \t\r") == std::string::npos;
}

bool Documents::Add(const std::string& text, const Line& line, const Origin& origin) {
  if (Divides(text)) {
    End();
    return false;
  }
  if (!open_) origins_.push_back(origin);
  open_ = true;
  ids_.insert(ids_.end(), line.ids.begin(), line.ids.end());
  if (newline_ >= 0) ids_.push_back(newline_);
  size_.words += line.words;
  size_.characters += line.characters;
  return true;
}

void Documents::End() {
  if (!open_) return;
  ids_.push_back(eos_);
  Break();
}

void Documents::Break() {
  if (!open_) return;
  ends_.push_back(std::ssize(ids_));
  open_ = false;
  size_.tokens = std::ssize(ids_);
  size_.documents = std::ssize(origins_);
}

int64_t Documents::Count(int32_t id) const { return std::ranges::count(ids_, id); }

ExampleTable Documents::Contexts(int64_t most) const {
  ExampleTable table({ColumnType{}});
  ContextWriter writer(&table, bos_, options_.context_tokens, options_.context_tokens);
  for (int64_t i = 0; i < size_.documents && table.size() < most; ++i) {
    writer.Write((*this)[i], origins_[i]);
    if (!options_.across_documents) writer.End(options_.context_tokens);
  }
  writer.End(0);
  return table;
}

ExampleTable Documents::ShuffledContexts(Random random) const {
  std::vector<int64_t> order(size_.documents);
  std::iota(order.begin(), order.end(), 0);
  random.Shuffle(&order);
  const auto drawn = [&] {
    return 1 + static_cast<int64_t>(random.Below(options_.context_tokens));
  };
  ExampleTable table({ColumnType{}});
  ContextWriter writer(&table, bos_, options_.context_tokens, drawn());
  for (const int64_t document : order) {
    writer.Write((*this)[document], origins_[document]);
    if (!options_.across_documents) writer.End(drawn());
  }
  writer.End(0);
  return table;
}

void PlainTextCorpus::Add(const std::string& text, const Documents::Line& line,
                          const Origin& origin, Documents* documents, CorpusReport* report) const {
  ++report->lines;
  if (line.malformed > 0) Count(origin, 0, &report->malformed);
  if (documents->Add(text, line, origin)) {
    ++report->kept;
  } else {
    ++report->dividing;
  }
}

void PlainTextCorpus::RefuseNoText() const {
  throw Error(ErrorKind::kInput, files() == 1
                                     ? fmt::format("'{}' has no text", digest(0, 0).path)
                                     : fmt::format("none of {} files has text, the first is '{}'",
                                                   files(), digest(0, 0).path));
}

}  // namespace attend
