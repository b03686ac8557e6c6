/* GCC 12.2 (Debian 12) believes that ldtilecfg reads eight bytes of the tile configuration and drops the stores to the
   others: a processor with AMX then faults in the engine's first pass (seen; also in llama.cpp's pull request 26954).
   This header goes before every C++ file and says that all 64 are read. */
#if defined(__AMX_TILE__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg\t%0" ::"m"(*(const char(*)[64])(config)))
#endif
