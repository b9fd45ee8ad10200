// tests/numerics/ulp_samples.h - inputs where functions are likely to be worst.
#pragma once

#include "tests/numerics/ulp.h"

#include <vector>

namespace tilefold::test {

struct Samples {
    std::vector<float> x, y;
};

/// 2^20 inputs of a function of one operand: the neighbours of `worst`, every
/// exponent with many significands, and small whole numbers and multiples of
/// π/2 with their neighbours.
std::vector<float> numbers(float worst);

/// The `part`-th `count` pairs for a function of two operands: of all
/// exponents, and such that the result is of moderate size.
Samples pairs(ir::Op op, std::uint64_t part, std::size_t count);

} // namespace tilefold::test
