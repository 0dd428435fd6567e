// Keys and values of past positions, in rows that the hypotheses of a search share.
//
// Rows form a tree: each follows a parent, and lives as long as a hypothesis ends in it or a row
// follows it. Rows never move and are never copied. One owner; keeps its memory.
#ifndef ATTEND_ENGINE_STACKS_ROW_CACHE_H_
#define ATTEND_ENGINE_STACKS_ROW_CACHE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/blocks/aligned.h"

namespace attend {

class RowCache {
 public:
  // Forgets all rows; new ones have `row_floats` floats.
  void Reset(int64_t row_floats) {
    // A line more than the row takes: rows a whole page apart would share few cache sets.
    const int64_t stride = row_floats + static_cast<int64_t>(kCacheLine / sizeof(float));
    if (stride != stride_) chunks_.clear();
    stride_ = stride;
    chunk_rows_ = std::max<int64_t>(1, kChunkFloats / stride);
    nodes_.clear();
    free_.clear();
  }

  // A row held once, after `parent` (-1: none); the caller's hold on the parent becomes the row's.
  int32_t Append(int32_t parent) {
    if (free_.empty()) AddRow();
    const int32_t row = free_.back();
    free_.pop_back();
    nodes_[row] = {parent, 1};
    return row;
  }
  void Hold(int32_t row) {
    if (row >= 0) ++nodes_[row].holders;
  }
  void Release(int32_t row) {
    while (row >= 0 && --nodes_[row].holders == 0) {
      free_.push_back(row);
      row = nodes_[row].parent;
    }
  }
  float* Row(int32_t row) {
    return chunks_[row / chunk_rows_].data() + row % chunk_rows_ * stride_;
  }
  int64_t rows_in_use() const { return std::ssize(nodes_) - std::ssize(free_); }

 private:
  static constexpr int64_t kChunkFloats = kHugePage / sizeof(float);
  struct Node {
    int32_t parent = -1;
    int32_t holders = 0;
  };

  void AddRow() {
    free_.push_back(static_cast<int32_t>(nodes_.size()));
    nodes_.push_back({});
    if (std::ssize(nodes_) > std::ssize(chunks_) * chunk_rows_) {
      chunks_.emplace_back(std::max(kChunkFloats, stride_));
    }
  }

  int64_t stride_ = 0, chunk_rows_ = 1;
  std::vector<AlignedVector<float>> chunks_;
  std::vector<Node> nodes_;
  std::vector<int32_t> free_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_STACKS_ROW_CACHE_H_
