// Speed of the f32 product on every instruction set here: rows by the shapes of the paper's base
// model. Build the target kernels_benchmark; the counter is floating-point operations a second.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/random.h"
#include "engine/kernels/dispatch.h"

namespace attend {
namespace {

std::vector<float> RandomFloats(int64_t count) {
  Random random({1});
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

void Matmul(benchmark::State& state, const KernelTable* kernels) {
  const int64_t rows = state.range(0), inner = state.range(1), columns = state.range(2);
  const std::vector<float> x = RandomFloats(rows * inner), w = RandomFloats(columns * inner);
  std::vector<float> packed(kernels->packed_size_f32(columns, inner)), y(rows * columns);
  kernels->pack_f32(w.data(), columns, inner, packed.data());
  for (auto _ : state) {
    kernels->matmul_f32({x.data(), inner, rows, packed.data(), inner, 0, columns, nullptr, nullptr,
                         y.data(), columns, MatmulActivation::kNone});
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  state.counters["flop/s"] = benchmark::Counter(2.0 * static_cast<double>(rows * inner * columns),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) {
  for (const std::string& name : attend::AvailableInstructionSets()) {
    benchmark::RegisterBenchmark(("Matmul/" + name).c_str(), attend::Matmul,
                                 &attend::SelectKernels(name))
        ->ArgNames({"rows", "inner", "columns"})
        ->ArgsProduct({{1, 8, 32, 128}, {512}, {512, 2048}})
        ->Args({32, 2048, 512});
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
