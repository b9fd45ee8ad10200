// compiler/backends/llvm/lanes/exponential_of_double.cpp - expm1, tanh, sinh
// and cosh of F64, in place, of e^x and a number in two parts
// (exponential_pair.h).
//
// tanh u is N/(N + 2) with N = e^2u - 1, of which the quotient's remainder
// takes the lower parts. cosh u is (P + 1/P)/2, and sinh u (E + E/P)/2, with P
// = e^u and E = P - 1.

#include "compiler/backends/llvm/lanes/exponential_pair.h"
#include "compiler/backends/llvm/lanes/math.h"

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// Halves are computed and doubled, so that the largest results have
/// exponents. Beyond `least` it is -1, beyond `most` infinite.
Value* emit_expm1(Lanes& lanes, Value* x) {
    constexpr double least = -40, most = 710, tiny = 0x1p-54;
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* held = lanes.larger(number(least), lanes.smaller(number(most), x));
    const NumberPair half = exponential_pair(lanes, held, -1)->plus(-0.5);
    Value* sum = b.CreateFAdd(half.high, half.low);
    Value* is_tiny = b.CreateFCmpOLT(lanes.absolute(x), number(tiny));
    return lanes.select(is_tiny, x, b.CreateFAdd(sum, sum));
}

Value* emit_tanh(Lanes& lanes, Value* x) {
    constexpr double most = 20; // from 19.1 on it is 1
    auto& b = lanes.b;
    Value* u = lanes.smaller(lanes.number(DType::F64, most), lanes.absolute(x));
    const auto power = exponential_pair(lanes, b.CreateFAdd(u, u), 0);
    const NumberPair less = power->plus(-1);
    auto [more, low] =
        sum_of_any(lanes, less.high, lanes.number(DType::F64, 2));
    const NumberPair result =
        rough_quotient_of(lanes, less, {more, b.CreateFAdd(low, less.low)});
    return lanes.with_sign_of(x, b.CreateFAdd(result.high, result.low));
}

/// cosh, or sinh of |x| with the sign of x. Halves are computed and doubled, so
/// that the largest results have exponents.
Value* emit_hyperbolic(Lanes& lanes, ir::Op op, Value* x) {
    constexpr double most = 710.6; // from 710.5 on it is infinite
    constexpr double large = 300;  // e^-u is nothing beside e^u
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* u = lanes.smaller(number(most), lanes.absolute(x));
    const auto power = exponential_pair(lanes, u, -2);
    const NumberPair quarter = power->plus(0);
    const NumberPair whole = {b.CreateFMul(quarter.high, number(4)),
                              b.CreateFMul(quarter.low, number(4))};
    const bool is_sinh = op == ir::Op::Sinh;
    const NumberPair first = is_sinh ? power->plus(-0.25) : quarter;
    const NumberPair above =
        is_sinh ? first : NumberPair{number(0.25), nullptr};
    const NumberPair second = rough_quotient_of(lanes, above, whole);
    // The first is the larger one.
    auto [high, low] = sum_of(lanes, first.high, second.high);
    low = b.CreateFAdd(low, b.CreateFAdd(first.low, second.low));
    Value* is_large = b.CreateFCmpOGT(u, number(large));
    high = lanes.select(is_large, first.high, high);
    low = lanes.select(is_large, first.low, low);
    Value* half = b.CreateFAdd(high, low);
    Value* result = b.CreateFAdd(half, half);
    return is_sinh ? lanes.with_sign_of(x, result) : result;
}

} // namespace

Value* emit_exponential_of_double(Lanes& lanes, ir::Op op, Value* x) {
    if (op == ir::Op::Expm1)
        return emit_expm1(lanes, x);
    return op == ir::Op::Tanh ? emit_tanh(lanes, x)
                              : emit_hyperbolic(lanes, op, x);
}

} // namespace tilefold::llvm_backend
