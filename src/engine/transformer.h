// A whole model ready to run: weights packed for the active instruction set.
#ifndef ATTEND_ENGINE_TRANSFORMER_H_
#define ATTEND_ENGINE_TRANSFORMER_H_

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/stacks/decoder.h"
#include "engine/stacks/encoder.h"
#include "model/model_directory.h"
#include "model/shortlist.h"
#include "search/stepper.h"

namespace attend {

// The output layer's columns that one sentence may use.
struct ShortHead {
  std::vector<int32_t> columns;  // rising
  PackedMemory memory{0};
  Linear product;
};

// Memory of one thread's run; keeps what it grew to.
struct Workspace {
  PositionTable encoder_positions, decoder_positions;
  Scratch scratch;
  DecoderState state;
  Buffer memory_SD, hidden_RD, logits;
  std::vector<std::span<const int32_t>> sources;
  std::vector<NewSource> new_sources;
  std::vector<DecoderRow> rows;
  std::vector<float> top_values;
  std::vector<int32_t> top_ids;
  std::vector<TopK> top;
  std::vector<float> wanted;
  std::vector<ShortHead> short_heads;  // by place; with a shortlist
  std::vector<int32_t> forbidden;      // of one row, as columns
  std::vector<float> also;             // logits of NextToken::also, row by row
  std::vector<int64_t> also_first;     // where a row's begin
};

// What is asked about the token that follows a row.
struct NextToken {
  int32_t wanted = -1;                 // its log-probability alone; -1: the best
  std::span<const int32_t> forbidden;  // not among the best
  // false: the wanted or the best one's log-probability is given as 0, the others' as so much less
  bool scored = true;
  // Their log-probabilities stand before those of the best, which are so many fewer.
  std::span<const int32_t> also = {};
};

// Immutable; safe to use from many threads, each with a Workspace of its own.
class Transformer {
 public:
  // `instruction_set` as for SelectKernels. Throws Error(kUsage) for a model without decoder or
  // vocabulary head, Error(kInput) for weights of a type it does not know.
  // With a shortlist the best tokens of a sentence come from its columns of the output layer, and
  // their probabilities are among those.
  explicit Transformer(std::shared_ptr<const Model> model, const std::string& instruction_set = "",
                       std::shared_ptr<const Shortlist> shortlist = nullptr);

  const ModelConfig& config() const { return model_->config; }
  const KernelTable& kernels() const { return kernels_; }

  // Forgets everything; see Stepper.
  void Reset(int64_t beam_size, Workspace* workspace) const;
  // Encodes sentences (nothing of them for a model without encoder) into their places.
  void Start(std::span<const NewSentence> sentences, const Sinks& sinks,
             Workspace* workspace) const;
  // With a shortlist: makes the columns that searches of these sentences choose from.
  void SelectColumns(std::span<const NewSentence> sentences, Workspace* workspace) const;
  // Reset and Start of these sources alone, one hypothesis each: source i in slot i.
  void StartAll(std::span<const std::vector<int32_t>> sources, const Sinks& sinks,
                Workspace* workspace) const;
  // Runs workspace->rows through the decoder; [rows, D] is in hidden_RD.
  void Decode(const Sinks& sinks, Workspace* workspace) const;
  // Answers for the rows last decoded: best[row * k ...], k 0 where each row wants one token.
  // Logits are made in blocks of columns and never stand whole, but where a team shares a product.
  void Predict(int64_t k, std::span<const NextToken> asked, Workspace* workspace,
               Candidate* best) const;
  // All logits [rows, V] of the rows last decoded.
  void Logits(Workspace* workspace, float* logits_RV) const;

 private:
  // Rows [first, first + count) of those last decoded, over one set of columns.
  struct RowGroup {
    int64_t first = 0, count = 0;
    const ShortHead* head = nullptr;  // null: the whole vocabulary
  };
  void SelectColumnsFor(const NewSentence& sentence, ShortHead* head) const;
  RowGroup GroupAt(int64_t first, std::span<const NextToken> asked,
                   const Workspace& workspace) const;
  // Takes the logits of the columns from `first` on, of one row, into top and wanted.
  void TakeLogits(std::span<const float> logits, int64_t first, const NextToken& asked,
                  const ShortHead* head, int64_t row, Workspace* workspace) const;
  // The same of all columns of a group.
  void PredictGroup(const RowGroup& group, const Linear::Input& hidden_RD,
                    std::span<const NextToken> asked, Workspace* workspace) const;

  std::shared_ptr<const Model> model_;
  std::shared_ptr<const Shortlist> shortlist_;
  const KernelTable& kernels_;
  PackedMemory packed_;
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
  Linear head_;
};

// A Transformer as searches see it. The transformer and workspace must outlive it.
class TransformerStepper : public Stepper {
 public:
  TransformerStepper(const Transformer* transformer, Workspace* workspace);

  void Reset(int64_t beam_size) override;
  void Start(std::span<const NewSentence> sentences) override;
  void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) override;
  void Reorder(int64_t place, std::span<const int32_t> parents) override;

 private:
  const Transformer* transformer_;
  // unk first, eos last: rows that may have them leave them out.
  std::array<int32_t, 4> forbidden_;
  Workspace* workspace_;
  std::vector<NextToken> asked_;
  std::vector<std::vector<int32_t>> never_;  // forbidden to rows that have their own
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_H_
