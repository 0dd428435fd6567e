// The most arithmetic that an instruction set can do: loops of its best multiply-add over
// registers, beside which the speed of kernels means something. As in kernels.h, files of one
// instruction set include this and nothing of the standard library.
#ifndef ATTEND_KERNELS_PEAKS_PEAKS_H_
#define ATTEND_KERNELS_PEAKS_PEAKS_H_

#include <stdint.h>

namespace attend {

// Runs `rounds` rounds and returns how many multiplications and additions that were. `numbers`: 64
// zeros, which the loop reads and writes so that no compiler can leave it out.
using PeakLoop = int64_t (*)(int64_t rounds, int32_t* numbers) noexcept;

struct PeakLoops {
  PeakLoop f32;
  PeakLoop int8;  // with sums of 32 bits
};

// As the tables of kernels.h: call only where the machine has the instructions.
PeakLoops ReferencePeaks() noexcept;
PeakLoops Avx2Peaks() noexcept;
PeakLoops Avx512Peaks() noexcept;
PeakLoops Avx512VnniPeaks() noexcept;
PeakLoops Avx512AmxPeaks() noexcept;
PeakLoops NeonPeaks() noexcept;
PeakLoops NeonDotPeaks() noexcept;

// Those of the instruction set that a KernelTable names.
PeakLoops PeaksOf(const char* name) noexcept;

}  // namespace attend

#endif  // ATTEND_KERNELS_PEAKS_PEAKS_H_
