// tests/numerics/ulp_samples.cpp - inputs where functions are likely worst.

#include "tests/numerics/ulp_samples.h"

#include <bit>
#include <cmath>
#include <random>

namespace tilefold::test {
namespace {

constexpr std::uint32_t significands = 1 << 23;

/// `count` floats around x, in steps of its last place.
void add_neighbours(std::vector<float>& all, float x, std::uint32_t count) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x) - count / 2;
    for (std::uint32_t k = 0; k < count; ++k)
        all.push_back(std::bit_cast<float>(bits + k));
}

/// The significands of an exponent and a sign: the ends, and a spread.
void add_exponent(std::vector<float>& all, std::uint32_t sign_and_exponent,
                  std::uint32_t count) {
    const std::uint32_t first = sign_and_exponent << 23;
    for (std::uint32_t k = 0; k < 16; ++k) {
        all.push_back(std::bit_cast<float>(first + k));
        all.push_back(std::bit_cast<float>(first + significands - 1 - k));
    }
    std::mt19937 random(sign_and_exponent);
    for (std::uint32_t k = 0; k < count; ++k)
        all.push_back(std::bit_cast<float>(first + std::uint32_t(random()) %
                                                       significands));
}

float any_float(std::mt19937& random) {
    return std::bit_cast<float>(std::uint32_t(random()));
}

/// 2^e, e in [-spread, spread), with a random significand.
float moderate(std::mt19937& random, int spread) {
    const int exponent = int(random() % std::uint32_t(2 * spread)) - spread;
    const float significand = 1 + float(random() % significands) / significands;
    return std::ldexp(significand, exponent);
}

/// y such that x^y is of any size that float32 holds.
float exponent_for(std::mt19937& random, float x) {
    const double size = 126.0 * (double(random()) / 0x1p31 - 1);
    return float(size / std::log2(double(x)));
}

} // namespace

std::vector<float> numbers(float worst) {
    std::vector<float> all;
    add_neighbours(all, worst, 1 << 17);
    for (std::uint32_t k = 0; k < 512; ++k)
        add_exponent(all, k, 1024);
    for (int k = -512; k <= 512; ++k) {
        add_neighbours(all, float(k), 64);
        add_neighbours(all, float(k / 512.0), 64);
        add_neighbours(all, float(k * 1.5707963267948966), 64);
    }
    std::mt19937 random(1);
    while (all.size() < 1 << 20)
        all.push_back(moderate(random, 20));
    all.resize(1 << 20);
    return all;
}

Samples pairs(ir::Op op, std::uint64_t part, std::size_t count) {
    std::mt19937 random(std::uint32_t(part) + 1);
    Samples samples;
    for (std::size_t k = 0; k < count; ++k) {
        float x = moderate(random, 1 + int(part % 120));
        float y = moderate(random, 1 + int(part % 120));
        if (op == ir::Op::Pow && part % 4) {
            y = exponent_for(random, x);
        } else if (part % 16 == 0) {
            x = any_float(random);
            y = any_float(random);
        } else if (op != ir::Op::Pow) {
            x = random() % 2 ? x : -x;
            y = random() % 2 ? y : -y;
        }
        samples.x.push_back(op == ir::Op::Pow ? std::abs(x) : x);
        samples.y.push_back(y);
    }
    return samples;
}

} // namespace tilefold::test
