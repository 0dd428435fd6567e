// Runs the native engine beside the LibTorch model and prints, as JSON, how far they are apart: a
// line for each model and instruction set.
// usage: engine_parity --model DIR --source FILE [--limit 1000] [--beam-size 4]
//        engine_parity --variants          (small random models that between them use every option)
//
// The search on LibTorch's side is written down here a second time, plainly: every step computes
// all prefixes anew.
#include <attend/nn/transformer.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "attend/scorer.h"
#include "attend/vocabulary.h"
#include "base/json.h"
#include "engine/forward.h"
#include "kernels/inference/dispatch.h"
#include "model/model_directory.h"
#include "nn/test_models.h"
#include "tasks/loaded_model.h"
#include "train/loop/parameters.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;
constexpr size_t kBatch = 50;  // sentences that LibTorch computes together

torch::Tensor Padded(const std::vector<Ids>& rows, int64_t pad) {
  size_t longest = 0;
  for (const Ids& row : rows) longest = std::max(longest, row.size());
  torch::Tensor ids = torch::full({std::ssize(rows), static_cast<int64_t>(longest)}, pad,
                                  torch::TensorOptions(torch::kInt64));
  auto at = ids.accessor<int64_t, 2>();
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t t = 0; t < rows[r].size(); ++t) at[r][t] = rows[r][t];
  }
  return ids;
}

double Penalised(double log_probability, size_t length, double alpha) {
  return log_probability / std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

// A prefix, or a whole output with its eos.
struct Prefix {
  Ids ids;
  double log_probability = 0;
};

// What is known of one sentence's search.
struct Search {
  int64_t source = 0;  // row of the batch
  size_t max_length = 0;
  std::vector<Prefix> live = {{}};
  std::vector<Prefix> finished = {};

  bool Done(size_t beam, double alpha) const {
    if (live.empty() || finished.size() >= beam || live[0].ids.size() >= max_length) return true;
    if (finished.empty()) return false;
    return Penalised(live[0].log_probability, max_length, alpha) <= Score(Best(alpha), alpha);
  }
  static double Score(const Prefix& prefix, double alpha) {
    return Penalised(prefix.log_probability, prefix.ids.size(), alpha);
  }
  // The first of the best that finished, or else the best that lives.
  const Prefix& Best(double alpha) const {
    const std::vector<Prefix>& all = finished.empty() ? live : finished;
    return *std::max_element(all.begin(), all.end(), [&](const Prefix& a, const Prefix& b) {
      return Score(a, alpha) < Score(b, alpha);
    });
  }
  // `next_LV`: log-probabilities after each live prefix.
  void Advance(const torch::Tensor& next_LV, int64_t beam, int32_t eos) {
    struct Step {
      double log_probability;
      size_t parent;
      int32_t id;
    };
    std::vector<Step> steps;
    auto next = next_LV.accessor<double, 2>();
    for (size_t l = 0; l < live.size(); ++l) {
      for (int64_t id = 0; id < next_LV.size(1); ++id) {
        if (!std::isfinite(next[l][id])) continue;
        steps.push_back({live[l].log_probability + next[l][id], l, static_cast<int32_t>(id)});
      }
    }
    // Built in the order of (beam, id), which a stable sort keeps between equals.
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      return a.log_probability > b.log_probability;
    });
    std::vector<Prefix> longer;
    for (int64_t rank = 0; rank < std::ssize(steps) && std::ssize(longer) < beam; ++rank) {
      const Step& step = steps[rank];
      if (step.id == eos && rank >= beam) continue;
      Prefix prefix{live[step.parent].ids, step.log_probability};
      prefix.ids.push_back(step.id);
      (step.id == eos ? finished : longer).push_back(std::move(prefix));
    }
    live = std::move(longer);
  }
};

// LibTorch's beam search for one batch.
std::vector<Prefix> TorchBeam(nn::Transformer& torch_model, const std::vector<Ids>& sources,
                              const TranslationOptions& options) {
  const SpecialIds special = torch_model->config().special_ids;
  std::vector<Ids> inputs = sources;
  std::vector<Search> searches;
  for (size_t s = 0; s < sources.size(); ++s) {
    inputs[s].push_back(static_cast<int32_t>(special.eos));
    searches.push_back({static_cast<int64_t>(s), sources[s].size() + 50});
  }
  const nn::Memory memory = torch_model->Encode(Padded(inputs, special.pad));
  while (true) {
    std::vector<Ids> prefixes;
    std::vector<int64_t> rows;
    std::vector<Search*> running;
    for (Search& search : searches) {
      if (search.Done(options.beam_size, options.length_penalty)) continue;
      running.push_back(&search);
      for (const Prefix& prefix : search.live) {
        prefixes.push_back({static_cast<int32_t>(special.bos)});
        prefixes.back().insert(prefixes.back().end(), prefix.ids.begin(), prefix.ids.end());
        rows.push_back(search.source);
      }
    }
    if (running.empty()) break;
    const torch::Tensor index = torch::tensor(rows);
    const torch::Tensor hidden = torch_model->Decode(
        Padded(prefixes, special.pad),
        {memory.hidden_BSD.index_select(0, index), memory.mask.additive.index_select(0, index)});
    torch::Tensor next_LV =
        torch_model->Logits(hidden.select(1, -1)).to(torch::kFloat64).log_softmax(-1).contiguous();
    for (const int64_t id : {special.pad, special.unk, special.bos}) {
      if (id >= 0) next_LV.select(1, id).fill_(-std::numeric_limits<double>::infinity());
    }
    int64_t first = 0;
    for (Search* search : running) {
      const int64_t count = std::ssize(search->live);
      search->Advance(next_LV.narrow(0, first, count), options.beam_size,
                      static_cast<int32_t>(special.eos));
      first += count;
    }
  }
  std::vector<Prefix> best;
  for (const Search& search : searches) best.push_back(search.Best(options.length_penalty));
  for (Prefix& prefix : best) {
    if (!prefix.ids.empty() && prefix.ids.back() == special.eos) prefix.ids.pop_back();
  }
  return best;
}

// Largest differences, of all batches so far.
struct Differences {
  double token = 0, sentence = 0, activation = 0, attention = 0;
  std::map<std::string, double> layers;  // activation by layer

  // NaN stays.
  static void Raise(double* largest, double value) {
    if (!(value <= *largest)) *largest = value;
  }
  void AddRow(const std::string& layer, const torch::Tensor& expected_D, const float* found_D) {
    const torch::Tensor found =
        torch::from_blob(const_cast<float*>(found_D), expected_D.sizes(), torch::kFloat32);
    const double norm = expected_D.norm().item<double>();
    const double error = (expected_D - found).norm().item<double>() / std::max(norm, 1e-2);
    Raise(&layers[layer], error);
    Raise(&activation, error);
  }
};

// What LibTorch computes for pairs of ids.
struct Forced {
  std::vector<Ids> inputs, prefixes;  // as encoder and decoder read them
  nn::Trace trace;
  torch::Tensor log_probabilities_BTV;
};

Forced TorchForced(nn::Transformer& torch_model, const std::vector<Ids>& sources,
                   const std::vector<Ids>& targets) {
  const SpecialIds special = torch_model->config().special_ids;
  Forced forced{sources, {}, {}, {}};
  for (Ids& input : forced.inputs) input.push_back(static_cast<int32_t>(special.eos));
  for (const Ids& target : targets) {
    forced.prefixes.push_back({static_cast<int32_t>(special.bos)});
    forced.prefixes.back().insert(forced.prefixes.back().end(), target.begin(), target.end());
  }
  nn::Memory memory;
  if (torch_model->config().encoder) {
    memory = torch_model->Encode(Padded(forced.inputs, special.pad), &forced.trace.encoder);
  }
  const torch::Tensor hidden =
      torch_model->Decode(Padded(forced.prefixes, special.pad), memory, &forced.trace.decoder);
  forced.log_probabilities_BTV = torch_model->Logits(hidden).to(torch::kFloat64).log_softmax(-1);
  return forced;
}

void CompareActivations(const Weights& weights, const Forced& forced, Differences* worst) {
  Activations activations;
  DecoderCache cache;
  std::vector<DecoderRow> decoded;
  Sinks sinks;
  sinks.activation = [&](bool encoder, int64_t layer, const float* x_RD, int64_t) {
    const nn::StackTrace& trace = encoder ? forced.trace.encoder : forced.trace.decoder;
    const torch::Tensor& expected = layer < 0 ? trace.embedded_BTD
                                    : layer < std::ssize(trace.layers)
                                        ? trace.layers[layer].feed_forward_BTD
                                        : trace.output_BTD;
    const std::string name = fmt::format("{}.{}", encoder ? "encoder" : "decoder", layer);
    const std::vector<Ids>& rows = encoder ? forced.inputs : forced.prefixes;
    for (size_t b = 0; b < rows.size(); ++b) {
      for (size_t t = 0; t < rows[b].size(); ++t, x_RD += expected.size(2)) {
        worst->AddRow(name, expected[b][t], x_RD);
      }
    }
  };
  const std::vector<EncoderItem> inputs(forced.inputs.begin(), forced.inputs.end());
  StartAll(weights, inputs, sinks, &activations, &cache);
  for (size_t b = 0; b < forced.prefixes.size(); ++b) {
    for (const int32_t id : forced.prefixes[b]) {
      decoded.push_back({static_cast<int32_t>(b), id});
    }
  }
  Decode(weights, decoded, sinks, &activations, &cache);
}

void CompareWeights(const AttentionWeights& found, const std::vector<nn::LayerTrace>& layers,
                    torch::Tensor nn::LayerTrace::* weights, int64_t sentence, Differences* worst) {
  // A recurrence has no weights.
  if (!layers.empty() && !(layers[0].*weights).defined()) return;
  if (found.size() != layers.size()) worst->attention = INFINITY;
  for (size_t l = 0; l < std::min(found.size(), layers.size()); ++l) {
    const torch::Tensor expected_HTS = (layers[l].*weights)[sentence].contiguous();
    auto expected = expected_HTS.accessor<float, 3>();
    for (size_t h = 0; h < found[l].size(); ++h) {
      for (size_t t = 0; t < found[l][h].size(); ++t) {
        for (size_t s = 0; s < found[l][h][t].size(); ++s) {
          Differences::Raise(&worst->attention, std::abs(found[l][h][t][s] - expected[h][t][s]));
        }
      }
    }
  }
}

void CompareScores(const std::vector<PairScore>& scores, const Forced& forced, int64_t eos,
                   Differences* worst) {
  for (size_t b = 0; b < scores.size(); ++b) {
    const Ids& prefix = forced.prefixes[b];
    double sum = 0;
    for (size_t t = 0; t < prefix.size(); ++t) {
      const int64_t id = t + 1 < prefix.size() ? prefix[t + 1] : eos;
      const double expected = forced.log_probabilities_BTV[b][t][id].item<double>();
      Differences::Raise(&worst->token,
                         std::abs(expected - scores[b].token_log_probabilities.at(t)));
      sum += expected;
    }
    Differences::Raise(&worst->sentence, std::abs(sum - scores[b].log_probability));
    const auto at = static_cast<int64_t>(b);
    CompareWeights(scores[b].encoder_self, forced.trace.encoder.layers,
                   &nn::LayerTrace::self_weights_BHTT, at, worst);
    CompareWeights(scores[b].decoder_self, forced.trace.decoder.layers,
                   &nn::LayerTrace::self_weights_BHTT, at, worst);
    if (forced.trace.encoder.layers.empty()) continue;
    CompareWeights(scores[b].cross, forced.trace.decoder.layers,
                   &nn::LayerTrace::cross_weights_BHTS, at, worst);
  }
}

// Forced decoding of all pairs, by instruction set.
std::map<std::string, Differences> CompareForced(nn::Transformer& torch_model,
                                                 const std::shared_ptr<const Model>& model,
                                                 const std::vector<Ids>& sources,
                                                 const std::vector<Ids>& targets) {
  std::map<std::string, Differences> worst;
  for (size_t first = 0; first < sources.size(); first += kBatch) {
    const size_t last = std::min(sources.size(), first + kBatch);
    const std::vector<Ids> some_sources(sources.begin() + first, sources.begin() + last);
    const std::vector<Ids> some_targets(targets.begin() + first, targets.begin() + last);
    const Forced forced = TorchForced(torch_model, some_sources, some_targets);
    for (const std::string& set : AvailableInstructionSets()) {
      ScoreOptions options;
      options.attention = true;
      const auto loaded = Load(model, {.instruction_set = set});
      const Scorer scorer(loaded, 1);
      CompareScores(scorer.ScoreIds(some_sources, some_targets, options), forced,
                    model->config.special_ids.eos, &worst[set]);
      CompareActivations(loaded->weights, forced, &worst[set]);
    }
  }
  return worst;
}

Json Report(const std::string& name, const std::string& set, const Differences& worst) {
  return {{"model", name},
          {"instruction_set", set},
          {"token_log_probability", worst.token},
          {"sentence_log_probability", worst.sentence},
          {"activation", worst.activation},
          {"attention", worst.attention},
          {"layers", worst.layers}};
}

void CompareModel(const std::string& directory, const std::vector<std::string>& texts,
                  const TranslationOptions& options) {
  const std::shared_ptr<const Model> model = LoadModel(directory);
  nn::Transformer torch_model(model->config);
  Parameters parameters(torch_model.ptr().get());
  parameters.layout().Read(model->tensors, "", &parameters.weights());
  torch_model->eval();

  std::vector<Ids> sources, targets;
  const Translator encoder(model, {.threads = 1});
  for (const std::string& text : texts) sources.push_back(encoder.Encode(text));
  std::vector<Prefix> expected;
  for (size_t first = 0; first < sources.size(); first += kBatch) {
    const auto last = sources.begin() + std::min(sources.size(), first + kBatch);
    for (Prefix& prefix : TorchBeam(torch_model, {sources.begin() + first, last}, options)) {
      expected.push_back(std::move(prefix));
    }
  }
  for (const Prefix& prefix : expected) targets.push_back(prefix.ids);
  const auto worst = CompareForced(torch_model, model, sources, targets);
  for (const std::string& set : AvailableInstructionSets()) {
    const auto found =
        Translator(model, {.threads = 1, .instruction_set = set}).TranslateIds(sources, options);
    int64_t same = 0, finished = 0;
    double difference = 0, score_difference = 0;
    for (size_t s = 0; s < found.size(); ++s) {
      const Hypothesis& best = found[s].hypotheses.at(0);
      finished += best.finished;
      if (best.ids != expected[s].ids) continue;
      ++same;
      Differences::Raise(&difference, std::abs(best.log_probability - expected[s].log_probability));
      const size_t length = best.ids.size() + (best.finished ? 1 : 0);
      const double score = Penalised(expected[s].log_probability, length, options.length_penalty);
      Differences::Raise(&score_difference, std::abs(best.score - score));
    }
    Json report = Report(directory, set, worst.at(set));
    report["sentences"] = found.size();
    report["same"] = same;
    report["finished"] = finished;
    report["beam_log_probability"] = difference;
    report["beam_score"] = score_difference;
    fmt::print("{}\n", report.dump());
  }
}

void CompareVariants() {
  for (const auto& [name, config] : nn::SmallModels()) {
    if (!config.decoder) continue;
    nn::Transformer torch_model(config);
    torch_model->eval();
    Parameters parameters(torch_model.ptr().get());
    torch::manual_seed(1);
    for (const auto& parameter : torch_model->named_parameters()) {
      const bool gain = parameter.key().ends_with("norm.weight");
      parameter.value().copy_(torch::randn_like(parameter.value()) * 0.3 + (gain ? 1 : 0));
    }
    auto model = std::make_shared<Model>();
    model->config = config;
    parameters.layout().AddTo(&model->tensors, parameters.weights());
    std::vector<Ids> sources, targets;
    for (int32_t length = 0; length < 20; ++length) {
      sources.emplace_back();
      targets.emplace_back();
      for (int32_t t = 0; t < length; ++t) {
        if (config.encoder) sources.back().push_back(4 + (t * 7 + length * 3) % 22);
        targets.back().push_back(4 + (t * 5 + length) % 22);
      }
    }
    for (const auto& [set, worst] : CompareForced(torch_model, model, sources, targets)) {
      fmt::print("{}\n", Report(name, set, worst).dump());
    }
  }
}

int Main(const std::vector<std::string>& arguments) {
  const torch::NoGradGuard no_grad;
  torch::set_num_threads(1);
  std::map<std::string, std::string> options;
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) options[arguments[i]] = arguments[i + 1];
  if (arguments == std::vector<std::string>{"--variants"}) {
    CompareVariants();
    return 0;
  }
  const size_t limit = options.contains("--limit") ? std::stoul(options["--limit"]) : 1000;
  std::ifstream file(options["--source"]);
  std::vector<std::string> texts;
  for (std::string line; texts.size() < limit && std::getline(file, line);) texts.push_back(line);
  if (texts.empty() || !options.contains("--model")) {
    fmt::print(stderr,
               "usage: engine_parity --model DIR --source FILE [--limit N] [--beam-size N]\n");
    return 2;
  }
  TranslationOptions translation;
  if (options.contains("--beam-size")) translation.beam_size = std::stol(options["--beam-size"]);
  CompareModel(options["--model"], texts, translation);
  return 0;
}

}  // namespace
}  // namespace attend

int main(int count, char** arguments) {
  try {
    return attend::Main({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "engine_parity: {}\n", error.what());
    return 1;
  }
}
