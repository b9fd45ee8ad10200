// compiler/backends/llvm/lanes/logarithm_by_quotient.cpp - log of F64, log1p of
// F32 and F64, in place.
//
// x = 2^i (1 + m), and with s = m/(2 + m) and z = s²
//
//   log(1 + m) = log((1 + s)/(1 - s)) = 2 s + s R(z)
//              = m - (m²/2 - s (m²/2 + R(z))),
//
// where only m is not small beside the result. log 2 is in two parts, the first
// short enough that its product with i is exact. log1p(x) is the logarithm of
// u = 1 + x and (x - (u - 1))/u, what u lacks; where i is 0, m is x itself.
// (Sun's fdlibm, 1993, e_log.c and s_log1p.c, whose R these are: within
// 2^-58 of F64 and 2^-34 of F32.) Logarithms of base 2 and 10 are the product
// of log(1 + m) in two parts and 1/log b in two.

#include "compiler/backends/llvm/lanes/logarithm_by_quotient.h"

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/logarithm_by_table.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>
#include <span>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

struct Numbers {
    std::span<const double> r; ///< R(z)/z
    double of_2, of_2_low;     ///< log 2
};

constexpr std::array<double, 7> r_of_f64 = {
    0x1.5555555555593p-1, 0x1.999999997fa04p-2, 0x1.2492494229359p-2,
    0x1.c71c51d8e78afp-3, 0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3,
    0x1.2f112df3e5244p-3,
};
constexpr std::array<double, 4> r_of_f32 = {
    0x1.555554p-1,
    0x1.999c26p-2,
    0x1.23d3dcp-2,
    0x1.f13c4cp-3,
};
/// The same for m up to 1: minimax, within 2^-59 and 2^-33.
constexpr std::array<double, 10> r_of_unit_f64 = {
    0x1.5555555555535p-1, 0x1.99999999a083cp-2, 0x1.2492492085948p-2,
    0x1.c71c741f7dec8p-3, 0x1.745cb39d5ed45p-3, 0x1.3b1de2fba2353p-3,
    0x1.10676a9c9e764p-3, 0x1.efdd6479b624dp-4, 0x1.559cd125fa144p-4,
    0x1.5c89e3fb0ea54p-3};
constexpr std::array<double, 5> r_of_unit_f32 = {
    0x1.555558p-1, 0x1.9996a8p-2, 0x1.250972p-2, 0x1.b6d69ep-3, 0x1.f1aef6p-3};
constexpr Numbers numbers_of_f64 = {r_of_f64, 0x1.62e42feep-1,
                                    0x1.a39ef35793c76p-33};
constexpr Numbers numbers_of_f32 = {r_of_f32, 0x1.62e3p-1, 0x1.2fefa2p-17};

/// 1/log b and log_b 2, in two parts.
struct OtherBase {
    double slope, slope_low, of_2, of_2_low;
};
constexpr OtherBase to_base_2 = {0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56, 1,
                                 0};
constexpr OtherBase to_base_10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57,
                                  0x1.34413509f6p-2, 0x1.9fef311f12b36p-42};

class ByQuotient {
public:
    ByQuotient(Lanes& lanes, DType dtype)
        : lanes_(lanes), dtype_(dtype),
          numbers_(dtype == DType::F64 ? numbers_of_f64 : numbers_of_f32) {}

    Value* logarithm(Value* x) {
        const auto [m, i] = split_exponent(lanes_, x);
        return sum(m, i, nullptr);
    }
    Value* logarithm(Value* x, const OtherBase& base) {
        const auto [m, i] = split_exponent(lanes_, x);
        const auto [half, rest] = parts(m, numbers_.r);
        Value* high = b().CreateFSub(m, half);
        Value* low =
            b().CreateFAdd(b().CreateFSub(b().CreateFSub(m, high), half), rest);
        Value* product = b().CreateFMul(high, number(base.slope));
        Value* lost =
            lanes_.fma(high, number(base.slope), b().CreateFNeg(product));
        lost = lanes_.fma(high, number(base.slope_low), lost);
        lost = lanes_.fma(low, number(base.slope), lost);
        lost = lanes_.fma(i, number(base.of_2_low), lost);
        // The first term is 0 or the larger one.
        Value* whole = b().CreateFMul(i, number(base.of_2));
        Value* sum = b().CreateFAdd(whole, product);
        Value* rounded = b().CreateFAdd(b().CreateFSub(whole, sum), product);
        return b().CreateFAdd(sum, b().CreateFAdd(rounded, lost));
    }
    /// Returns log(1 + x) of x above -1.
    Value* logarithm_of_one_and(Value* x) {
        Value* u = b().CreateFAdd(x, number(1));
        // Where |x| is above 1, 1 is the smaller one.
        Value* is_large = b().CreateFCmpOGT(x, number(1));
        Value* larger = lanes_.select(is_large, x, number(1));
        Value* smaller = lanes_.select(is_large, number(1), x);
        Value* lost = b().CreateFSub(smaller, b().CreateFSub(u, larger));
        const auto [of_u, i] = split_exponent(lanes_, u);
        Value* m = lanes_.select(b().CreateFCmpOEQ(i, number(0)), x, of_u);
        // lost/u: two digits of 1/(1 + m) are enough, by one step from a
        // line. It is nothing beside a u of more than 2^60.
        Value* line = lanes_.fma(m, number(-0.8), number(0.97));
        Value* error = lanes_.fma(b().CreateFNeg(line),
                                  b().CreateFAdd(m, number(1)), number(1));
        Value* inverse = lanes_.fma(line, error, line);
        Value* scale =
            power_of_two(lanes_, b().CreateFNeg(lanes_.smaller(number(60), i)));
        Value* share = b().CreateFMul(b().CreateFMul(lost, inverse), scale);
        // Where i is 0, m has it already.
        share =
            lanes_.select(b().CreateFCmpOEQ(i, number(0)), number(0), share);
        return sum(m, i, share);
    }

    /// Returns log(1 + m) of m from 0 to 1.
    Value* logarithm_of_one_and_unit(Value* m) {
        Value* rest = parts(m, dtype_ == DType::F64
                                   ? std::span<const double>(r_of_unit_f64)
                                   : r_of_unit_f32)
                          .rest;
        // The first two terms, and what their sum lacks: m may be twice as
        // large as the result.
        Value* opposite = b().CreateFMul(m, number(-0.5));
        Value* first = lanes_.fma(opposite, m, m);
        Value* lost = lanes_.fma(opposite, m, b().CreateFSub(m, first));
        return b().CreateFAdd(first, b().CreateFAdd(rest, lost));
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(dtype_, value); }

    /// log(1 + m) = m - half + rest
    struct Parts {
        Value *half, *rest;
    };
    Parts parts(Value* m, std::span<const double> of_r) {
        Value* s = b().CreateFDiv(m, b().CreateFAdd(m, number(2)));
        Value* z = b().CreateFMul(s, s);
        Value* half = b().CreateFMul(b().CreateFMul(m, number(0.5)), m);
        Value* r = lanes_.fma(z, horner_of_pairs(lanes_, of_r, z), half);
        return {half, b().CreateFMul(s, r)};
    }

    /// Returns log(1 + m) + i log 2 + rest.
    Value* sum(Value* m, Value* i, Value* rest) {
        const auto [half, part] = parts(m, numbers_.r);
        Value* low = b().CreateFMul(i, number(numbers_.of_2_low));
        if (rest)
            low = b().CreateFAdd(low, rest);
        Value* small = b().CreateFSub(half, b().CreateFAdd(part, low));
        Value* result = b().CreateFSub(m, small);
        // With i, m goes last to what is as large.
        return lanes_.fma(i, number(numbers_.of_2), result);
    }

    Lanes& lanes_;
    DType dtype_;
    const Numbers& numbers_;
};

} // namespace

Value* logarithm_of_double(Lanes& lanes, ir::Op op, Value* x) {
    ByQuotient logarithm(lanes, DType::F64);
    if (op == ir::Op::Log)
        return logarithm.logarithm(x);
    return logarithm.logarithm(x, op == ir::Op::Log2 ? to_base_2 : to_base_10);
}

Value* emit_log1p(Lanes& lanes, Value* x, ir::Sign sign) {
    if (has_avx512(lanes))
        return log1p_by_table(lanes, x, sign);
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    if (sign == ir::Sign::Unit)
        return ByQuotient(lanes, dtype).logarithm_of_one_and_unit(x);
    const auto number = [&](double value) {
        return lanes.number(dtype, value);
    };
    Value* y = ByQuotient(lanes, dtype).logarithm_of_one_and(x);
    if (ir::is_nonnegative(sign))
        return lanes.select(b.CreateFCmpOLT(x, number(INFINITY)), y, x);
    // Zero keeps its sign; infinity and NaN are their own.
    Value* is_own = b.CreateOr(b.CreateFCmpOEQ(x, number(0)),
                               b.CreateFCmpUEQ(x, number(INFINITY)));
    y = lanes.select(is_own, x, y);
    y = lanes.select(b.CreateFCmpOEQ(x, number(-1)), number(-INFINITY), y);
    return lanes.select(b.CreateFCmpOLT(x, number(-1)), number(NAN), y);
}

} // namespace tilefold::llvm_backend
