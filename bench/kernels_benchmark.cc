// Speed of the products on every instruction set here: rows by the shapes of the paper's base
// model, the output layer's too. Build the target kernels_benchmark; the counter is operations a
// second, two for each multiply-add.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "engine/blocks/aligned.h"
#include "engine/kernels/dispatch.h"

namespace attend {
namespace {

std::vector<float> RandomFloats(int64_t count) {
  Random random({1});
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

void SetOperations(benchmark::State* state) {
  const auto operations = 2.0 * static_cast<double>(state->range(0)) *
                          static_cast<double>(state->range(1) * state->range(2));
  state->counters["op/s"] =
      benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
}

void MatmulF32(benchmark::State& state, const KernelTable* kernels) {
  const int64_t rows = state.range(0), inner = state.range(1), columns = state.range(2);
  const std::vector<float> x = RandomFloats(rows * inner), w = RandomFloats(columns * inner);
  AlignedVector<float> packed(kernels->packed_size_f32(columns, inner)), y(rows * columns);
  kernels->pack_f32(w.data(), columns, inner, packed.data());
  for (auto _ : state) {
    kernels->matmul_f32(
        {x.data(),
         inner,
         rows,
         packed.data(),
         inner,
         {0, columns, nullptr, nullptr, y.data(), columns, MatmulActivation::kNone}});
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  SetOperations(&state);
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
  for (auto _ : state) {
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
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  SetOperations(&state);
}

void Register(const std::string& name,
              void (*function)(benchmark::State&, const attend::KernelTable*),
              const KernelTable* kernels) {
  benchmark::RegisterBenchmark(name.c_str(), function, kernels)
      ->ArgNames({"rows", "inner", "columns"})
      ->ArgsProduct({{1, 4, 16, 32, 128}, {512}, {512, 2048, 32000}})
      ->Args({1, 2048, 512})
      ->Args({32, 2048, 512});
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) {
  for (const std::string& name : attend::AvailableInstructionSets()) {
    const attend::KernelTable* kernels = &attend::SelectKernels(name);
    attend::Register("MatmulF32/" + name, attend::MatmulF32, kernels);
    attend::Register("MatmulInt8/" + name, attend::MatmulInt8, kernels);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
