// Compiled without AVX-512 flags, over the immintrin.h beside this file.
#include "kernels/inference/avx512_vnni.cc"
