// compiler/ir/integer.cpp - operations on whole numbers.

#include "compiler/ir/integer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tilefold::ir {
namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

std::int64_t sum(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result))
        return a < 0 ? least : largest;
    return result;
}

std::int64_t difference(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(a, b, &result))
        return a < 0 ? least : largest;
    return result;
}

/// The remainder has the divisor's sign.
std::int64_t remainder(std::int64_t a, std::int64_t b) {
    if (b == 0 || b == -1) // a quotient of -2^63 by -1 would be beyond I64
        return 0;
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t quotient(std::int64_t a, std::int64_t b) {
    if (b == 0)
        return 0;
    if (b == -1)
        return difference(0, a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

double uniform(std::uint32_t word) {
    return double(word >> 8) * 0x1p-24;
}

} // namespace

std::int64_t evaluate_integer(Op op, const std::int64_t* x) {
    switch (op) {
    case Op::Add:
        return sum(x[0], x[1]);
    case Op::Sub:
        return difference(x[0], x[1]);
    case Op::Neg:
        return difference(0, x[0]);
    case Op::Abs:
        return x[0] < 0 ? difference(0, x[0]) : x[0];
    case Op::Mod:
        return remainder(x[0], x[1]);
    case Op::FloorDiv:
        return quotient(x[0], x[1]);
    case Op::Minimum:
        return std::min(x[0], x[1]);
    case Op::Maximum:
        return std::max(x[0], x[1]);
    case Op::Where:
        return x[0] != 0 ? x[1] : x[2];
    default:
        internal_error(std::string(mnemonic(op)) + " of integers");
    }
}

bool compare_integers(Op op, const std::int64_t* x) {
    switch (op) {
    case Op::Less:
        return x[0] < x[1];
    case Op::LessEqual:
        return x[0] <= x[1];
    case Op::Equal:
        return x[0] == x[1];
    case Op::NotEqual:
        return x[0] != x[1];
    default:
        internal_error(std::string(mnemonic(op)) + " is no comparison");
    }
}

double largest_integer(DType dtype) {
    return dtype == DType::F32 ? 0x1p24 - 1 : 0x1p53 - 1;
}

std::optional<std::int64_t> integer_of(double value, DType dtype) {
    if (!(std::abs(value) <= largest_integer(dtype)) ||
        std::floor(value) != value)
        return std::nullopt;
    return std::int64_t(value);
}

std::int64_t saturated(double value) {
    if (!(value >= -0x1p63))
        return least;
    return value >= 0x1p63 ? largest : std::int64_t(value);
}

std::array<std::uint32_t, 4> philox(std::int64_t seed, std::int64_t i,
                                    std::int64_t j) {
    const auto low = [](std::int64_t word) { return std::uint32_t(word); };
    const auto high = [](std::int64_t word) {
        return std::uint32_t(std::uint64_t(word) >> 32);
    };
    std::array<std::uint32_t, 4> x{low(i), high(i), low(j), high(j)};
    std::uint32_t key[] = {low(seed), high(seed)};
    for (int round = 0; round < philox_rounds; ++round) {
        const std::uint64_t a = std::uint64_t(philox_multipliers[0]) * x[0];
        const std::uint64_t b = std::uint64_t(philox_multipliers[1]) * x[2];
        x = {std::uint32_t(b >> 32) ^ x[1] ^ key[0], std::uint32_t(b),
             std::uint32_t(a >> 32) ^ x[3] ^ key[1], std::uint32_t(a)};
        key[0] += philox_steps[0];
        key[1] += philox_steps[1];
    }
    return x;
}

double evaluate_random(Op op, const std::int64_t* x) {
    const std::array<std::uint32_t, 4> words = philox(x[0], x[1], x[2]);
    if (op == Op::Rand)
        return uniform(words[0]);
    // Box and Muller's method; 1 - u is never 0.
    return std::sqrt(-2 * std::log(1 - uniform(words[0]))) *
           std::cos(2 * std::numbers::pi * uniform(words[1]));
}

} // namespace tilefold::ir
