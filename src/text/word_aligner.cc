#include "text/word_aligner.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <set>

namespace attend {
namespace {

// Dyer et al. 2013: how much the diagonal counts, the share of words that come from none, and the
// Dirichlet prior of translations.
constexpr double kDiagonal = 4, kNone = 0.08, kPrior = 0.01;
constexpr size_t kMostUnsorted = size_t{1} << 24;

uint64_t KeyOf(int32_t source, int32_t target) {
  return static_cast<uint64_t>(source) << 32 | static_cast<uint32_t>(target);
}

// Rising, each once.
void Merge(std::vector<uint64_t>* fresh, std::vector<uint64_t>* known) {
  std::ranges::sort(*fresh);
  fresh->erase(std::unique(fresh->begin(), fresh->end()), fresh->end());
  std::vector<uint64_t> merged;
  std::ranges::set_union(*known, *fresh, std::back_inserter(merged));
  *known = std::move(merged);
  fresh->clear();
}

// How likely each place of a source is for the target word at `place`, their sum 1.
void DiagonalPrior(int64_t place, int64_t targets, std::vector<double>* prior) {
  const auto sources = static_cast<double>(prior->size());
  const double at = static_cast<double>(place + 1) / static_cast<double>(targets);
  double sum = 0;
  for (size_t i = 0; i < prior->size(); ++i) {
    (*prior)[i] = std::exp(-kDiagonal * std::abs(at - static_cast<double>(i + 1) / sources));
    sum += (*prior)[i];
  }
  for (double& each : *prior) each /= sum;
}

}  // namespace

DirectedAligner::DirectedAligner(std::span<const WordPair> pairs) : pairs_(pairs) {
  std::vector<uint64_t> fresh, keys;
  int32_t most = 0;
  for (const WordPair& pair : pairs) {
    for (const int32_t target : pair.target) {
      fresh.push_back(KeyOf(0, target));
      for (const int32_t source : pair.source) fresh.push_back(KeyOf(source, target));
    }
    for (const int32_t source : pair.source) most = std::max(most, source);
    if (fresh.size() >= kMostUnsorted) Merge(&fresh, &keys);
  }
  Merge(&fresh, &keys);
  begins_.assign(most + 2, 0);
  targets_.reserve(keys.size());
  for (const uint64_t key : keys) {
    ++begins_[(key >> 32) + 1];
    targets_.push_back(static_cast<int32_t>(key));
  }
  for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  probabilities_.assign(targets_.size(), 1);
}

int64_t DirectedAligner::PlaceOf(int32_t source, int32_t target) const {
  if (source + 1 >= std::ssize(begins_)) return -1;
  const auto begin = targets_.begin() + begins_[source],
             end = targets_.begin() + begins_[source + 1];
  const auto found = std::lower_bound(begin, end, target);
  return found != end && *found == target ? found - targets_.begin() : -1;
}

double DirectedAligner::Probability(int32_t source, int32_t target) const {
  const int64_t place = PlaceOf(source, target);
  return place < 0 ? 0 : probabilities_[place];
}

void DirectedAligner::Weigh(const WordPair& pair, int64_t place, Origins* origins) const {
  const int32_t target = pair.target[place];
  std::vector<double> prior(pair.source.size());
  DiagonalPrior(place, std::ssize(pair.target), &prior);
  origins->places.clear();
  origins->weights.clear();
  const auto add = [&](int32_t source, double share) {
    const int64_t found = PlaceOf(source, target);
    origins->places.push_back(found);
    origins->weights.push_back(share * (found < 0 ? 0 : probabilities_[found]));
  };
  add(0, kNone);
  for (size_t i = 0; i < prior.size(); ++i) add(pair.source[i], (1 - kNone) * prior[i]);
}

void DirectedAligner::Expect(const WordPair& pair, std::vector<double>* counts) const {
  Origins origins;
  for (int64_t place = 0; place < std::ssize(pair.target); ++place) {
    Weigh(pair, place, &origins);
    double sum = 0;
    for (const double weight : origins.weights) sum += weight;
    if (sum <= 0) continue;
    for (size_t i = 0; i < origins.places.size(); ++i)
      (*counts)[origins.places[i]] += origins.weights[i] / sum;
  }
}

void DirectedAligner::Maximize(const std::vector<double>& counts) {
  for (size_t source = 0; source + 1 < begins_.size(); ++source) {
    double total = 0;
    for (int64_t i = begins_[source]; i < begins_[source + 1]; ++i) total += counts[i] + kPrior;
    if (total <= 0) continue;
    const double whole = boost::math::digamma(total);
    for (int64_t i = begins_[source]; i < begins_[source + 1]; ++i)
      probabilities_[i] = std::exp(boost::math::digamma(counts[i] + kPrior) - whole);
  }
}

void DirectedAligner::Train(int64_t iterations) {
  for (int64_t i = 0; i < iterations; ++i) {
    std::vector<double> counts(targets_.size());
    for (const WordPair& pair : pairs_) Expect(pair, &counts);
    Maximize(counts);
  }
}

std::vector<int32_t> DirectedAligner::Align(const WordPair& pair) const {
  std::vector<int32_t> best;
  Origins origins;
  for (int64_t place = 0; place < std::ssize(pair.target); ++place) {
    Weigh(pair, place, &origins);
    const auto likeliest = std::ranges::max_element(origins.weights) - origins.weights.begin();
    best.push_back(static_cast<int32_t>(likeliest) - 1);
  }
  return best;
}

namespace {

class Joining {
 public:
  Joining(std::span<const int32_t> forward, std::span<const int32_t> backward)
      : has_source_(backward.size()), has_target_(forward.size()) {
    for (int32_t t = 0; t < std::ssize(forward); ++t)
      if (forward[t] >= 0) either_.emplace(forward[t], t);
    for (int32_t s = 0; s < std::ssize(backward); ++s) {
      if (backward[s] < 0) continue;
      if (either_.contains({s, backward[s]})) Add(s, backward[s]);
      either_.emplace(s, backward[s]);
    }
  }

  // Neighbours of links, those across corners included, of words of which one has no link yet.
  void Grow() {
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto& [s, t] : std::set(links_)) {
        for (int32_t i = -1; i <= 1; ++i) {
          for (int32_t j = -1; j <= 1; ++j) {
            const std::pair<int32_t, int32_t> next{s + i, t + j};
            if (links_.contains(next) || !either_.contains(next)) continue;
            if (has_source_[next.first] && has_target_[next.second]) continue;
            Add(next.first, next.second);
            grew = true;
          }
        }
      }
    }
  }

  // Links of words that both have none.
  void AddLonely() {
    for (const auto& [s, t] : either_)
      if (!has_source_[s] && !has_target_[t]) Add(s, t);
  }

  WordLinks links() const { return {links_.begin(), links_.end()}; }

 private:
  void Add(int32_t source, int32_t target) {
    links_.emplace(source, target);
    has_source_[source] = has_target_[target] = true;
  }

  std::set<std::pair<int32_t, int32_t>> either_, links_;
  std::vector<bool> has_source_, has_target_;
};

}  // namespace

WordLinks JoinDirections(std::span<const int32_t> forward, std::span<const int32_t> backward) {
  Joining joining(forward, backward);
  joining.Grow();
  joining.AddLonely();
  return joining.links();
}

std::vector<WordLinks> LinkWords(std::vector<WordPair> pairs, int64_t iterations) {
  for (WordPair& pair : pairs)
    if (std::ssize(pair.source) > kMostAlignedWords || std::ssize(pair.target) > kMostAlignedWords)
      pair = {};
  std::vector<WordPair> turned;
  for (const WordPair& pair : pairs) turned.push_back({pair.target, pair.source});
  DirectedAligner forward(pairs), backward(turned);
  forward.Train(iterations);
  backward.Train(iterations);
  std::vector<WordLinks> links;
  for (size_t i = 0; i < pairs.size(); ++i)
    links.push_back(JoinDirections(forward.Align(pairs[i]), backward.Align(turned[i])));
  return links;
}

}  // namespace attend
