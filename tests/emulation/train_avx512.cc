// Compiled without AVX-512 flags, over the immintrin.h beside this file.
#include "kernels/training/avx512.cc"
