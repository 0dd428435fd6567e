#include "data/example_table.h"

namespace attend {

void ExampleTable::Add(const Example& example) {
  places_.push_back(example.place);
  for (const std::vector<int32_t>& ids : example.columns) {
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    ends_.push_back(ids_.size());
  }
}

Example ExampleTable::Get(int64_t index) const {
  Example example{places_.at(index), {}};
  for (int64_t column = 0; column < columns_; ++column) {
    const uint64_t* ends = &ends_[index * columns_ + column];
    example.columns.emplace_back(ids_.begin() + static_cast<int64_t>(ends[0]),
                                 ids_.begin() + static_cast<int64_t>(ends[1]));
  }
  return example;
}

}  // namespace attend
