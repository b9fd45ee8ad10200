// runtime/math_library.cpp - SLEEF's functions of at most 1 ulp, as tables.
//
// sleef.h declares a vector function only where the compiler targets its
// instruction set; here only addresses are taken, by symbol name.

#include "runtime/math_library.h"

#include "formulas/diagnostic.h"

#include <string>

extern "C" {

#define SYMBOL(name, kind, symbol)                                             \
    extern const char tilefold_##name##_##kind __asm__("Sleef_" symbol);
#define EXTERNAL(name, arity, stem)                                            \
    SYMBOL(name, scalar, stem "_u10")                                          \
    SYMBOL(name, f8, stem "f8_u10avx2")                                        \
    SYMBOL(name, d4, stem "d4_u10avx2")                                        \
    SYMBOL(name, f16, stem "f16_u10avx512f")                                   \
    SYMBOL(name, d8, stem "d8_u10avx512f")
#include "compiler/externals.def"
#undef EXTERNAL
#undef SYMBOL

} // extern "C"

namespace tilefold {
namespace {

#define ROW(name, kind) &tilefold_##name##_##kind, &tilefold_##name##_scalar,

const void* const f32_8_lanes[] = {
#define EXTERNAL(name, arity, stem) ROW(name, f8)
#include "compiler/externals.def"
#undef EXTERNAL
};
const void* const f64_4_lanes[] = {
#define EXTERNAL(name, arity, stem) ROW(name, d4)
#include "compiler/externals.def"
#undef EXTERNAL
};
const void* const f32_16_lanes[] = {
#define EXTERNAL(name, arity, stem) ROW(name, f16)
#include "compiler/externals.def"
#undef EXTERNAL
};
const void* const f64_8_lanes[] = {
#define EXTERNAL(name, arity, stem) ROW(name, d8)
#include "compiler/externals.def"
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
