// The training kernels in f64: what gradients are checked in.
namespace attend {
using Real = double;
}
#include "kernels/vectors/vec_plain.inc"
// after Vec
#include "kernels/training/body.inc"

namespace attend::nn {

static constexpr TrainKernels<Real> kTable = WithProducts(TableNamed("reference"));

const TrainKernels<Real>* PlainTrainKernelsF64() noexcept { return &kTable; }

}  // namespace attend::nn
