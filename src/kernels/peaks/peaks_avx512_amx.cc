// Peak loops for AVX-512 with VNNI and AMX. Includes nothing of the standard library: see
// kernels.h.
#include "kernels/vectors/amx_tiles.h"
#include "kernels/vectors/int_vnni.h"
// after Vec and IntVec
#include "kernels/peaks/peaks.inc"

namespace attend {
namespace {

int64_t PeakInt8InTiles(int64_t rounds, int32_t* numbers) noexcept {
  constexpr int64_t kSums = kTileHeight * kTileHeight, kNumbers = 64;
  alignas(64) int32_t sums[kSums] = {};
  FinishStores(numbers);
  FinishStores(sums);
  Tiles tiles;
  tiles.Shape(kTileHeight, kTileHeight);
  _tile_loadd(6, numbers, 0);
  _tile_loadd(7, numbers, 0);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t r = 0; r < rounds; ++r) {
    _tile_dpbusd(0, 6, 7);
    _tile_dpbusd(1, 6, 7);
    _tile_dpbusd(2, 6, 7);
    _tile_dpbusd(3, 6, 7);
  }
  const auto add = [&] {
    for (int64_t i = 0; i < kSums; ++i) numbers[i % kNumbers] += sums[i];
  };
  _tile_stored(0, sums, 4 * kTileHeight);
  add();
  _tile_stored(1, sums, 4 * kTileHeight);
  add();
  _tile_stored(2, sums, 4 * kTileHeight);
  add();
  _tile_stored(3, sums, 4 * kTileHeight);
  add();
  return 2 * 4 * 4 * kSums * kTileHeight * rounds;
}

}  // namespace

PeakLoops Avx512AmxPeaks() noexcept { return {PeakF32<12>, PeakInt8InTiles}; }

}  // namespace attend
