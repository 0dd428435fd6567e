#include "tasks/transcription/suppressed_tokens.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace attend {
namespace {

struct Lists {
  std::vector<int32_t> first, later;  // what may not come
  bool may_begin_with_eos = true, may_end = true;
};

// State 0 stands before the first token, state 1 after it.
class SuppressingGuide : public OutputGuide {
 public:
  explicit SuppressingGuide(const Lists& lists) : lists_(lists) {}

  int32_t Next(int32_t /*state*/, int32_t /*token*/) override { return 1; }
  std::span<const int32_t> Never(int32_t state) const override {
    return state == 0 ? lists_.first : lists_.later;
  }
  bool MayEnd(int32_t state) const override {
    return state == 0 ? lists_.may_begin_with_eos : lists_.may_end;
  }
  int32_t SourceRow(int32_t /*state*/) const override { return -1; }

 private:
  const Lists& lists_;
};

class SuppressingRules : public OutputRules {
 public:
  explicit SuppressingRules(Lists lists) : lists_(std::move(lists)) {}
  std::unique_ptr<OutputGuide> Begin() const override {
    return std::make_unique<SuppressingGuide>(lists_);
  }

 private:
  const Lists lists_;
};

}  // namespace

std::shared_ptr<const OutputRules> SuppressedTokens(const ModelConfig& config) {
  const std::vector<int64_t>& always = config.suppress_tokens;
  const std::vector<int64_t>& begin = config.begin_suppress_tokens;
  if (always.empty() && begin.empty()) return nullptr;
  Lists lists;
  lists.later.assign(always.begin(), always.end());
  lists.first = lists.later;
  lists.first.insert(lists.first.end(), begin.begin(), begin.end());
  const auto eos = static_cast<int32_t>(config.special_ids.eos);
  const auto has_eos = [eos](const std::vector<int32_t>& ids) {
    return std::ranges::find(ids, eos) != ids.end();
  };
  lists.may_begin_with_eos = !has_eos(lists.first);
  lists.may_end = !has_eos(lists.later);
  return std::make_shared<SuppressingRules>(std::move(lists));
}

}  // namespace attend
