#include "data/peers.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "attend/error.h"
#include "base/failure.h"
#include "base/json.h"

namespace attend {
namespace {

// A part is the length of its head, the head, and its examples.
std::string WithHead(const Json& head) {
  const std::string text = Dump(head);
  const int64_t length = std::ssize(text);
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

// Takes the head from the front of a part.
Json TakeHead(std::string_view* part, const std::string& where) {
  int64_t length = -1;
  if (part->size() >= sizeof length) {
    std::memcpy(&length, part->data(), sizeof length);
    part->remove_prefix(sizeof length);
  }
  if (length < 0 || length > std::ssize(*part))
    throw Error(ErrorKind::kRuntime, where + " is cut off; is it another attend?");
  const Json head = ParseJson(part->substr(0, static_cast<size_t>(length)), where);
  part->remove_prefix(static_cast<size_t>(length));
  return head;
}

Json ToJson(const std::vector<ColumnType>& columns) {
  Json json = Json::array();
  for (const ColumnType& column : columns)
    json.push_back({static_cast<int>(column.kind), column.width});
  return json;
}

std::vector<ColumnType> ColumnsFromJson(const Json& json) {
  std::vector<ColumnType> columns;
  for (const auto& [kind, width] : json.get<std::vector<std::pair<int, int64_t>>>())
    columns.push_back({static_cast<ColumnKind>(kind), width});
  return columns;
}

}  // namespace

std::string BytesOf(const Window& part) {
  const ExampleTable& table = *part.examples;
  std::string bytes = WithHead({{"report", ToJson(part.report)},
                                {"columns", ToJson(table.types())},
                                {"read_as", static_cast<int>(table.read_as())}});
  table.AppendTo(&bytes);
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
    const std::string where = fmt::format("what rank {} gives of a window", rank);
    std::string_view part = parts[rank];
    const Json head = TakeHead(&part, where);
    if (head.contains("failure")) {
      throw Error(static_cast<ErrorKind>(MemberOf<int>(head, "kind", where)),
                  fmt::format("rank {}: {}", rank, MemberOf<std::string>(head, "failure", where)));
    }
    report.Add(CorpusReportFromJson(MemberOf<Json>(head, "report", where), where));
    const auto columns = MemberOf<Json>(head, "columns", where);
    const auto read_as = static_cast<ReadAs>(MemberOf<int>(head, "read_as", where));
    if (!table) table = std::make_shared<ExampleTable>(ColumnsFromJson(columns), read_as);
    if (columns != ToJson(table->types()))
      throw Error(ErrorKind::kRuntime, where + " has other columns than rank 0's");
    table->AddBytes(part, where);
  }
  return {table, report};
}

}  // namespace attend
