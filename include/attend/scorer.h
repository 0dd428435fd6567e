// Scores given translations with a model directory: log-probabilities, alignments, attention.
//
// Like a Translator, a Scorer is immutable, and calls share its threads. The result of a pair
// depends on that pair alone.
#ifndef ATTEND_SCORER_H_
#define ATTEND_SCORER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/translator.h"

namespace attend {

// Attention weights of one pair: [layers][heads][queries][keys], rows that sum to 1. Source keys
// and decoder rows are all that the model reads, the frames of ModelConfig included: such as eos
// after the source and bos before the target.
using AttentionWeights = std::vector<std::vector<std::vector<std::vector<float>>>>;

struct ScoreOptions {
  bool alignments = false;
  bool skip_too_long = false;   // a text beyond learned positions: an empty PairScore, no Error
  int64_t alignment_layer = 0;  // the decoder layer, from 1; 0: ModelConfig::AlignmentLayer()
  bool attention = false;
  int64_t batch_tokens = 2048;  // pieces that run together on a thread
  int64_t first_line = 1;       // the number that errors give the first pair
  // Where another thread sets it, the call ends after a batch with Error(kRuntime).
  const std::atomic<bool>* stop = nullptr;
};

struct PairScore {
  double log_probability = 0;                          // natural, of the whole output with its eos
  std::vector<double> token_log_probabilities;         // of each output piece, then of eos
  std::vector<AlignmentLink> alignment;                // with options.alignments
  AttentionWeights encoder_self, decoder_self, cross;  // with options.attention
};

class Scorer {
 public:
  static std::unique_ptr<Scorer> Load(const std::string& directory, int threads = 0);
  Scorer(std::shared_ptr<const Model> model, int threads, const std::string& instruction_set = "");
  Scorer(std::shared_ptr<const LoadedModel> loaded, int threads);
  ~Scorer();
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  // Throws Error(kUsage) where the lists' lengths differ or alignment_layer is none, Error(kInput)
  // for a text longer than learned positions reach, unless such pairs are skipped.
  std::vector<PairScore> Score(std::span<const std::string> sources,
                               std::span<const std::string> targets,
                               const ScoreOptions& options = {}) const;
  // Ids without bos and eos.
  std::vector<PairScore> ScoreIds(std::span<const std::vector<int32_t>> sources,
                                  std::span<const std::vector<int32_t>> targets,
                                  const ScoreOptions& options = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SCORER_H_
