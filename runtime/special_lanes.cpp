// runtime/special_lanes.cpp - the functions of special.h on whole vectors,
// lane by lane, with the vectors in registers as kernels pass them.

#include "compiler/special.h"

namespace {

using F8 = float __attribute__((vector_size(32)));
using D4 = double __attribute__((vector_size(32)));
using F16 = float __attribute__((vector_size(64)));
using D8 = double __attribute__((vector_size(64)));

} // namespace

#define LANES_2(symbol, kind, Vector, count, isa)                              \
    __attribute__((target(isa))) Vector tilefold_special_##symbol##_##kind(    \
        Vector x, Vector y) {                                                  \
        Vector result;                                                         \
        for (int k = 0; k < count; ++k)                                        \
            result[k] =                                                        \
                decltype(+x[0])(tilefold::special::symbol(x[k], y[k]));        \
        return result;                                                         \
    }
#define SPECIAL(arity, symbol)                                                 \
    LANES_##arity(symbol, f8, F8, 8, "avx2")                                   \
        LANES_##arity(symbol, d4, D4, 4, "avx2")                               \
            LANES_##arity(symbol, f16, F16, 16, "avx512f")                     \
                LANES_##arity(symbol, d8, D8, 8, "avx512f")                    \
                    SCALAR_##arity(symbol)
#define SCALAR_2(symbol)                                                       \
    double tilefold_special_##symbol##_scalar(double x, double y) {            \
        return tilefold::special::symbol(x, y);                                \
    }
#define IS_Sleef10(arity, symbol)
#define IS_Sleef15(arity, symbol)
#define IS_Special(arity, symbol) SPECIAL(arity, symbol)

extern "C" {
#define EXTERNAL(name, arity, library, symbol) IS_##library(arity, symbol)
#include "compiler/externals.def"
#undef EXTERNAL
}
