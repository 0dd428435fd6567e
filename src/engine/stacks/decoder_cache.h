// What a decoder remembers of the sentences it is running: keys and values of their sources and of
// their hypotheses. One owner; keeps its memory.
#ifndef ATTEND_ENGINE_STACKS_DECODER_CACHE_H_
#define ATTEND_ENGINE_STACKS_DECODER_CACHE_H_

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/blocks/layer.h"
#include "engine/stacks/row_cache.h"

namespace attend {

struct DecoderCache {
  // A source's rows (of cross-attention) or a hypothesis' (of self-attention), by position. A row
  // holds keys and values of every layer, [layers, H * K + H * V]; of a recurrence each layer's
  // state, [layers, D].
  struct RowList {
    std::vector<const float*> rows;
    int32_t last = -1;  // the cache's number of the last one
  };

  // Forgets everything. Sentences have `beam_size` hypotheses each: hypothesis h is one of sentence
  // h / beam_size.
  void Reset(int64_t beam_size, int64_t own_floats, int64_t source_floats) {
    beam_size_ = beam_size;
    own_rows.Reset(own_floats);
    source_rows.Reset(source_floats);
    for (RowList& source : sources) source.rows.clear(), source.last = -1;
    for (RowList& own : hypotheses) own.rows.clear(), own.last = -1;
    if (std::ssize(held_) < beam_size) held_.resize(beam_size);
    live_.assign(live_.size(), 1);
  }

  // A new row at the end of a list.
  void Append(RowCache* rows, RowList* list) {
    list->last = rows->Append(list->last);
    new_rows.push_back(rows->Row(list->last));
    list->rows.push_back(new_rows.back());
  }

  // Room for the keys and values of a source of `count` positions in place of those before; its
  // rows follow those that are new already.
  void Renew(int64_t sentence, int64_t count) {
    MakeRoom(sentence + 1);
    RowList& source = sources[sentence];
    source_rows.Release(source.last);
    source.last = -1;
    source.rows.clear();
    for (int64_t j = 0; j < count; ++j) Append(&source_rows, &source);
  }

  // Hypothesis i of the sentence goes on as what its hypothesis parents[i] was; those past the
  // parents are emptied, and without parents the source too. Lists of rows are copied, rows are
  // not.
  void Reorder(int64_t sentence, std::span<const int32_t> parents) {
    if (parents.empty()) Renew(sentence, 0);
    const int64_t live = std::exchange(live_[sentence], std::max<int64_t>(1, std::ssize(parents)));
    if (Unchanged(parents, live)) return;
    RowList* first = hypotheses.data() + sentence * beam_size_;
    for (const int32_t parent : parents) own_rows.Hold(first[parent].last);
    for (int64_t i = 0; i < live; ++i) {
      own_rows.Release(first[i].last);
      held_[i].rows.swap(first[i].rows);
      held_[i].last = first[i].last;
      first[i].last = -1;
    }
    for (size_t i = 0; i < parents.size(); ++i) {
      first[i].last = held_[parents[i]].last;
      first[i].rows.assign(held_[parents[i]].rows.begin(), held_[parents[i]].rows.end());
    }
    for (int64_t i = std::ssize(parents); i < live; ++i) first[i].rows.clear();
  }

  int64_t SentenceOf(int32_t hypothesis) const { return hypothesis / beam_size_; }
  const RowList& SourceOf(int32_t hypothesis) const { return sources[SentenceOf(hypothesis)]; }

  RowCache own_rows, source_rows;
  std::vector<RowList> sources;     // by sentence
  std::vector<RowList> hypotheses;  // sentences * beam_size
  std::vector<float*> new_rows;     // of the rows now running or starting
  std::vector<int64_t> positions;
  std::vector<const float* const*> lists;  // of the rows that attend together
  ScoreBias bias;                          // of distances among them and those before

 private:
  void MakeRoom(int64_t count) {
    if (std::ssize(hypotheses) < count * beam_size_) hypotheses.resize(count * beam_size_);
    if (std::ssize(sources) >= count) return;
    sources.resize(count);
    live_.resize(count, 1);
  }

  static bool Unchanged(std::span<const int32_t> parents, int64_t live) {
    int64_t same = 0;
    while (same < std::ssize(parents) && parents[same] == same) ++same;
    return same == live && live == std::ssize(parents);
  }

  int64_t beam_size_ = 1;
  std::vector<RowList> held_;  // while reordering
  std::vector<int64_t> live_;  // hypotheses of each sentence that may hold rows, the first ones
};

}  // namespace attend

#endif  // ATTEND_ENGINE_STACKS_DECODER_CACHE_H_
