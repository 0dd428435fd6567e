// `attend verify`: a model proves itself on this machine.
#include "cli/verify_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "attend/error.h"
#include "attend/loaded_model.h"
#include "attend/vocabulary.h"
#include "cli/command_line.h"
#include "kernels/inference/dispatch.h"
#include "model/adapted_model.h"
#include "model/quantize.h"
#include "model/sample.h"
#include "tasks/encoder_runner.h"
#include "tasks/loaded_model.h"
#include "tasks/samples.h"

namespace attend {
namespace {

constexpr double kTolerance = 1e-4;

void CheckFiles(const std::string& directory) {
  const std::vector<std::string> messages = CheckDigests(directory);
  if (messages.empty()) return;
  throw Error(ErrorKind::kInput,
              messages[0] +
                  (messages.size() == 1 ? "" : fmt::format(" (and {} more)", messages.size() - 1)));
}

void CheckFinite(const TensorTable& tensors, const std::string& directory) {
  for (const TensorView& tensor : tensors.tensors()) {
    if (tensor.type != TensorType::kF32) continue;
    const float* end = tensor.f32() + tensor.elements();
    const float* found =
        std::find_if_not(tensor.f32(), end, [](float value) { return std::isfinite(value); });
    if (found != end) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}: tensor '{}' holds {} at element {}, expected finite numbers",
                              directory, tensor.name, *found, found - tensor.f32()));
    }
  }
}

// Messages for samples whose text is no longer cut into the ids stored.
std::vector<std::string> CheckTokens(const Model& model, const std::vector<Sample>& samples) {
  std::vector<std::string> messages;
  if (model.source_vocabulary.empty() || !model.config.encoder || model.config.frames)
    return messages;
  const bool hidden = !model.config.decoder && model.config.head == HeadKind::kVocabulary;
  if (hidden) return messages;  // ids alone: tokens are hidden
  const auto vocabulary = Vocabulary::FromBytes(model.source_vocabulary, "the source vocabulary");
  for (size_t i = 0; i < samples.size(); ++i) {
    if (model.config.fusion && samples[i].source_ids.empty()) continue;  // an item without a text
    std::vector<int32_t> ids;
    if (model.config.head == HeadKind::kLabels) {
      ids = ReadLabelled(model.config, *vocabulary, samples[i].source);
    } else {
      ids = model.config.EncoderIds(vocabulary->Encode(samples[i].source));
    }
    if (ids != samples[i].source_ids)
      messages.push_back(fmt::format("sample {}: its text is not cut into the ids stored", i));
  }
  return messages;
}

// Infinite where the model gives what is no number.
double DifferenceOf(double found, double expected) {
  const double difference = std::abs(found - expected);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

struct Difference {
  double largest = 0;
  size_t sample = 0, token = 0;
};

Difference Compare(const std::vector<std::vector<double>>& replayed,
                   const std::vector<Sample>& samples) {
  Difference difference;
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t t = 0; t < samples[i].target_ids.size(); ++t) {
      const double found = DifferenceOf(replayed[i][t], samples[i].token_log_probabilities[t]);
      if (found > difference.largest) difference = {found, i, t};
    }
  }
  return difference;
}

// The largest difference of a number of vectors that texts and pictures share.
double LargestVectorDifference(const std::vector<Sample::SharedVectors>& replayed,
                               const std::vector<Sample>& samples) {
  double largest = 0;
  const auto compare = [&](const std::vector<double>& found, const std::vector<double>& expected) {
    for (size_t w = 0; w < expected.size(); ++w)
      largest = std::max(largest, DifferenceOf(found[w], expected[w]));
  };
  for (size_t i = 0; i < samples.size(); ++i) {
    compare(replayed[i].text_W, samples[i].shared->text_W);
    compare(replayed[i].picture_W, samples[i].shared->picture_W);
  }
  return largest;
}

// What is to prove itself: a model or, with an adapter, what both are together.
struct Proof {
  std::shared_ptr<const Model> base, model;  // the same one without an adapter
  std::vector<Sample> samples;
};

// Throws Error(kInput) for files that are not as their digests say, and for numbers that are not
// finite.
Proof ReadProof(const std::string& directory, const std::string& adapter) {
  CheckFiles(directory);
  Proof proof;
  proof.base = proof.model = LoadModel(directory);
  CheckFinite(proof.base->tensors, directory);
  if (!adapter.empty()) {
    CheckFiles(adapter);
    const std::shared_ptr<const Adapter> added = LoadAdapter(adapter);
    CheckFinite(added->model.tensors, adapter);
    proof.model = MergeAdapter(proof.base, added, adapter);
  }
  proof.samples = SamplesFromJson(proof.model->samples, proof.model->config,
                                  adapter.empty() ? directory : adapter);
  return proof;
}

// What came of it, said as it comes.
class Verdict {
 public:
  Verdict(bool json, size_t samples) : json_(json), samples_(samples) {
    result_ = {
        {"samples", samples}, {"tolerance", kTolerance}, {"instruction_sets", Json::object()}};
  }
  void Say(const std::string& line) const {
    if (!json_) std::cout << line << '\n' << std::flush;
  }
  // `by`: an instruction set, or what runs the model in place of the engine.
  void Add(const std::string& by, const Difference& difference) {
    const bool near = difference.largest <= kTolerance;
    good = good && near;
    Say(fmt::format(
        "{:<12} {} samples, largest difference of a log-probability {:.2g} ({} {:g}){}", by,
        samples_, difference.largest, near ? "within" : "expected at most", kTolerance,
        near ? "" : fmt::format(": sample {}, token {}", difference.sample, difference.token)));
    result_["instruction_sets"][by] = {{"largest_difference", difference.largest}, {"good", near}};
  }
  // The same of vectors that texts and pictures share.
  void AddVectors(const std::string& by, double largest) {
    const bool near = largest <= kTolerance;
    good = good && near;
    Say(fmt::format("{:<12} vectors of texts and pictures, largest difference {:.2g} ({} {:g})", by,
                    largest, near ? "within" : "expected at most", kTolerance));
    Json& report = result_["instruction_sets"][by];
    report["largest_vector_difference"] = largest;
    report["good"] = near && report["good"].get<bool>();
  }
  Json result() const {
    Json result = result_;
    result["good"] = good;
    return result;
  }

  bool good = true;

 private:
  bool json_;
  size_t samples_;
  Json result_;
};

void ReplayOnEach(const Proof& proof, const std::string& adapter, int threads, Verdict* verdict) {
  for (const std::string& name : AvailableInstructionSets()) {
    std::shared_ptr<const LoadedModel> loaded = Load(proof.base, {.instruction_set = name});
    if (!adapter.empty()) loaded = WithAdapter(loaded, adapter);
    verdict->Add(name, Compare(ReplaySamples(*loaded, proof.samples, threads), proof.samples));
    if (proof.samples[0].shared)
      verdict->AddVectors(
          name, LargestVectorDifference(ReplaySharedVectors(*loaded, proof.samples, threads),
                                        proof.samples));
  }
}

}  // namespace

// The status is 1 where a difference is too large.
int Verify(const std::vector<std::string>& arguments, const ReplayByTorch& replay) {
  CommonOptions common;
  std::string directory, adapter;
  CommandLine command_line(
      "verify", "check a model's digests and replay its samples on every instruction set here",
      "attend verify model\nattend verify model --adapter runs/customer/adapter --json");
  command_line.Positional("MODEL", &directory, "model directory")
      .Options(AdapterField(&adapter))
      .Options(Fields(common, {"threads", "json"}));
  if (!command_line.Parse(arguments)) return 0;
  Proof proof = ReadProof(directory, adapter);
  const bool other_type = !adapter.empty() && IsInt8(*proof.base);
  if (other_type) proof.samples.clear();
  std::vector<std::vector<double>> by_torch;
  const bool engine = proof.model->config.architecture == Architecture::kTransformer;
  if (!engine) by_torch = replay(*proof.model, proof.samples);
  Verdict verdict(common.json, proof.samples.size());
  verdict.Say("files: SHA-256 as config.json says, all numbers finite");
  const std::vector<std::string> wrong_tokens = CheckTokens(*proof.model, proof.samples);
  for (const std::string& message : wrong_tokens) verdict.Say(message);
  verdict.good = wrong_tokens.empty();
  if (proof.samples.empty()) {
    verdict.Say(other_type
                    ? "samples: made with f32 weights, which this model has not; nothing to replay"
                    : "samples: none, nothing to replay");
  } else if (engine) {
    ReplayOnEach(proof, adapter, common.ThreadCount(), &verdict);
  } else {
    verdict.Add("libtorch", Compare(by_torch, proof.samples));
  }
  PrintReport(common, verdict.result());
  return verdict.good ? 0 : 1;
}

}  // namespace attend
