#include "metrics/ter_edits.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <tuple>
#include <vector>

namespace attend {
namespace {

constexpr int64_t kMaxShiftLength = 10;
constexpr int64_t kMaxShiftDistance = 50;
constexpr int64_t kBeamWidth = 25;
constexpr int64_t kMaxCandidates = 1000;
constexpr int32_t kUnreached = 1 << 29;

// kDelete drops a word of the hypothesis, kInsert adds one of the reference.
enum class Edit : uint8_t { kNone, kSubstitute, kInsert, kDelete, kUnknown };

// Edit distance to one reference for hypotheses of one length, inside a beam around the diagonal.
// The rows of the last base hypothesis are kept, so that a variant of it costs only the rows from
// the first word that differs.
class BeamEditDistance {
 public:
  BeamEditDistance(size_t hypothesis_length, const Symbols& reference)
      : reference_(reference),
        rows_(static_cast<int64_t>(hypothesis_length)),
        columns_(static_cast<int64_t>(reference.size())) {
    ratio_ = rows_ > 0 ? static_cast<double>(columns_) / static_cast<double>(rows_) : 1;
    beam_ = kBeamWidth;
    if (static_cast<double>(kBeamWidth) < ratio_ / 2) {
      beam_ = static_cast<int64_t>(std::ceil(ratio_ / 2 + static_cast<double>(kBeamWidth)));
    }
    width_ = std::min(2 * beam_ + 2, columns_ + 1);
    const auto cells = static_cast<size_t>((rows_ + 1) * width_);
    base_.assign(cells, {});
    variant_.assign(cells, {});
  }

  // Makes `hypothesis` the base and returns its distance.
  int32_t SetBase(const Symbols& hypothesis) {
    for (int64_t i = 1; i <= rows_; ++i) FillRow(hypothesis, i, base_, &base_);
    return At(base_, rows_, columns_).cost;
  }

  // Of a hypothesis whose first `same` words are the base's.
  int32_t DistanceOfVariant(const Symbols& hypothesis, int64_t same) {
    for (int64_t i = same + 1; i <= rows_; ++i) {
      FillRow(hypothesis, i, i == same + 1 ? base_ : variant_, &variant_);
    }
    return At(same == rows_ ? base_ : variant_, rows_, columns_).cost;
  }

  // The base's edits, from its first word to its last.
  std::vector<Edit> Trace() const {
    std::vector<Edit> trace;
    for (int64_t i = rows_, j = columns_; i > 0 || j > 0;) {
      const Edit edit = At(base_, i, j).edit;
      assert(edit != Edit::kUnknown && "the beam is wide enough for neighbouring rows to meet");
      trace.push_back(edit);
      if (edit != Edit::kInsert) --i;
      if (edit != Edit::kDelete) --j;
    }
    std::reverse(trace.begin(), trace.end());
    return trace;
  }

 private:
  struct Cell {
    int32_t cost = kUnreached;
    Edit edit = Edit::kUnknown;
  };
  using Matrix = std::vector<Cell>;

  int64_t Diagonal(int64_t i) const {
    return static_cast<int64_t>(std::floor(static_cast<double>(i) * ratio_));
  }
  int64_t FirstColumn(int64_t i) const { return std::max<int64_t>(0, Diagonal(i) - beam_); }
  int64_t EndColumn(int64_t i) const {
    return i == rows_ ? columns_ + 1 : std::min(columns_ + 1, Diagonal(i) + beam_);
  }

  Cell At(const Matrix& matrix, int64_t i, int64_t j) const {
    if (i == 0) return {static_cast<int32_t>(j), Edit::kInsert};
    if (j < FirstColumn(i) || j >= EndColumn(i)) return {};
    return matrix[static_cast<size_t>(i * width_ + j - FirstColumn(i))];
  }

  // Row i of `matrix`, from row i - 1 of `above`. Of equal costs the first wins: none or
  // substitution, deletion, insertion.
  void FillRow(const Symbols& hypothesis, int64_t i, const Matrix& above, Matrix* matrix) const {
    const int64_t first = FirstColumn(i), end = EndColumn(i);
    const char32_t word = hypothesis[static_cast<size_t>(i - 1)];
    Cell* row = matrix->data() + i * width_ - first;
    Cell diagonal = first > 0 ? At(above, i - 1, first - 1) : Cell();
    Cell left;
    const Cell* above_row = above.data() + (i - 1) * width_ - FirstColumn(i - 1);
    const int64_t above_first = i == 1 ? 0 : FirstColumn(i - 1);
    const int64_t above_end = i == 1 ? 0 : EndColumn(i - 1);
    for (int64_t j = first; j < end; ++j) {
      const Cell up = j >= above_first && j < above_end ? above_row[j]
                      : i == 1                          ? At(above, 0, j)
                                                        : Cell();
      Cell cell;
      if (j == 0) {
        cell = {up.cost + 1, Edit::kDelete};
      } else {
        const bool same = word == reference_[static_cast<size_t>(j - 1)];
        const Cell ways[] = {
            {diagonal.cost + (same ? 0 : 1), same ? Edit::kNone : Edit::kSubstitute},
            {up.cost + 1, Edit::kDelete},
            {left.cost + 1, Edit::kInsert}};
        for (const Cell& way : ways) {
          if (cell.cost > way.cost) cell = way;
        }
      }
      row[j] = left = cell;
      diagonal = up;
    }
  }

  const Symbols& reference_;
  int64_t rows_, columns_;
  double ratio_;
  int64_t beam_, width_;
  Matrix base_, variant_;
};

// Where hypothesis and reference differ, and the hypothesis word that stands for each reference
// word (-1: before the first).
struct Alignment {
  std::vector<int64_t> of_reference;
  std::vector<bool> reference_wrong, hypothesis_wrong;

  explicit Alignment(const std::vector<Edit>& trace) {
    int64_t hypothesis = -1;
    for (const Edit edit : trace) {
      const bool wrong = edit != Edit::kNone;
      if (edit != Edit::kInsert) {
        ++hypothesis;
        hypothesis_wrong.push_back(wrong);
      }
      if (edit != Edit::kDelete) {
        of_reference.push_back(hypothesis);
        reference_wrong.push_back(wrong);
      }
    }
  }
};

bool AnyOf(const std::vector<bool>& flags, int64_t start, int64_t length) {
  return std::find(flags.begin() + start, flags.begin() + start + length, true) !=
         flags.begin() + start + length;
}

// The words with `length` of them, from `start`, moved before position `target`. A target inside
// the group moves it on by as many words as the target lies behind its start.
Symbols Shift(const Symbols& words, int64_t start, int64_t length, int64_t target) {
  Symbols shifted = words;
  const auto begin = shifted.begin();
  if (target < start) {
    std::rotate(begin + target, begin + start, begin + start + length);
  } else {
    const int64_t end = target > start + length ? target : target + length;
    std::rotate(begin + start, begin + start + length,
                begin + std::min(end, static_cast<int64_t>(words.size())));
  }
  return shifted;
}

class ShiftSearch {
 public:
  ShiftSearch(const Symbols& hypothesis, const Symbols& reference)
      : words_(hypothesis), reference_(reference), distance_(hypothesis.size(), reference) {}

  // Takes the best shift until none helps.
  int64_t Run() {
    int64_t shifts = 0;
    while (true) {
      base_cost_ = distance_.SetBase(words_);
      best_ = {};
      TryShifts(Alignment(distance_.Trace()));
      const bool helps = best_.found && std::get<0>(best_.rank) > 0;
      if (candidates_ >= kMaxCandidates || !helps) return shifts + base_cost_;
      ++shifts;
      words_ = best_.words;
    }
  }

 private:
  // Saving, length, then the earliest source and target.
  using Rank = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  struct Best {
    bool found = false;
    Rank rank;
    Symbols words;
  };

  // Every group of words that stands in both texts, not too far apart.
  void TryShifts(const Alignment& alignment) {
    const auto hypothesis_length = static_cast<int64_t>(words_.size());
    const auto reference_length = static_cast<int64_t>(reference_.size());
    for (int64_t h = 0; h < hypothesis_length; ++h) {
      const int64_t end = std::min(reference_length, h + kMaxShiftDistance + 1);
      for (int64_t r = std::max<int64_t>(0, h - kMaxShiftDistance); r < end; ++r) {
        const int64_t longest =
            std::min({kMaxShiftLength, hypothesis_length - h, reference_length - r});
        for (int64_t length = 1; length <= longest; ++length) {
          if (words_[static_cast<size_t>(h + length - 1)] !=
              reference_[static_cast<size_t>(r + length - 1)]) {
            break;
          }
          TryTargets(alignment, h, r, length);
          if (candidates_ >= kMaxCandidates) return;
        }
      }
    }
  }

  // Both sides must be wrong where they stand, and the group must move out of its own place.
  void TryTargets(const Alignment& alignment, int64_t h, int64_t r, int64_t length) {
    if (!AnyOf(alignment.hypothesis_wrong, h, length)) return;
    if (!AnyOf(alignment.reference_wrong, r, length)) return;
    const int64_t aligned = alignment.of_reference[static_cast<size_t>(r)];
    if (h <= aligned && aligned < h + length) return;
    int64_t previous = -1;
    for (int64_t offset = -1; offset < length; ++offset) {
      const int64_t position = r + offset;
      const int64_t target =
          position < 0 ? 0 : alignment.of_reference[static_cast<size_t>(position)] + 1;
      if (target == previous) continue;
      previous = target;
      Symbols shifted = Shift(words_, h, length, target);
      const int64_t cost = distance_.DistanceOfVariant(shifted, std::min(h, target));
      ++candidates_;
      const Rank rank = {base_cost_ - cost, length, -h, -target};
      if (!best_.found || rank > best_.rank) best_ = {true, rank, std::move(shifted)};
    }
  }

  Symbols words_;
  const Symbols& reference_;
  BeamEditDistance distance_;
  int64_t base_cost_ = 0;
  int64_t candidates_ = 0;
  Best best_;
};

}  // namespace

int64_t TerEdits(const Symbols& hypothesis, const Symbols& reference) {
  if (reference.empty()) return static_cast<int64_t>(hypothesis.size());
  return ShiftSearch(hypothesis, reference).Run();
}

}  // namespace attend
