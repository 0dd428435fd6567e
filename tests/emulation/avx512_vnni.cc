// Compiled without AVX-512 flags, over the immintrin.h beside this file.
#include "engine/kernels/avx512_vnni.cc"
