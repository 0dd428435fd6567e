#include "data/example_table.h"

#include <fmt/format.h>

#include <cstring>

#include "attend/error.h"

namespace attend {
namespace {

constexpr int64_t kMostWidth = int64_t{1} << 24;

template <typename T>
void Put(std::span<const T> values, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

// Takes bytes from their front.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const std::string& where) : left_(bytes), where_(where) {}

  // Adds `count` values to the end of `to`.
  template <typename T>
  void Take(int64_t count, std::vector<T>* to) {
    Check(count >= 0 && static_cast<uint64_t>(count) <= left_.size() / sizeof(T));
    const size_t size = static_cast<size_t>(count) * sizeof(T);
    if (size == 0) return;
    to->resize(to->size() + static_cast<size_t>(count));
    std::memcpy(&to->back() + 1 - count, left_.data(), size);
    left_.remove_prefix(size);
  }
  int64_t Number() {
    std::vector<int64_t> number;
    Take(1, &number);
    return number[0];
  }
  void Check(bool fits) const {
    if (!fits) throw Error(ErrorKind::kRuntime, where_ + " is cut off; is it another attend?");
  }
  void CheckEnd() const { Check(left_.empty()); }

 private:
  std::string_view left_;
  const std::string& where_;
};

}  // namespace

ExampleTable::ExampleTable(const std::vector<ColumnType>& columns, ReadAs read_as)
    : read_as_(read_as) {
  for (const ColumnType& type : columns) {
    if (type.width < 1 || type.width > kMostWidth ||
        (type.kind != ColumnKind::kNumbers && type.width != 1))
      throw Error(ErrorKind::kUsage, fmt::format("a column has width {}", type.width));
    Column& column = columns_.emplace_back();
    column.type = type;
    if (type.kind == ColumnKind::kNumbers) column.values = std::vector<float>();
  }
}

std::vector<ColumnType> ExampleTable::types() const {
  std::vector<ColumnType> types;
  for (const Column& column : columns_) types.push_back(column.type);
  return types;
}

void ExampleTable::Append(int64_t column, std::span<const int32_t> ids) {
  auto& values = std::get<std::vector<int32_t>>(columns_[column].values);
  values.insert(values.end(), ids.begin(), ids.end());
}

void ExampleTable::Append(int64_t column, std::span<const float> numbers) {
  auto& values = std::get<std::vector<float>>(columns_[column].values);
  values.insert(values.end(), numbers.begin(), numbers.end());
}

void ExampleTable::EndExample(const Origin& origin) {
  for (Column& column : columns_) {
    const auto count =
        std::visit([](const auto& values) { return std::ssize(values); }, column.values);
    column.ends.push_back(count / column.type.width);
  }
  origins_.push_back(origin);
}

// The number of examples and their origins; for each column the ends of their lists and the values.
void ExampleTable::AppendTo(std::string* bytes) const {
  const int64_t count = size();
  Put(std::span(&count, 1), bytes);
  Put(std::span(origins_), bytes);
  for (const Column& column : columns_) {
    Put(std::span(column.ends).subspan(1), bytes);
    std::visit([&](const auto& values) { Put(std::span(values), bytes); }, column.values);
  }
}

void ExampleTable::AddBytes(std::string_view bytes, const std::string& where) {
  ByteReader reader(bytes, where);
  const int64_t count = reader.Number();
  reader.Take(count, &origins_);
  for (Column& column : columns_) {
    const int64_t before = column.ends.back();
    const auto first = std::ssize(column.ends);
    reader.Take(count, &column.ends);
    int64_t length = 0;  // of all lists so far
    for (auto end = column.ends.begin() + first; end != column.ends.end(); ++end) {
      reader.Check(*end >= length && *end <= std::ssize(bytes));
      length = *end;
      *end += before;
    }
    std::visit([&](auto& values) { reader.Take(length * column.type.width, &values); },
               column.values);
  }
  reader.CheckEnd();
}

}  // namespace attend
