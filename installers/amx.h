/* GCC before 11.5, 12.4 and 13.3 believes that ldtilecfg reads eight bytes of the tile configuration and drops the
   stores to the other 56 (GCC PR target/114098): a processor with AMX then faults in the engine's first pass.
   Debian 12's compiler is one of them. This header goes before every C++ file and says what is really read. */
#if defined(__AMX_TILE__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg\t%0" ::"m"(*(const char(*)[64])(config)))
#endif
