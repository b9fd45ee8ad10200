// runtime/cpu/special_lanes.cpp - the functions of special.h on whole vectors,
// lane by lane, and functions of float32 by way of double; the vectors are in
// registers as kernels pass them.

#include "compiler/ir/special.h"

namespace {

using F4 = float __attribute__((vector_size(16)));
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
#define IS_Sleef10InDouble(arity, symbol)
#define IS_Sleef10InRanges(arity, symbol)
#define IS_Sleef15InDouble(arity, symbol)
#define IS_Special(arity, symbol) SPECIAL(arity, symbol)

extern "C" {
#define EXTERNAL(name, arity, library, symbol) IS_##library(arity, symbol)
#include "compiler/ir/externals.def"
#undef EXTERNAL
}

// Functions of float32 by SLEEF's of double: each half of the lanes.
extern "C" {

#define WIDE(x) __builtin_convertvector(x, Wide)
#define HALVES(name, Vector, Half, WideVector, kind, symbol, isa, arity)       \
    PARAMETERS_##arity(WideVector,                                             \
                       tilefold_wide_##name##_##kind) __asm__(symbol);         \
    PARAMETERS_##arity(Vector, tilefold_halves_##name##_##kind) __asm__(       \
        "tilefold_in_double_" #name "_" #kind);                                \
    __attribute__((target(isa))) PARAMETERS_##arity(                           \
        Vector, tilefold_halves_##name##_##kind) {                             \
        using Wide = WideVector;                                               \
        Half a[2], b[2];                                                       \
        __builtin_memcpy(a, &x, sizeof x);                                     \
        __builtin_memcpy(b, &LAST_##arity, sizeof x);                          \
        for (int k = 0; k < 2; ++k)                                            \
            a[k] = __builtin_convertvector(                                    \
                tilefold_wide_##name##_##kind(OPERANDS_##arity(k)), Half);     \
        __builtin_memcpy(&x, a, sizeof x);                                     \
        return x;                                                              \
    }
#define PARAMETERS_1(Vector, function) Vector function(Vector x)
#define PARAMETERS_2(Vector, function) Vector function(Vector x, Vector y)
#define LAST_1 x
#define LAST_2 y
#define OPERANDS_1(k) WIDE(a[k])
#define OPERANDS_2(k) WIDE(a[k]), WIDE(b[k])
#define IN_DOUBLE(name, error, arity)                                          \
    HALVES(name, F8, F4, D4, f8, "Sleef_" #name "d4" error "avx2", "avx2",     \
           arity)                                                              \
    HALVES(name, F16, F8, D8, f16, "Sleef_" #name "d8" error "avx512f",        \
           "avx512f", arity)
IN_DOUBLE(atan2, "_u10", 2)
IN_DOUBLE(pow, "_u10", 2)
IN_DOUBLE(sinh, "_u10", 1)
IN_DOUBLE(cosh, "_u10", 1)
IN_DOUBLE(lgamma, "_u10", 1)
IN_DOUBLE(erfc, "_u15", 1)

} // extern "C"
