// runtime/cpu/special_lanes.cpp - the functions of special.h on whole vectors,
// lane by lane, and functions of float32 by way of double; the vectors are in
// registers as kernels pass them.

#include "compiler/ir/special.h"
#include "runtime/cpu/symbol.h"
#include TILEFOLD_LANES_HEADER // of this architecture

namespace {

#define VECTORS(bytes, floats, doubles, ...)                                   \
    using F##floats = float __attribute__((vector_size(bytes)));               \
    using HalfOfF##floats = float __attribute__((vector_size(bytes / 2)));     \
    using D##doubles = double __attribute__((vector_size(bytes)));
TILEFOLD_LANES(VECTORS)

} // namespace

#define OF_VECTOR_2(symbol, kind, Vector, count, isa)                          \
    __attribute__((target(isa))) Vector tilefold_special_##symbol##_##kind(    \
        Vector x, Vector y) {                                                  \
        Vector result;                                                         \
        for (int k = 0; k < count; ++k)                                        \
            result[k] =                                                        \
                decltype(+x[0])(tilefold::special::symbol(x[k], y[k]));        \
        return result;                                                         \
    }
#define OF_REGISTER(bytes, floats, doubles, suffix, isa, arity, symbol)        \
    OF_VECTOR_##arity(symbol, f##floats, F##floats, floats, isa)               \
        OF_VECTOR_##arity(symbol, d##doubles, D##doubles, doubles, isa)
#define SPECIAL(arity, symbol)                                                 \
    TILEFOLD_LANES(OF_REGISTER, arity, symbol) SCALAR_##arity(symbol)
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
    PARAMETERS_##arity(WideVector, tilefold_wide_##name##_##kind)              \
        TILEFOLD_SYMBOL(symbol);                                               \
    PARAMETERS_##arity(Vector, tilefold_halves_##name##_##kind)                \
        TILEFOLD_SYMBOL("tilefold_in_double_" #name "_" #kind);                \
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
#define OF_HALVES(bytes, floats, doubles, suffix, isa, name, error, arity)     \
    HALVES(name, F##floats, HalfOfF##floats, D##doubles, f##floats,            \
           "Sleef_" #name "d" #doubles error suffix, isa, arity)
#define IN_DOUBLE(name, error, arity)                                          \
    TILEFOLD_LANES(OF_HALVES, name, error, arity)
IN_DOUBLE(atan2, "_u10", 2)
IN_DOUBLE(pow, "_u10", 2)
IN_DOUBLE(sinh, "_u10", 1)
IN_DOUBLE(cosh, "_u10", 1)
IN_DOUBLE(lgamma, "_u10", 1)
IN_DOUBLE(tgamma, "_u10", 1)
IN_DOUBLE(erfc, "_u15", 1)

} // extern "C"
