#include "tasks/ensemble.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "attend/error.h"
#include "engine/ensemble_stepper.h"
#include "engine/model_stepper.h"
#include "tasks/translation/directions.h"
#include "text/target_order.h"

namespace attend {
namespace {

// A model beside the first one.
class FurtherStepper : public WholeStepper {
 public:
  FurtherStepper(const Weights* weights, const Activations* first)
      : first_(first), stepper_(weights, nullptr, &own_) {}

  void Reset(int64_t beam_size) override { stepper_.Reset(beam_size); }
  void Start(std::span<const NewSentence> sentences) override {
    TakeTeam();
    stepper_.Start(sentences);
  }
  void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) override {
    TakeTeam();
    stepper_.Step(rows, k, best);
  }
  void Reorder(int64_t sentence, std::span<const int32_t> parents) override {
    stepper_.Reorder(sentence, parents);
  }
  int64_t vocabulary_size() const override { return stepper_.vocabulary_size(); }
  void Read(std::span<const StepRow> rows) override {
    TakeTeam();
    stepper_.Read(rows);
  }
  void AllLogits(int64_t first, int64_t count, float* logits_CV, double* log_sums_C) override {
    TakeTeam();
    stepper_.AllLogits(first, count, logits_CV, log_sums_C);
  }

 private:
  void TakeTeam() { own_.scratch.linear.team = first_->scratch.linear.team; }

  const Activations* first_;
  Activations own_;
  ModelStepper stepper_;
};

[[noreturn]] void Refuse(const std::string& message) { throw Error(ErrorKind::kUsage, message); }

std::string Named(const std::string& text) { return text.empty() ? "none" : text; }

// `number`: of `other` among the models, from 1.
void CheckAlike(const LoadedModel& first, const LoadedModel& other, size_t number) {
  const auto refuse = [&](const std::string& what, const std::string& there,
                          const std::string& here) {
    Refuse(
        fmt::format("model {} has {} {}, expected {} as model 1 has; models that translate "
                    "together differ in their weights and sizes alone",
                    number, what, there, here));
  };
  const auto count = [&](const char* what, int64_t there, int64_t here) {
    if (there != here) refuse(what, std::to_string(there), std::to_string(here));
  };
  const ModelConfig &a = first.config(), &b = other.config();
  if (a.task != b.task) refuse("the task", b.task, a.task);
  CheckSameDirection(a, b, fmt::format("model {}", number));
  count("a source vocabulary of size", b.source_vocab_size, a.source_vocab_size);
  count("a target vocabulary of size", b.target_vocab_size, a.target_vocab_size);
  const Model &with_a = first.with_vocabularies(), &with_b = other.with_vocabularies();
  if (with_a.source_vocabulary != with_b.source_vocabulary)
    refuse("in its source vocabulary", "other pieces", "the same");
  if (with_a.target_vocabulary != with_b.target_vocabulary)
    refuse("in its target vocabulary", "other pieces", "the same");
  const auto ids = [](const SpecialIds& each) {
    return fmt::format("{}, {}, {}, {}", each.pad, each.unk, each.bos, each.eos);
  };
  if (!(a.special_ids == b.special_ids))
    refuse("pad, unk, bos and eos", ids(b.special_ids), ids(a.special_ids));
  const auto frame = [](const ModelConfig& each) {
    return fmt::format("eos {}, [{}], [{}]", each.source_eos, fmt::join(each.source_begin, " "),
                       fmt::join(each.source_end, " "));
  };
  if (frame(a) != frame(b)) refuse("around a source", frame(b), frame(a));
  if (a.target_begin != b.target_begin) {
    refuse("before a target", fmt::format("[{}]", fmt::join(b.target_begin, " ")),
           fmt::format("[{}]", fmt::join(a.target_begin, " ")));
  }
  if (a.encoder.has_value() != b.encoder.has_value())
    refuse("in place of an encoder", b.encoder ? "one" : "none", a.encoder ? "one" : "none");
  const auto order = [](const Model& each) {
    return WritesRightToLeft(each.tokenization) ? "right to left" : "left to right";
  };
  if (std::string(order(with_a)) != order(with_b))
    refuse("targets written from", order(with_b), order(with_a));
  const auto protects = [](const Model& each) {
    const auto found = each.tokenization.find("protect");
    return found == each.tokenization.end() ? std::string() : found->dump();
  };
  if (protects(with_a) != protects(with_b))
    refuse("the protected spans", Named(protects(with_b)), Named(protects(with_a)));
}

std::vector<double> Shares(std::vector<double> weights, size_t models) {
  if (weights.empty()) weights.assign(models, 1);
  if (weights.size() != models) {
    Refuse(fmt::format("there are {} weights for {} models; expected one for each, or none",
                       weights.size(), models));
  }
  for (const double weight : weights) {
    if (!std::isfinite(weight) || weight < 0)
      Refuse(fmt::format("a model's weight is {}, expected at least 0", weight));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sum <= 0 || !std::isfinite(sum))
    Refuse(fmt::format("the models' weights have the sum {}, expected one above 0", sum));
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace

Ensemble::Ensemble(std::vector<std::shared_ptr<const LoadedModel>> models,
                   std::vector<double> weights)
    : models_(std::move(models)) {
  if (models_.empty()) Refuse("there is no model; expected one or more");
  weights_ = Shares(std::move(weights), models_.size());
  for (size_t i = 0; i < models_.size(); ++i) {
    models_[i]->CheckEngineRuns();
    if (models_[i]->make_stepper != nullptr)
      Refuse("several models run together on attend's own engine alone; leave out the device");
    CheckAlike(*models_.front(), *models_[i], i + 1);
  }
}

std::unique_ptr<Stepper> Ensemble::MakeStepper(Activations* activations) const {
  std::vector<EnsembleMember> members;
  for (size_t i = 0; i < models_.size(); ++i) {
    const Weights* const weights = &models_[i]->weights;
    std::unique_ptr<WholeStepper> stepper;
    if (i == 0)
      stepper = std::make_unique<ModelStepper>(weights, nullptr, activations);
    else
      stepper = std::make_unique<FurtherStepper>(weights, activations);
    members.push_back({std::move(stepper), weights_[i]});
  }
  const Weights& first = models_.front()->weights;
  return std::make_unique<EnsembleStepper>(std::move(members), first.kernels,
                                           first.config().special_ids);
}

}  // namespace attend
