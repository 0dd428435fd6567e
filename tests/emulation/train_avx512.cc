// Compiled without AVX-512 flags, over the immintrin.h beside this file.
#include "train/nn/fused/kernels/avx512.cc"
