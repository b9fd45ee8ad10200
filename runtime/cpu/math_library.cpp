// runtime/cpu/math_library.cpp - SLEEF's functions, and the rare ones of
// special.h, as tables.
//
// sleef.h declares a vector function only where the compiler targets its
// instruction set; here only addresses are taken, by symbol name.

#include "runtime/cpu/math_library.h"

#include "formulas/diagnostic.h"

#include <string>

extern "C" {

#define SYMBOL(name, kind, symbol)                                             \
    extern const char tilefold_##name##_##kind __asm__(symbol);
#define OF_SLEEF(name, stem, error)                                            \
    SYMBOL(name, scalar, "Sleef_" stem error)                                  \
    SYMBOL(name, f8, "Sleef_" stem "f8" error "avx2")                          \
    SYMBOL(name, d4, "Sleef_" stem "d4" error "avx2")                          \
    SYMBOL(name, f16, "Sleef_" stem "f16" error "avx512f")                     \
    SYMBOL(name, d8, "Sleef_" stem "d8" error "avx512f")
#define OF_Sleef10(name, stem) OF_SLEEF(name, stem, "_u10")
#define OF_Sleef15(name, stem) OF_SLEEF(name, stem, "_u15")
#define OF_SLEEF_IN_DOUBLE(name, stem, error)                                  \
    SYMBOL(name, scalar, "Sleef_" stem error)                                  \
    SYMBOL(name, f8, "tilefold_in_double_" stem "_f8")                         \
    SYMBOL(name, d4, "Sleef_" stem "d4" error "avx2")                          \
    SYMBOL(name, f16, "tilefold_in_double_" stem "_f16")                       \
    SYMBOL(name, d8, "Sleef_" stem "d8" error "avx512f")
#define OF_Sleef10InDouble(name, stem) OF_SLEEF_IN_DOUBLE(name, stem, "_u10")
#define OF_Sleef15InDouble(name, stem) OF_SLEEF_IN_DOUBLE(name, stem, "_u15")
#define OF_Sleef10InRanges(name, stem)                                         \
    SYMBOL(name, scalar, "Sleef_" stem "_u10")                                 \
    SYMBOL(name, f8, "tilefold_in_ranges_" stem "_f8")                         \
    SYMBOL(name, d4, "tilefold_in_ranges_" stem "_d4")                         \
    SYMBOL(name, f16, "tilefold_in_ranges_" stem "_f16")                       \
    SYMBOL(name, d8, "tilefold_in_ranges_" stem "_d8")
#define OF_Special(name, symbol)                                               \
    SYMBOL(name, scalar, "tilefold_special_" #symbol "_scalar")                \
    SYMBOL(name, f8, "tilefold_special_" #symbol "_f8")                        \
    SYMBOL(name, d4, "tilefold_special_" #symbol "_d4")                        \
    SYMBOL(name, f16, "tilefold_special_" #symbol "_f16")                      \
    SYMBOL(name, d8, "tilefold_special_" #symbol "_d8")
#define EXTERNAL(name, arity, library, symbol) OF_##library(name, symbol)
#include "compiler/ir/externals.def"
#undef EXTERNAL

} // extern "C"

namespace tilefold {
namespace {

#define ROW(name, kind) &tilefold_##name##_##kind, &tilefold_##name##_scalar,

const void* const f32_8_lanes[] = {
#define EXTERNAL(name, arity, library, symbol) ROW(name, f8)
#include "compiler/ir/externals.def"
#undef EXTERNAL
};
const void* const f64_4_lanes[] = {
#define EXTERNAL(name, arity, library, symbol) ROW(name, d4)
#include "compiler/ir/externals.def"
#undef EXTERNAL
};
const void* const f32_16_lanes[] = {
#define EXTERNAL(name, arity, library, symbol) ROW(name, f16)
#include "compiler/ir/externals.def"
#undef EXTERNAL
};
const void* const f64_8_lanes[] = {
#define EXTERNAL(name, arity, library, symbol) ROW(name, d8)
#include "compiler/ir/externals.def"
#undef EXTERNAL
};
#undef ROW

} // namespace

const void* const* math_functions(DType real, std::int32_t lanes) {
    if (real == DType::F32 && lanes == 8)
        return f32_8_lanes;
    if (real == DType::F32 && lanes == 16)
        return f32_16_lanes;
    if (real == DType::F64 && lanes == 4)
        return f64_4_lanes;
    if (real == DType::F64 && lanes == 8)
        return f64_8_lanes;
    internal_error("no functions of " + std::to_string(lanes) + " lanes");
}

} // namespace tilefold
