#include "data/peers.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "attend/error.h"
#include "base/failure.h"
#include "base/json.h"

namespace attend {
namespace {

// A part is the length of its head, the head, and its examples, number after number.
void Put(int64_t number, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string WithHead(const Json& head) {
  const std::string text = Dump(head);
  std::string bytes;
  Put(std::ssize(text), &bytes);
  return bytes + text;
}

// Takes one part apart, from its front.
class Reader {
 public:
  Reader(std::string_view bytes, size_t rank)
      : left_(bytes), where_(fmt::format("what rank {} gives of a window", rank)) {}
  bool done() const { return left_.empty(); }
  const std::string& where() const { return where_; }
  std::string_view Take(int64_t size) {
    if (size < 0 || size > std::ssize(left_))
      throw Error(ErrorKind::kRuntime, where_ + " is cut off; is it another attend?");
    const std::string_view taken = left_.substr(0, static_cast<size_t>(size));
    left_.remove_prefix(taken.size());
    return taken;
  }
  int64_t Number() {
    int64_t number = 0;
    std::memcpy(&number, Take(sizeof number).data(), sizeof number);
    return number;
  }
  std::vector<int32_t> Ids() {
    const int64_t count = Number();
    const std::string_view bytes = Take(count < 0 || count > std::ssize(left_) ? -1 : count * 4);
    std::vector<int32_t> ids(bytes.size() / 4);
    if (!ids.empty()) std::memcpy(ids.data(), bytes.data(), bytes.size());
    return ids;
  }

 private:
  std::string_view left_;
  std::string where_;
};

}  // namespace

std::string BytesOf(const Window& part) {
  const ExampleTable& table = *part.examples;
  std::string bytes = WithHead({{"report", ToJson(part.report)}, {"columns", table.columns()}});
  for (int64_t i = 0; i < table.size(); ++i) {
    const Example example = table.Get(i);
    Put(example.place.file, &bytes);
    Put(example.place.line, &bytes);
    for (const std::vector<int32_t>& ids : example.columns) {
      Put(std::ssize(ids), &bytes);
      bytes.append(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof ids[0]);
    }
  }
  return bytes;
}

std::string BytesOf(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    const auto* own = dynamic_cast<const Error*>(&error);
    const ErrorKind kind = own != nullptr ? own->kind() : ErrorKind::kRuntime;
    return WithHead({{"failure", MessageOf(error)}, {"kind", static_cast<int>(kind)}});
  }
}

Window JoinParts(const std::vector<std::string>& parts) {
  std::shared_ptr<ExampleTable> table;
  CorpusReport report;
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    Reader reader(parts[rank], rank);
    const std::string& where = reader.where();
    const Json head = ParseJson(reader.Take(reader.Number()), where);
    if (head.contains("failure")) {
      throw Error(static_cast<ErrorKind>(MemberOf<int>(head, "kind", where)),
                  fmt::format("rank {}: {}", rank, MemberOf<std::string>(head, "failure", where)));
    }
    report.Add(CorpusReportFromJson(MemberOf<Json>(head, "report", where), where));
    const auto columns = MemberOf<int64_t>(head, "columns", where);
    if (!table) table = std::make_shared<ExampleTable>(columns);
    if (columns != table->columns())
      throw Error(ErrorKind::kRuntime, where + " has other columns than rank 0's");
    while (!reader.done()) {
      Example example;
      example.place.file = reader.Number();
      example.place.line = reader.Number();
      for (int64_t column = 0; column < columns; ++column) example.columns.push_back(reader.Ids());
      table->Add(example);
    }
  }
  return {table, report};
}

}  // namespace attend
