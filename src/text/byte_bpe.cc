#include "text/byte_bpe.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <queue>
#include <tuple>

namespace attend {
namespace {

constexpr bool SpellsItself(uint32_t character) {
  return (character >= 0x21 && character <= 0x7E) || (character >= 0xA1 && character <= 0xAC) ||
         (character >= 0xAE && character <= 0xFF);
}

// The byte that each character below 0x144 spells; -1 where it spells none. Bytes that are not
// printed are spelled by the characters from 0x100 on.
constexpr uint32_t kSpellings = 0x144;
constexpr std::array<int32_t, kSpellings> MakeSpelled() {
  std::array<int32_t, kSpellings> spelled = {};
  uint32_t next = 0x100;
  spelled.fill(-1);
  for (int32_t byte = 0; byte < 256; ++byte) {
    const auto itself = static_cast<uint32_t>(byte);
    spelled[SpellsItself(itself) ? itself : next++] = byte;
  }
  return spelled;
}
constexpr std::array<int32_t, kSpellings> kSpelled = MakeSpelled();

}  // namespace

std::optional<std::string> BytesOfToken(std::string_view token) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    UChar32 character = 0;
    U8_NEXT(token.data(), at, token.size(), character);
    const auto point = static_cast<uint32_t>(character);
    if (point >= kSpellings || kSpelled[point] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(kSpelled[point]));
  }
  return bytes;
}

// The merges of one word.
class ByteBpe::Cutter {
 public:
  Cutter(const ByteBpe& model, std::string_view word) : model_(model) {
    bool after_unknown = false;
    symbols_.reserve(word.size());
    for (size_t at = 0; at < word.size(); ++at) {
      const int32_t id = model.ids_[static_cast<uint8_t>(word[at])];
      const bool unknown = id < 0;
      const bool left_out = unknown && (model.unk_ < 0 || (after_unknown && model.fuse_unknown_));
      if (!left_out) symbols_.push_back({unknown ? model.unk_ : id, at});
      after_unknown = unknown;
    }
    for (size_t i = 0; i < symbols_.size(); ++i) {
      symbols_[i].previous = i - 1;  // kNone for the first
      symbols_[i].next = i + 1;
    }
  }

  // Each merge is left out for once with the probability `dropout`.
  void Merge(double dropout, Random* random) {
    for (size_t i = 0; i + 1 < symbols_.size(); ++i) Consider(i);
    std::vector<Candidate> left_out;
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      if (dropout > 0 && random->Uniform() < dropout) {
        left_out.push_back(best);
        continue;
      }
      for (const Candidate& candidate : left_out) queue_.push(candidate);
      left_out.clear();
      Apply(best);
    }
  }

  void Append(std::vector<PlacedToken>* tokens) const {
    for (size_t i = 0; i < symbols_.size(); i = symbols_[i].next)
      tokens->push_back({symbols_[i].id, symbols_[i].begin});
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr int32_t kJoined = -1;  // the id of what another one took in

  struct Symbol {
    int32_t id = 0;
    size_t begin = 0;  // in the word
    size_t previous = 0, next = 0;
  };

  // Two symbols that may be joined: the one at `at` and the next one.
  struct Candidate {
    uint32_t rank = 0;
    int32_t joined = 0;
    size_t at = 0;
    // The queue's top is its largest: the lowest rank, of equal ones the first.
    bool operator<(const Candidate& other) const {
      return std::tie(rank, at) > std::tie(other.rank, other.at);
    }
  };

  const Joint* JointAt(size_t at) const {
    const Symbol& left = symbols_[at];
    if (left.id == kJoined || left.next >= symbols_.size()) return nullptr;
    return model_.Find(left.id, symbols_[left.next].id);
  }

  void Consider(size_t at) {
    if (const Joint* joint = JointAt(at)) queue_.push({joint->rank, joint->joined, at});
  }

  void Apply(const Candidate& candidate) {
    const Joint* joint = JointAt(candidate.at);
    if (joint == nullptr || joint->joined != candidate.joined) return;  // joined with another
    Symbol& left = symbols_[candidate.at];
    Symbol& right = symbols_[left.next];
    left.id = candidate.joined;
    left.next = right.next;
    right.id = kJoined;
    if (left.next < symbols_.size()) symbols_[left.next].previous = candidate.at;
    if (left.previous != kNone) Consider(left.previous);
    Consider(candidate.at);
  }

  const ByteBpe& model_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> queue_;
};

ByteBpe::ByteBpe(std::span<const std::string> tokens, const ByteBpeOptions& options)
    : unk_(options.unk), fuse_unknown_(options.fuse_unknown) {
  ids_.fill(-1);
  std::vector<std::pair<std::string, int32_t>> words;
  for (size_t id = 0; id < tokens.size(); ++id) {
    std::optional<std::string> bytes = BytesOfToken(tokens[id]);
    if (!bytes || bytes->empty()) continue;
    if (bytes->size() == 1) ids_[static_cast<uint8_t>(bytes->front())] = static_cast<int32_t>(id);
    words.emplace_back(std::move(*bytes), static_cast<int32_t>(id));
  }
  MakeJoints(options.merges, tokens.size());
  std::vector<std::pair<std::string_view, int32_t>> whole;
  std::vector<PlacedToken> cut;
  for (const auto& [bytes, id] : words) {
    cut.clear();
    if (!options.ignore_merges) Encode(bytes, &cut);
    if (options.ignore_merges || (cut.size() == 1 && cut[0].id == id))
      whole.emplace_back(bytes, id);
  }
  words_ = ByteTrie(std::move(whole));
}

// Of merges of equal tokens the last one counts.
void ByteBpe::MakeJoints(std::span<const ByteBpeOptions::Merge> merges, size_t tokens) {
  std::vector<size_t> order(merges.size());
  for (size_t rank = 0; rank < order.size(); ++rank) order[rank] = rank;
  const auto key = [&](size_t rank) { return std::pair(merges[rank].left, merges[rank].right); };
  std::ranges::stable_sort(order, {}, key);
  joint_end_.assign(tokens, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i + 1 < order.size() && key(order[i]) == key(order[i + 1])) continue;
    const ByteBpeOptions::Merge& merge = merges[order[i]];
    joints_.push_back({merge.right, static_cast<uint32_t>(order[i]), merge.joined});
    joint_end_[merge.left] = joints_.size();
  }
  for (size_t left = 1; left < tokens; ++left)
    joint_end_[left] = std::max(joint_end_[left], joint_end_[left - 1]);
}

const ByteBpe::Joint* ByteBpe::Find(int32_t left, int32_t right) const {
  const auto begin = joints_.begin() + static_cast<int64_t>(left == 0 ? 0 : joint_end_[left - 1]);
  const auto end = joints_.begin() + static_cast<int64_t>(joint_end_[left]);
  const auto found = std::ranges::lower_bound(begin, end, right, {}, &Joint::right);
  return found == end || found->right != right ? nullptr : &*found;
}

void ByteBpe::Encode(std::string_view word, std::vector<PlacedToken>* tokens) const {
  if (const int32_t id = words_.Find(word); id >= 0) return tokens->push_back({id, 0});
  Cutter cutter(*this, word);
  cutter.Merge(0, nullptr);
  cutter.Append(tokens);
}

void ByteBpe::Sample(std::string_view word, double strength, Random* random,
                     std::vector<PlacedToken>* tokens) const {
  Cutter cutter(*this, word);
  cutter.Merge(strength, random);
  cutter.Append(tokens);
}

std::vector<std::string> ByteBpe::Unknown(std::string_view word) const {
  std::vector<std::string> texts;
  size_t last_end = SIZE_MAX;
  for (size_t at = 0; at < word.size();) {
    const size_t begin = at;
    bool known = true;
    do {
      known = known && ids_[static_cast<uint8_t>(word[at])] >= 0;
      ++at;
    } while (at < word.size() && U8_IS_TRAIL(word[at]));
    if (known) continue;
    if (last_end != begin) texts.emplace_back();
    texts.back() += word.substr(begin, at - begin);
    last_end = at;
  }
  return texts;
}

}  // namespace attend
