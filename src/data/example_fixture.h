// Examples of given ids, for tests.
#ifndef ATTEND_DATA_EXAMPLE_FIXTURE_H_
#define ATTEND_DATA_EXAMPLE_FIXTURE_H_

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "data/batch_stream.h"

namespace attend {

using IdColumns = std::vector<std::vector<int32_t>>;

inline ExampleTable IdTable(int64_t columns) {
  return ExampleTable(std::vector<ColumnType>(static_cast<size_t>(columns)));
}

inline void AddExample(const Origin& origin, const IdColumns& columns, ExampleTable* table) {
  for (size_t column = 0; column < columns.size(); ++column)
    table->Append(static_cast<int64_t>(column), columns[column]);
  table->EndExample(origin);
}

inline IdColumns ColumnsOf(const Example& example, int64_t columns = 2) {
  IdColumns all;
  for (int64_t column = 0; column < columns; ++column) {
    const std::span<const int32_t> ids = example.Ids(column);
    all.emplace_back(ids.begin(), ids.end());
  }
  return all;
}

// Of the examples in their order; the i-th is line i.
inline Batch BatchOf(const std::vector<IdColumns>& examples) {
  ExampleTable table = IdTable(examples.empty() ? 0 : std::ssize(examples[0]));
  for (const IdColumns& columns : examples) AddExample({0, table.size()}, columns, &table);
  Batch batch;
  batch.rows.resize(examples.size());
  std::iota(batch.rows.begin(), batch.rows.end(), 0);
  batch.table = std::make_shared<const ExampleTable>(std::move(table));
  return batch;
}

}  // namespace attend

#endif  // ATTEND_DATA_EXAMPLE_FIXTURE_H_
