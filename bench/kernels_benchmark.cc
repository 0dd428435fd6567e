// Speed of the kernels of every instruction set here, at the shapes of the paper's base model. The
// counters: operations a second of products and attention, two for each multiply-add; elements a
// second of the rest. Products also have their share of the machine's peak of such operations and
// of its rate of reading memory, as if weights were read each time; one thread's, measured first.
#include <benchmark/benchmark.h>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cli/bench/machine.h"
#include "engine/blocks/aligned.h"
#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

std::vector<float> RandomFloats(int64_t count) {
  Random random({1});
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

// Runs `body`; each time is worth `count` of the unit.
template <class Body>
void Measure(benchmark::State* state, const char* unit, int64_t count, const Body& body) {
  for (auto _ : *state) {
    body();
    benchmark::ClobberMemory();
  }
  state->counters[unit] =
      benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsIterationInvariantRate);
}

const MachineRates& RatesOf(const KernelTable& kernels) {
  static std::map<std::string, MachineRates> rates;
  const auto known = rates.find(kernels.name);
  if (known != rates.end()) return known->second;
  return rates.emplace(kernels.name, MeasureMachine(kernels.name, 1)).first->second;
}

void AddShares(benchmark::State* state, double operations, double peak, double weight_bytes,
               double memory_rate) {
  using benchmark::Counter;
  state->counters["of the peak"] = Counter(operations / peak, Counter::kIsIterationInvariantRate);
  state->counters["of memory"] =
      Counter(weight_bytes / memory_rate, Counter::kIsIterationInvariantRate);
}

void MatmulF32(benchmark::State& state, const KernelTable* kernels) {
  const int64_t rows = state.range(0), inner = state.range(1), columns = state.range(2);
  const std::vector<float> x = RandomFloats(rows * inner), w = RandomFloats(columns * inner);
  AlignedVector<float> packed(kernels->packed_size_f32(columns, inner)), y(rows * columns);
  kernels->pack_f32(w.data(), columns, inner, packed.data());
  Measure(&state, "op/s", 2 * rows * inner * columns, [&] {
    kernels->matmul_f32(
        {x.data(),
         inner,
         rows,
         packed.data(),
         inner,
         {0, columns, nullptr, nullptr, y.data(), columns, MatmulActivation::kNone}});
  });
  const MachineRates& rates = RatesOf(*kernels);
  AddShares(&state, 2.0 * rows * inner * columns, rates.f32, 4.0 * inner * columns, rates.memory);
}

// Quantising the rows is part of it.
void MatmulInt8(benchmark::State& state, const KernelTable* kernels) {
  const int64_t rows = state.range(0), inner = state.range(1), columns = state.range(2);
  const std::vector<float> x = RandomFloats(rows * inner), w_scales = RandomFloats(columns);
  const std::vector<int8_t> w(columns * inner, 3);
  AlignedVector<std::byte> packed(kernels->packed_size_int8(columns, inner));
  AlignedVector<std::byte> quantized(rows * kernels->quantized_row_size(inner));
  AlignedVector<float> y(rows * columns);
  std::vector<float> scales(rows);
  kernels->pack_int8(w.data(), columns, inner, packed.data());
  Measure(&state, "op/s", 2 * rows * inner * columns, [&] {
    kernels->quantize_rows(x.data(), rows, inner, quantized.data(), scales.data());
    kernels->matmul_int8(
        {quantized.data(),
         scales.data(),
         rows,
         packed.data(),
         w_scales.data(),
         inner,
         {0, columns, nullptr, nullptr, y.data(), columns, MatmulActivation::kNone},
         nullptr});
  });
  const MachineRates& rates = RatesOf(*kernels);
  AddShares(&state, 2.0 * rows * inner * columns, rates.int8, 1.0 * inner * columns, rates.memory);
}

void QuantizeRows(benchmark::State& state, const KernelTable* kernels) {
  const int64_t rows = state.range(0), width = state.range(1);
  const std::vector<float> x = RandomFloats(rows * width);
  AlignedVector<std::byte> quantized(rows * kernels->quantized_row_size(width));
  std::vector<float> scales(rows);
  Measure(&state, "elements/s", rows * width,
          [&] { kernels->quantize_rows(x.data(), rows, width, quantized.data(), scales.data()); });
}

void LayerNorm(benchmark::State& state, const KernelTable* kernels) {
  const int64_t rows = state.range(0), width = state.range(1);
  const std::vector<float> x = RandomFloats(rows * width), gain = RandomFloats(width);
  AlignedVector<float> y(rows * width);
  Measure(&state, "elements/s", rows * width, [&] {
    kernels->layer_norm({x.data(), rows, width, gain.data(), gain.data(), 1e-6f, y.data()});
  });
}

void Embed(benchmark::State& state, const KernelTable* kernels) {
  const int64_t width = state.range(0);
  const std::vector<float> embedding = RandomFloats(width), position = RandomFloats(width);
  AlignedVector<float> y(width);
  Measure(&state, "elements/s", width,
          [&] { kernels->embed(embedding.data(), 22.6f, position.data(), width, y.data()); });
}

void EmbedInt8(benchmark::State& state, const KernelTable* kernels) {
  const int64_t width = state.range(0);
  const std::vector<int8_t> embedding(width, 3);
  const std::vector<float> position = RandomFloats(width);
  AlignedVector<float> y(width);
  Measure(&state, "elements/s", width,
          [&] { kernels->embed_int8(embedding.data(), 0.1f, position.data(), width, y.data()); });
}

void Multiply(benchmark::State& state, const KernelTable* kernels) {
  const int64_t count = state.range(0);
  const std::vector<float> gate(count, 1.0f);  // what is in place stays
  std::vector<float> inner = RandomFloats(count);
  Measure(&state, "elements/s", count,
          [&] { kernels->multiply(gate.data(), inner.data(), count); });
}

void Softmax(benchmark::State& state, const KernelTable* kernels) {
  const int64_t count = state.range(0);
  std::vector<float> x = RandomFloats(count);
  Measure(&state, "elements/s", count, [&] { kernels->softmax(x.data(), count); });
}

void Attention(benchmark::State& state, const KernelTable* kernels) {
  const int64_t count = state.range(0), queries = state.range(1), heads = 8, width = 512;
  const int64_t stride = 2 * width + 16;  // a cache line more, as the decoder's cache has
  const std::vector<float> query = RandomFloats(queries * width);
  const std::vector<float> cache = RandomFloats(count * stride);
  std::vector<const float*> rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(cache.data() + i * stride);
  AlignedVector<float> weights(heads * count), output(queries * width);
  AttentionArguments arguments = {.query = query.data(),
                                  .query_stride = width,
                                  .queries = queries,
                                  .rows = rows.data(),
                                  .keys = 0,
                                  .values = width,
                                  .count = count,
                                  .growth = 0,
                                  .heads = heads,
                                  .d_k = width / heads,
                                  .d_v = width / heads,
                                  .scale = 0.125f,
                                  .weights = queries == 1 ? weights.data() : nullptr,
                                  .output = output.data(),
                                  .output_stride = width};
  AlignedVector<float> scratch(AttentionScratch(arguments));
  arguments.scratch = scratch.data();
  Measure(&state, "op/s", queries * 2 * 2 * width * count, [&] { kernels->attention(arguments); });
}

void BestOfVocabulary(benchmark::State& state, const KernelTable* kernels) {
  const int64_t k = state.range(0), count = state.range(1);
  const std::vector<float> entries = RandomFloats(count);
  const std::vector<int32_t> forbidden = {0, 1, 2};
  std::vector<float> values(k);
  std::vector<int32_t> ids(k);
  Measure(&state, "elements/s", count, [&] {
    TopK best = {values.data(), ids.data(), k, 0, -std::numeric_limits<float>::infinity(), 0};
    kernels->top_k(entries.data(), count, 0, forbidden.data(), std::ssize(forbidden), &best);
  });
}

using Kernel = void (*)(benchmark::State&, const KernelTable*);

void RegisterAll(const std::string& set) {
  const auto add = [&](const char* name, Kernel kernel) {
    return benchmark::RegisterBenchmark((std::string(name) + "/" + set).c_str(), kernel,
                                        &SelectKernels(set));
  };
  for (const auto& [name, kernel] :
       {std::pair<const char*, Kernel>{"MatmulF32", MatmulF32}, {"MatmulInt8", MatmulInt8}}) {
    add(name, kernel)
        ->ArgNames({"rows", "inner", "columns"})
        ->ArgsProduct({{1, 4, 16, 32, 128}, {512}, {512, 2048, 32000}})
        ->Args({1, 2048, 512})
        ->Args({512, 768, 3072})
        ->Args({512, 3072, 768})
        ->Args({32, 2048, 512});
  }
  for (const auto& [name, kernel] :
       {std::pair<const char*, Kernel>{"QuantizeRows", QuantizeRows}, {"LayerNorm", LayerNorm}}) {
    add(name, kernel)->ArgNames({"rows", "width"})->ArgsProduct({{1, 32}, {512, 2048}});
  }
  add("Embed", Embed)->ArgName("width")->Arg(512);
  add("EmbedInt8", EmbedInt8)->ArgName("width")->Arg(512);
  add("Multiply", Multiply)->ArgName("count")->Arg(2048);
  add("Softmax", Softmax)->ArgName("count")->Arg(25)->Arg(250);
  add("Attention", Attention)
      ->ArgNames({"keys", "queries"})
      ->ArgsProduct({{25, 128, 250}, {1, 16, 128}});
  add("TopK", BestOfVocabulary)->ArgNames({"k", "entries"})->ArgsProduct({{1, 8}, {32000}});
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) {
  for (const std::string& set : attend::AvailableInstructionSets()) attend::RegisterAll(set);
  benchmark::Initialize(&argc, argv);
  const size_t run = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return run > 0 ? 0 : 1;
}
