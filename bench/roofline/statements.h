// bench/roofline/statements.h - a chain of elementwise statements, by hand.
#pragma once

#include "codes.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// results[k] = the sum of the elements of the array k after `statements`
/// statements: x + 0.1, sin, 1.1 x, cos, x + 0.2, relu, x - 0.1, exp(0.5 x),
/// x + 0.3, sigmoid, 1.2 x, sin, x + 0.4, cos, x - 0.2, relu, x + 0.5,
/// exp(0.4 x), 1.3 x, sigmoid, and again from the first.
///
/// Arrays are (rows[k], 16), at most 64 rows. All are gone through `rounds`
/// times, on the calling thread. sin and cos have 0.6 ulp, as tilefold's.
int tilefold_roofline_statements_f32(std::int64_t statements,
                                     std::int64_t rounds, std::int64_t count,
                                     const float* const* arrays,
                                     const std::int64_t* rows, float* results);
}

namespace roofline {

constexpr std::ptrdiff_t StatementRows = 64;

/// One array, in AVX-512.
float sum_of_statements(std::ptrdiff_t statements, const float* x,
                        std::ptrdiff_t rows);

} // namespace roofline
