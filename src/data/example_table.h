// Training examples, packed in memory.
#ifndef ATTEND_DATA_EXAMPLE_TABLE_H_
#define ATTEND_DATA_EXAMPLE_TABLE_H_

#include <cstdint>
#include <vector>

namespace attend {

// Where an example stands in its corpus; both count from 0.
struct Place {
  int64_t file = 0;  // of a column's list
  int64_t line = 0;  // of that file
  bool operator==(const Place&) const = default;
};

// One training example: columns of ids, e.g. source and target.
struct Example {
  Place place;
  std::vector<std::vector<int32_t>> columns;
};

// Examples with the same number of columns each, 4 bytes for each id. Safe to read from many
// threads.
class ExampleTable {
 public:
  explicit ExampleTable(int64_t columns) : columns_(columns) {}

  void Add(const Example& example);
  int64_t columns() const { return columns_; }
  int64_t size() const { return static_cast<int64_t>(places_.size()); }
  Example Get(int64_t index) const;
  // Ids of one column of an example.
  int64_t Length(int64_t index, int64_t column) const {
    const uint64_t* ends = &ends_[index * columns_ + column];
    return static_cast<int64_t>(ends[1] - ends[0]);
  }

 private:
  int64_t columns_;
  std::vector<Place> places_;         // [example]
  std::vector<int32_t> ids_;          // all examples, all columns, one after another
  std::vector<uint64_t> ends_ = {0};  // of each column of each example in ids_, after a leading 0
};

}  // namespace attend

#endif  // ATTEND_DATA_EXAMPLE_TABLE_H_
