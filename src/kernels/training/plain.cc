// The training kernels in plain C++, for any machine.
namespace attend {
using Real = float;
}
#include "kernels/vectors/vec_plain.inc"
// after Vec
#include "kernels/training/body.inc"

namespace attend::nn {

static constexpr TrainKernels<Real> kTable = TableNamed("reference");

const TrainKernels<Real>* PlainTrainKernels() noexcept { return &kTable; }

}  // namespace attend::nn
