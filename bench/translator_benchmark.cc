// Speed of a Translator on one thread: the paper's base model with random weights, 32 sentences,
// greedy. The counter is output tokens a second.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "attend/translator.h"
#include "base/random.h"
#include "model/model_directory.h"

namespace attend {
namespace {

constexpr int64_t kSentences = 32, kSourceLength = 25, kTargetLength = 25, kVocabulary = 32000;

std::shared_ptr<const Model> RandomBase() {
  auto model = std::make_shared<Model>();
  model->config.source_vocab_size = model->config.target_vocab_size = kVocabulary;
  auto storage = std::make_shared<std::vector<std::vector<float>>>();
  model->tensors = TensorTable(storage);
  Random random({1});
  const std::vector<TensorSpec> specs = ExpectedTensors(model->config);
  storage->reserve(specs.size());
  for (const TensorSpec& spec : specs) {
    TensorView view{spec.name, TensorType::kF32, spec.shape, nullptr};
    std::vector<float>& values = storage->emplace_back(view.elements());
    for (float& value : values) value = static_cast<float>(0.05 * random.Normal());
    view.data = reinterpret_cast<const std::byte*>(values.data());
    model->tensors.Add(view);
  }
  return model;
}

void Greedy(benchmark::State& state) {
  const Translator translator(RandomBase(), 1);
  Random random({2});
  std::vector<std::vector<int32_t>> sources(kSentences, std::vector<int32_t>(kSourceLength));
  for (std::vector<int32_t>& source : sources) {
    for (int32_t& id : source) id = static_cast<int32_t>(4 + random.Below(kVocabulary - 4));
  }
  TranslationOptions options;
  options.beam_size = 1;
  options.max_length = kTargetLength;
  int64_t tokens = 0;
  for (auto _ : state) {
    for (const Translation& translation : translator.TranslateIds(sources, options)) {
      tokens += std::ssize(translation.hypotheses[0].ids);
    }
  }
  state.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsRate);
}
BENCHMARK(Greedy)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attend

BENCHMARK_MAIN();
