// Special tokens that no output has.
#ifndef ATTEND_SEARCH_FORBIDDEN_TOKENS_H_
#define ATTEND_SEARCH_FORBIDDEN_TOKENS_H_

#include <array>
#include <cstdint>
#include <span>

#include "attend/model_config.h"
#include "search/stepper.h"

namespace attend {

class ForbiddenTokens {
 public:
  // A token that is eos too may end an output.
  explicit ForbiddenTokens(const SpecialIds& ids)
      : tokens_{Unless(ids.unk, ids.eos), Unless(ids.pad, ids.eos), Unless(ids.bos, ids.eos),
                static_cast<int32_t>(ids.eos)} {}
  // After this row, beside row.never; -1 stands for none.
  std::span<const int32_t> After(const StepRow& row) const {
    const size_t first = row.may_be_unknown ? 1 : 0, last = tokens_.size() - (row.may_end ? 1 : 0);
    return std::span<const int32_t>(tokens_).subspan(first, last - first);
  }

 private:
  static int32_t Unless(int64_t id, int64_t eos) {
    return static_cast<int32_t>(id == eos ? -1 : id);
  }

  std::array<int32_t, 4> tokens_;  // unk first, eos last: rows that may have them leave them out
};

}  // namespace attend

#endif  // ATTEND_SEARCH_FORBIDDEN_TOKENS_H_
