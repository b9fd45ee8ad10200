// compiler/ir/integer.h - what operations of ops.def mean on whole numbers:
// exact arithmetic on I64, and random numbers.
//
// 1. Integers never wrap: a result beyond I64 is its least or largest number.
//    Divided by 0 they are 0, as in NumPy.
// 2. Random numbers are Philox4x32-10 (Salmon et al., SC 2011) of the key
//    `seed` and the counter (i, j), low words first. The first word's upper 24
//    bits are the uniform number, so that f32 and f64 hold the same one.
#pragma once

#include "compiler/ir/ir.h"

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace tilefold::ir {

/// The result of an operation whose result rule is Affine, on integers.
std::int64_t evaluate_integer(Op op, const std::int64_t* operands);
/// Returns the result of Less, LessEqual, Equal or NotEqual of two integers.
bool compare_integers(Op op, const std::int64_t* operands);

/// Returns `value`, a number as `dtype` (F64 or F32) holds it, if it is whole
/// and not another whole number that was rounded.
std::optional<std::int64_t> integer_of(double value, DType dtype);
/// The largest magnitude that integer_of() takes.
double largest_integer(DType dtype);

/// Returns `value` as I64, rounded towards 0, or the nearest I64 where it is
/// too large.
std::int64_t saturated(double value);

/// A number as a double and as an I64, one of which holds it exactly. (On macOS
/// a long double, which holds all of both elsewhere, is a double.)
struct Number {
    template <std::floating_point Real>
    Number(Real value) : real(double(value)), whole(saturated(double(value))) {}
    template <std::integral Whole>
    Number(Whole value)
        : real(double(value)),
          whole(std::in_range<std::int64_t>(value)
                    ? std::int64_t(value)
                    : std::numeric_limits<std::int64_t>::max()) {}

    double real;
    std::int64_t whole;
};

/// Returns four random words for a seed and two counters.
std::array<std::uint32_t, 4> philox(std::int64_t seed, std::int64_t i,
                                    std::int64_t j);
/// Returns the random number of Rand or Randn.
double evaluate_random(Op op, const std::int64_t* operands);

/// Philox multiplies counter words 0 and 2 by these, and adds the steps to key
/// words 0 and 1 between its rounds.
inline constexpr std::uint32_t philox_multipliers[] = {0xd2511f53, 0xcd9e8d57};
inline constexpr std::uint32_t philox_steps[] = {0x9e3779b9, 0xbb67ae85};
inline constexpr int philox_rounds = 10;

} // namespace tilefold::ir
