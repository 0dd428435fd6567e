// The tiles of AMX, as products use them: 0 and 1 sum the upper rows by 32 columns, 2 and 3 the
// lower ones; 4 and 5 hold the upper and the lower rows, 6 and 7 the columns. Rows have 64 bytes.
// Internal linkage throughout: see kernels.h.
#ifndef ATTEND_KERNELS_VECTORS_AMX_TILES_H_
#define ATTEND_KERNELS_VECTORS_AMX_TILES_H_

#include <immintrin.h>
#include <stdint.h>

namespace attend {
namespace {

constexpr int64_t kTileHeight = 16;  // the most rows of a tile, and the four-byte elements of one

// The compiler does not know what memory a tile is loaded from.
inline void FinishStores(const void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

// This thread's tiles, from Shape until it dies.
class Tiles {
 public:
  Tiles() = default;
  ~Tiles() { _tile_release(); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  // Rows of the upper and of the lower tiles, 1 to 16; no lower ones are used where `lower` is 0.
  void Shape(int64_t upper, int64_t lower) {
    if (upper == upper_ && lower == lower_) return;
    upper_ = upper, lower_ = lower;
    struct {  // as LDTILECFG reads it
      uint8_t palette, start_row, reserved[14];
      uint16_t row_bytes[16];
      uint8_t rows[16];
    } shapes{};
    shapes.palette = 1;
    for (int tile = 0; tile < 8; ++tile) {
      shapes.row_bytes[tile] = 4 * kTileHeight;
      shapes.rows[tile] = kTileHeight;
    }
    const auto above = static_cast<uint8_t>(upper),
               below = static_cast<uint8_t>(lower > 0 ? lower : 1);
    shapes.rows[0] = shapes.rows[1] = shapes.rows[4] = above;
    shapes.rows[2] = shapes.rows[3] = shapes.rows[5] = below;
    FinishStores(&shapes);
    _tile_loadconfig(&shapes);
  }

 private:
  int64_t upper_ = 0, lower_ = 0;
};

}  // namespace
}  // namespace attend

#endif  // ATTEND_KERNELS_VECTORS_AMX_TILES_H_
