#include "data/peers.h"

#include <cstring>
#include <string_view>

#include "base/json.h"

namespace attend {
namespace {

template <class Value>
void Put(const Value* values, size_t count, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(values), count * sizeof(Value));
}

void PutNumber(int64_t number, std::string* bytes) { Put(&number, 1, bytes); }

template <class Value>
void Take(std::string_view* bytes, size_t count, Value* values) {
  std::memcpy(values, bytes->data(), count * sizeof(Value));
  bytes->remove_prefix(count * sizeof(Value));
}

int64_t TakeNumber(std::string_view* bytes) {
  int64_t number = 0;
  Take(bytes, 1, &number);
  return number;
}

Example TakeExample(std::string_view* bytes, int64_t columns) {
  Example example;
  example.place.file = TakeNumber(bytes);
  example.place.line = TakeNumber(bytes);
  for (int64_t column = 0; column < columns; ++column) {
    std::vector<int32_t>& ids = example.columns.emplace_back(TakeNumber(bytes));
    Take(bytes, ids.size(), ids.data());
  }
  return example;
}

}  // namespace

std::string BytesOf(const Window& window) {
  const ExampleTable& table = *window.examples;
  const std::string report = ToJson(window.report).dump();
  std::string bytes;
  PutNumber(std::ssize(report), &bytes);
  bytes += report;
  PutNumber(table.columns(), &bytes);
  for (int64_t i = 0; i < table.size(); ++i) {
    const Example example = table.Get(i);
    PutNumber(example.place.file, &bytes);
    PutNumber(example.place.line, &bytes);
    for (const std::vector<int32_t>& ids : example.columns) {
      PutNumber(std::ssize(ids), &bytes);
      Put(ids.data(), ids.size(), &bytes);
    }
  }
  return bytes;
}

Window JoinParts(const std::vector<std::string>& parts) {
  std::shared_ptr<ExampleTable> table;
  CorpusReport report;
  for (const std::string& part : parts) {
    std::string_view bytes = part;
    std::string text(TakeNumber(&bytes), '\0');
    Take(&bytes, text.size(), text.data());
    report.Add(CorpusReportFromJson(ParseJson(text, "a part of a window"), "a part of a window"));
    const int64_t columns = TakeNumber(&bytes);
    if (!table) table = std::make_shared<ExampleTable>(columns);
    while (!bytes.empty()) table->Add(TakeExample(&bytes, columns));
  }
  return {table, report};
}

}  // namespace attend
