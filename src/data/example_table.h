// Training examples, packed in memory: one store for each column, examples by row.
#ifndef ATTEND_DATA_EXAMPLE_TABLE_H_
#define ATTEND_DATA_EXAMPLE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attend {

// Where an example comes from; both count from 0.
struct Origin {
  int64_t file = 0;  // of a column's list
  int64_t line = 0;  // of that file
  bool operator==(const Origin&) const = default;
};

enum class ColumnKind {
  kIds,      // of a vocabulary: a list for each example
  kNumbers,  // rows of one width, such as patches or frames: a list of rows for each example
  kLabels,   // numbers of labels: one or several for each example
};

struct ColumnType {
  ColumnKind kind = ColumnKind::kIds;
  int64_t width = 1;  // numbers in a row; 1 for ids and labels
  bool operator==(const ColumnType&) const = default;
};

// How a model reads the columns of an example.
enum class ReadAs {
  kSides,     // each by itself, such as the sides of a pair
  kSequence,  // one behind the other, such as the inputs of an item, of which any may be empty
};

class Example;

// Examples with the same columns each: 4 bytes for an id, a label or a number, and 8 for the length
// of a list. Safe to read from many threads.
class ExampleTable {
 public:
  explicit ExampleTable(const std::vector<ColumnType>& columns, ReadAs read_as = ReadAs::kSides);

  int64_t columns() const { return std::ssize(columns_); }
  const ColumnType& type(int64_t column) const { return columns_[column].type; }
  std::vector<ColumnType> types() const;
  ReadAs read_as() const { return read_as_; }
  int64_t size() const { return std::ssize(origins_); }
  // The table must outlive the example, and not grow in the meantime.
  Example operator[](int64_t row) const;

  // Adds values to the example that EndExample() will end. Throws std::bad_variant_access for a
  // column of another kind.
  void Append(int64_t column, std::span<const int32_t> ids);    // or labels
  void Append(int64_t column, std::span<const float> numbers);  // whole rows
  void EndExample(const Origin& origin);

  // All examples as bytes, which AddBytes() reads in the same program on the same kind of machine.
  void AppendTo(std::string* bytes) const;
  // Adds the examples of a table with the same columns. Throws Error(kRuntime) that opens with
  // `where` for bytes that are none, which leaves the table of no use.
  void AddBytes(std::string_view bytes, const std::string& where);

 private:
  friend class Example;
  struct Column {
    ColumnType type;
    std::variant<std::vector<int32_t>, std::vector<float>> values;  // of all examples
    std::vector<int64_t> ends = {0};  // of each example's list, after a leading 0; numbers in rows
  };
  template <typename Value>
  std::span<const Value> List(int64_t row, int64_t column) const {
    const Column& from = columns_[column];
    const int64_t begin = from.ends[row], end = from.ends[row + 1];
    return std::span<const Value>(std::get<std::vector<Value>>(from.values))
        .subspan(begin * from.type.width, (end - begin) * from.type.width);
  }

  std::vector<Column> columns_;
  ReadAs read_as_;
  std::vector<Origin> origins_;  // by row
};

// One example: a row of a table. As cheap to copy as a pointer.
class Example {
 public:
  Example(const ExampleTable* table, int64_t row) : table_(table), row_(row) {}

  const Origin& origin() const { return table_->origins_[row_]; }
  // Of the column's list: ids, labels or rows of numbers.
  int64_t Length(int64_t column) const {
    const int64_t* ends = &table_->columns_[column].ends[row_];
    return ends[1] - ends[0];
  }
  // Of a column of ids or of labels.
  std::span<const int32_t> Ids(int64_t column) const { return table_->List<int32_t>(row_, column); }
  // [Length(column), width], row by row.
  std::span<const float> Numbers(int64_t column) const { return table_->List<float>(row_, column); }

 private:
  const ExampleTable* table_;
  int64_t row_;
};

inline Example ExampleTable::operator[](int64_t row) const { return {this, row}; }

// Some examples of a table, in an order of their own. The table and the row numbers must outlive
// it.
class Examples {
 public:
  Examples() = default;
  Examples(const ExampleTable* table, std::span<const int64_t> rows) : table_(table), rows_(rows) {}

  int64_t size() const { return std::ssize(rows_); }
  int64_t columns() const { return table_->columns(); }
  Example operator[](int64_t index) const { return {table_, rows_[index]}; }
  Examples Part(int64_t begin, int64_t size) const { return {table_, rows_.subspan(begin, size)}; }

  class Iterator {
   public:
    Iterator(const Examples* examples, int64_t index) : examples_(examples), index_(index) {}
    Example operator*() const { return (*examples_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Examples* examples_;
    int64_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  const ExampleTable* table_ = nullptr;
  std::span<const int64_t> rows_;
};

}  // namespace attend

#endif  // ATTEND_DATA_EXAMPLE_TABLE_H_
