// compiler/backends/llvm/lanes/polynomial.h - polynomials on lanes, whose
// coefficients come lowest first.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

#include <array>
#include <span>

namespace tilefold::llvm_backend {

/// Evaluates the polynomial by Horner's rule.
llvm::Value* horner(Lanes& lanes, std::span<const double> coefficients,
                    llvm::Value* x);
/// Evaluates the polynomial in pairs of terms, by Horner's rule in x²: half as
/// long a chain for one operation more.
llvm::Value* horner_of_pairs(Lanes& lanes, std::span<const double> coefficients,
                             llvm::Value* x);

/// (e^r - 1 - r)/r² for |r| <= log(2)/2: interpolated at the nodes of
/// Chebyshev's polynomial, relative error of e^r - 1 2^-59.
inline constexpr std::array<double, 12> rest_of_exponential = {
    0x1.0000000000000p-1,  0x1.5555555555555p-3,  0x1.5555555555557p-5,
    0x1.1111111111111p-7,  0x1.6c16c16c15a0ap-10, 0x1.a01a01a01967ap-13,
    0x1.a01a01aa109bbp-16, 0x1.71de3a5abc8c6p-19, 0x1.27e4d3b13855fp-22,
    0x1.ae642c13c8d5fp-26, 0x1.1f7fe7ae52b10p-29, 0x1.61c0771ef2dc6p-33,
};

/// (2^f - 1)/f for f from -1/2 to 1, relative error 2.4e-18.
inline constexpr std::array<double, 13> rest_of_power_of_two = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c589p-3,  0x1.c6b08d704a198p-5,
    0x1.3b2ab6fba591bp-7,  0x1.5d87fe7886b06p-10, 0x1.430912f72b063p-13,
    0x1.ffcbfcd8e2a7cp-17, 0x1.62c0227f1df9cp-20, 0x1.b524598fbfaddp-24,
    0x1.e4d9f9cd904d5p-28, 0x1.e9bfe31ab433ap-32, 0x1.aab34ac945cf4p-36,
    0x1.1aed87e9ab208p-39};

} // namespace tilefold::llvm_backend
