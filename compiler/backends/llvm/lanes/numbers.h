// compiler/backends/llvm/lanes/numbers.h - numbers that several functions are
// computed with.
#pragma once

namespace tilefold::llvm_backend {

/// A sum with it is a whole number, which its low bits hold.
inline constexpr double whole_of_single = 0x1.8p23, whole_of_double = 0x1.8p52;

/// A number as one of a dtype, and what that lacks.
struct InTwoParts {
    double high, low;
};
inline constexpr InTwoParts ln_2_of_double{0x1.62e42fefa39efp-1,
                                           0x1.abc9e3b39803fp-56};
/// The high one has ten digits, so that a whole number of it is exact.
inline constexpr InTwoParts ln_2_of_single{0x1.62ep-1, 0x1.0bfbe8p-15};

} // namespace tilefold::llvm_backend
