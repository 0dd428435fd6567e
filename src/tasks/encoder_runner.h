// Texts or pictures through an encoder: what its head says of them, or their vectors.
#ifndef ATTEND_TASKS_ENCODER_RUNNER_H_
#define ATTEND_TASKS_ENCODER_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/loaded_model.h"
#include "base/per_process.h"
#include "base/work_pool.h"
#include "engine/activations.h"
#include "engine/stacks/fused_input.h"
#include "tasks/loaded_model.h"

namespace attend {

// As a model reads a text, and the rows whose labels are wanted, rising. Empty: the whole text is
// labelled.
struct EncoderInput {
  std::vector<int32_t> ids;  // bos and eos included
  std::vector<int32_t> rows;
  std::vector<float> numbers = {};  // in place of ids: patches of a picture
  std::vector<int32_t> nodes = {};  // of a joint encoder, beside both
};

// Tokens of a text that the model can read beside bos and eos: at most 8,192 where positions have
// no end, since time grows with the square.
int64_t MaxEncoderTokens(const ModelConfig& config);

// The ids that a model with a head of labels reads of a text; where it labels words, these are what
// blanks divide, and the ids of the first part (EncodeWords).
std::vector<int32_t> ReadLabelled(const ModelConfig& config, const Vocabulary& vocabulary,
                                  const std::string& text);

// Immutable; safe to use from many threads.
class EncoderRunner {
 public:
  // 0 threads: one for each processor; 1: none but the caller's, so that callers run side by side.
  // Throws Error(kUsage) for a model that is not an encoder alone.
  EncoderRunner(std::shared_ptr<const LoadedModel> loaded, int threads);
  // The same for a model of this task alone, with a head that says something of tokens or of texts.
  // Throws Error(kInput) for another head, Error(kUsage) for a model of texts without vocabulary.
  struct Purpose {
    const char* task;
    HeadKind head;
    bool of_tokens;
  };
  EncoderRunner(std::shared_ptr<const LoadedModel> loaded, const Purpose& purpose, int threads);

  static void CheckPurpose(const ModelConfig& config, const Purpose& purpose);

  const LoadedModel& loaded() const { return *loaded_; }
  int64_t max_tokens() const { return MaxEncoderTokens(loaded_->config()); }
  const std::vector<std::string>& labels() const { return loaded_->config().labels; }

  // Gets the rows of an input one after another, those of other inputs at the same time from other
  // threads. A row is gone when it returns.
  using TakeRow = std::function<void(size_t input, std::span<const float> row)>;
  // A row [L], or [V] of a vocabulary, for each wanted row of the inputs. Throws Error(kRuntime)
  // for numbers that are not finite, and once `stop` is set.
  void Run(std::span<const EncoderInput> inputs, const TakeRow& take,
           const std::atomic<bool>* stop = nullptr) const;
  // The vectors that texts, or pictures, of a model of items have in the space that both share.
  // Preconditions: the model has a shared_width, and every input has that part.
  void SharedVectors(std::span<const EncoderInput> inputs, FusedInput::Part part,
                     const TakeRow& take, const std::atomic<bool>* stop = nullptr) const;
  // The texts' vectors [D]; the inputs' rows are not read. Precondition: not Pooling::kTokens.
  void Vectors(std::span<const EncoderInput> inputs, Pooling pooling, const TakeRow& take,
               const std::atomic<bool>* stop = nullptr) const;

 private:
  // What batches run on.
  class Threads {
   public:
    explicit Threads(int threads);
    int size() const { return pool_ ? pool_->size() : 1; }
    // Throws what `body` throws.
    void ForEach(int64_t tasks,
                 const std::function<void(int64_t task, Activations* activations)>& body);

   private:
    std::optional<WorkPool> pool_;          // none: each call runs on its caller's thread
    std::vector<Activations> activations_;  // by worker of the pool
    std::mutex mutex_;
    std::vector<std::unique_ptr<Activations>> idle_;  // of callers
  };

  // What a batch of inputs comes to: floats of each wanted row
  // in `found`, and how many rows each input wants.
  struct Rows {
    const float* found;
    int64_t width;
    std::vector<int64_t> counts;
  };
  struct Batch {
    std::span<const int64_t> inputs;     // their numbers
    std::span<const EncoderItem> items;  // the same as the encoder reads them
  };
  using Answer = std::function<Rows(const Batch& batch, Activations* activations)>;
  void RunAll(std::span<const EncoderInput> inputs, const Answer& answer, const TakeRow& take,
              const std::atomic<bool>* stop) const;
  Rows HeadOf(std::span<const EncoderInput> inputs, std::span<const int64_t> batch,
              Activations* activations) const;

  std::shared_ptr<const LoadedModel> loaded_;
  PerProcess<Threads> threads_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_ENCODER_RUNNER_H_
