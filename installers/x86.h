/* Goes before every C++ file of the engine on x86 Linux, and corrects two things that cost a fault or much time.

   1. GCC 12.2 (Debian 12) believes that ldtilecfg reads eight bytes of the tile configuration and drops the stores to
   the others: a processor with AMX then faults in the engine's first pass (seen; also in llama.cpp's pull request
   26954). Here all 64 are read.

   2. With AVX512-FP16 ggml walks rows of half-precision numbers in steps of 128 and adds up in half precision. What is
   left over is done one by one, so flash attention over heads of 64 (Qwen2.5 0.5B, Llama 3.2 1B, SmolLM2) takes many
   times what it should: 374 ms instead of 64 for 16 tokens of a 0.5B draft at 1,500 tokens of context. Without the
   macro it takes steps of 64 and adds up in single precision. */
#if defined(__GNUC__) && (defined(__AMX_TILE__) || defined(__AVX512FP16__))
#include <immintrin.h>
#endif

#if defined(__AMX_TILE__) && defined(__GNUC__) && !defined(__clang__)
#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg\t%0" ::"m"(*(const char(*)[64])(config)))
#endif

#undef __AVX512FP16__
