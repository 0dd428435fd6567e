// Writes on from prompts, and scores texts, with a language model.
//
// A Generator is immutable and safe to use from many threads, as a Translator is. A prompt always
// gives the same text, bit for bit: what else is generated and the number of threads change
// nothing, and all that is drawn at random follows from the seed and the prompt.
#ifndef ATTEND_GENERATOR_H_
#define ATTEND_GENERATOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/loaded_model.h"

namespace attend {

struct GeneratorOptions {
  int threads = 0;  // 0: one for each processor
  WeightType type = WeightType::kStored;
  std::string instruction_set;  // empty: what ATTEND_ISA names, or the best of the machine
};

struct GenerationOptions {
  int64_t n = 1;             // outputs for each prompt
  int64_t max_tokens = 256;  // of an output; learned positions may end it before
  int64_t min_tokens = 0;    // before the end of the text
  // An output ends before the first of these texts. Not with a beam.
  std::vector<std::string> stop;
  // Each rule narrows what those before it leave.
  double repetition_penalty = 1;
  double temperature = 1;  // at least 0.01; 0: always the likeliest token
  int64_t top_k = 0;       // 0: all
  double top_p = 1;
  double min_p = 0;
  int64_t seed = 1;
  // Above 1: beam search for the likeliest outputs; nothing is drawn.
  int64_t beam_size = 1;
  double length_penalty = 0.6;  // of a beam, as TranslationOptions has it
  bool allow_unknown = false;   // outputs may contain the unknown token
  // Prompts of the call that run together on a thread at most, and the tokens of prompts and
  // outputs, max_tokens for each output. One prompt always runs.
  int64_t batch_sentences = 1024;
  int64_t batch_tokens = 65536;
  // Where another thread sets it, the call ends after a step with Error(kRuntime).
  const std::atomic<bool>* stop_call = nullptr;
};

enum class Ending {
  kText,    // the model ended the text
  kStop,    // one of the stop texts came
  kLength,  // cut off
};

struct Generation {
  std::string text;          // what follows the prompt; empty for a model without vocabulary
  std::vector<int32_t> ids;  // with those of the stop text
  // Natural, of each id and of the end where the model chose it, as the model gives them: neither
  // temperature nor penalty nor what was left out changes them.
  std::vector<double> token_log_probabilities;
  double log_probability = 0;  // their sum
  Ending ending = Ending::kLength;
};

// A piece of an output as it comes. The pieces of an output together are its text.
struct GeneratedPiece {
  int64_t prompt = 0;  // of the call, from 0
  int64_t output = 0;  // of the prompt, from 0
  std::string text;
};
// Called from any thread, one call at a time.
using PieceSink = std::function<void(const GeneratedPiece& piece)>;

struct TextScoreOptions {
  // Tokens that the model sees at once, bos included; 0: all of a text, or as many as learned
  // positions reach. A longer text is read in windows, each with bos in place of its first token.
  int64_t window = 0;
  // By how many tokens a window moves on: those are scored, after window - stride tokens of
  // context. 0: half a window.
  int64_t stride = 0;
  bool end = true;              // the end of a text is scored as a token of it
  int64_t batch_tokens = 2048;  // that run together on a thread
  // Where another thread sets it, the call ends after a batch with Error(kRuntime).
  const std::atomic<bool>* stop = nullptr;
};

struct TextScore {
  double log_probability = 0;                   // natural, of the whole text
  std::vector<double> token_log_probabilities;  // of each token, then of the end
};

class Generator {
 public:
  // Throws Error(kInput) for a file that can't be read, Error(kUsage) for a model of another task.
  static std::unique_ptr<Generator> Load(const std::string& directory,
                                         const GeneratorOptions& options = {});
  Generator(std::shared_ptr<const Model> model, const GeneratorOptions& options);
  // The type and instruction set are those that the model was loaded with.
  Generator(std::shared_ptr<const LoadedModel> loaded, int threads);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // `n` outputs for each prompt, in order: drawn ones by number, a beam's the best first. An empty
  // prompt is a text's beginning. Throws Error(kUsage) for invalid options or a model without
  // vocabulary, Error(kInput) for a prompt that leaves no learned position.
  std::vector<std::vector<Generation>> Generate(std::span<const std::string> prompts,
                                                const GenerationOptions& options = {},
                                                const PieceSink& sink = nullptr) const;
  // The same from ids, without bos. Stop texts need a vocabulary.
  std::vector<std::vector<Generation>> GenerateIds(std::span<const std::vector<int32_t>> prompts,
                                                   const GenerationOptions& options = {},
                                                   const PieceSink& sink = nullptr) const;

  // Of each text. Throws Error(kUsage) for invalid options.
  std::vector<TextScore> Score(std::span<const std::string> texts,
                               const TextScoreOptions& options = {}) const;
  std::vector<TextScore> ScoreIds(std::span<const std::vector<int32_t>> texts,
                                  const TextScoreOptions& options = {}) const;

  // Ids of a text, without bos and eos.
  std::vector<int32_t> Encode(const std::string& text) const;
  // The most tokens of a prompt that leave room for one more.
  int64_t max_prompt_tokens() const;
  std::string instruction_set() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_GENERATOR_H_
