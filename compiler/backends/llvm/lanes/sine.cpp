// compiler/backends/llvm/lanes/sine.cpp - sin x and cos x, of float32 in
// double, and tan x.
//
//   sin x = (-1)^n sin r,  cos x = (-1)^n cos r,  n = rint(x/pi), r = x - n pi
//
// cos r is (pi²/4 - r²) q(r²), so that near its zeros, too, it has all bits; a
// sine and a cosine of one x share the reduction and the sign.
//
// Double has the bits that the difference and the polynomial need, so that 13
// operations are right to 0.6 ulp, the sign of 0 included. SLEEF's of 0.9 ulp,
// in pairs of float32, takes longer: on a Zen 3 sin(x_i) is 1.31 ns an element
// with it, 0.77 with this. Beyond `farthest`, where x/pi runs out of bits, and
// for infinities a lane is left to SLEEF; the others keep what they have, since
// a number's sine is not to depend on what lies beside it.

#include "compiler/backends/llvm/lanes/sine.h"

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/number_pair.h"
#include "compiler/backends/llvm/lanes/numbers.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cstdint>
#include <numbers>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double farthest_of_single = 0x1p40;
constexpr double farthest_tangent_of_single = 3e5;
/// pi in two parts.
constexpr double pi_high = 0x1.921fb54442d18p+1;
constexpr double pi_low = 0x1.1a62633145c07p-53;

/// sin r = r (1 + p(r²)), p without its constant of 0: minimax in the relative
/// error on [-pi/2, pi/2], 6.1e-9.
constexpr std::array<double, 4> odd{-0x1.55554bc82c016p-3, 0x1.110ed37e708dap-7,
                                    -0x1.9f6ffe8b33f80p-13,
                                    0x1.5dbdeb3b6c3eap-19};
/// cos r = (pi²/4 - r²) q(r²): the same, 1e-9.
constexpr std::array<double, 5> even{
    0x1.9f02f61b5628fp-2, -0x1.3a76a04914952p-5, 0x1.5c78de1bb056ap-10,
    -0x1.94721b3a0fa95p-16, 0x1.14f1a038418f9p-22};
constexpr double square_of_half_pi = 0x1.3bd3cc9be45dep+1;

Value* near_sine(Lanes& lanes, Value* narrow, bool is_cosine) {
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* x = lanes.as(DType::F64, narrow);
    Value* turns =
        lanes.fma(x, number(std::numbers::inv_pi), number(whole_of_double));
    Value* n = b.CreateFSub(turns, number(whole_of_double));
    Value* r = lanes.fma(n, number(-pi_high), x);
    r = lanes.fma(n, number(-pi_low), r);
    Value* square = b.CreateFMul(r, r);
    const auto sine_of_r = [&] {
        Value* p = horner(lanes, odd, square);
        return b.CreateFMul(r, lanes.fma(p, square, number(1)));
    };
    const auto cosine_of_r = [&] {
        Value* from_zero =
            lanes.fma(b.CreateFNeg(r), r, number(square_of_half_pi));
        return b.CreateFMul(from_zero, horner(lanes, even, square));
    };
    Value* of_r = is_cosine ? cosine_of_r() : sine_of_r();
    llvm::Type* bits = lanes.type(DType::I64);
    Value* sign = b.CreateShl(b.CreateBitCast(turns, bits), 63);
    Value* signed_bits = b.CreateXor(b.CreateBitCast(of_r, bits), sign);
    return lanes.as(DType::F32,
                    b.CreateBitCast(signed_bits, lanes.type(DType::F64)));
}

/// F64: x = n pi/2 + r + l, n pi/2 in three parts (Cody and Waite), and of both
/// polynomials the one of n. A sine and a cosine of one x share all but the
/// choice.
constexpr double farthest_of_double = 0x1p20;
constexpr QuarterTurn quarter_of_double = {
    0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110,
    0x1.45f306dc9c883p-1, whole_of_double};
/// sin r = r + r³ s(r²), cos r = 1 - r²/2 + r⁴ c(r²), |r| <= pi/4.
constexpr std::array<double, 6> of_sine = {
    -0x1.5555555555548p-3, 0x1.111111110f73p-7,    -0x1.a01a019be9543p-13,
    0x1.71de3555a4dd4p-19, -0x1.ae5e4c74d50f7p-26, 0x1.5d8bda4dbdf98p-33,
};
constexpr std::array<double, 6> of_cosine = {
    0x1.555555555554bp-5,   -0x1.6c16c16c15014p-10, 0x1.a01a019c8ef7fp-16,
    -0x1.27e4f7f16434fp-22, 0x1.1ee9dba913c67p-29,  -0x1.8fa66cd4ae1e1p-37,
};

/// sin r and cos r of x = ±(n pi/2 + r), each as a pair, and n by its bits.
struct InQuarter {
    NumberPair sine, cosine;
    Value* n;
};

InQuarter in_quarter(Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    const auto [turns, r, l] =
        in_turns(lanes, quarter_of_double, lanes.absolute(x));
    Value* z = b.CreateFMul(r, r);
    Value* half = b.CreateFMul(z, number(0.5));
    Value* of_l = lanes.fma(b.CreateFNeg(half), l, l);
    Value* of_cube =
        lanes.fma(b.CreateFMul(z, r), horner_of_pairs(lanes, of_sine, z), of_l);
    // 1 - r²/2 is rounded, and so is r².
    Value* whole = b.CreateFSub(number(1), half);
    Value* rounded = b.CreateFSub(b.CreateFSub(number(1), whole), half);
    Value* of_square = lanes.fma(r, r, b.CreateFNeg(z));
    Value* low = lanes.fma(of_square, number(-0.5), rounded);
    low = lanes.fma(b.CreateFNeg(r), l, low);
    low = lanes.fma(b.CreateFMul(z, z), horner_of_pairs(lanes, of_cosine, z),
                    low);
    return {{r, of_cube},
            {whole, low},
            b.CreateBitCast(turns, lanes.type(DType::I64))};
}

Value* word(Lanes& lanes, std::uint64_t value) {
    return llvm::ConstantInt::get(lanes.type(DType::I64), value);
}

Value* is_odd(Lanes& lanes, Value* n) {
    return lanes.b.CreateICmpNE(lanes.b.CreateAnd(n, word(lanes, 1)),
                                word(lanes, 0));
}

/// The number with its sign changed where the highest bit of `sign` is set.
Value* with_sign_bit(Lanes& lanes, Value* number, Value* sign) {
    auto& b = lanes.b;
    Value* bits = b.CreateBitCast(number, lanes.type(DType::I64));
    return b.CreateBitCast(b.CreateXor(bits, sign), lanes.type(DType::F64));
}

Value* sign_bit(Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    return b.CreateAnd(b.CreateBitCast(x, lanes.type(DType::I64)),
                       word(lanes, std::uint64_t(1) << 63));
}

/// Changes the sign of a sine or cosine of `quarters` more.
Value* turned(Lanes& lanes, Value* number, Value* quarters) {
    auto& b = lanes.b;
    return with_sign_bit(lanes, number,
                         b.CreateShl(b.CreateLShr(quarters, 1), 63));
}

Value* near_sine_of_double(Lanes& lanes, Value* x, bool is_cosine) {
    auto& b = lanes.b;
    const auto [sine, cosine, n] = in_quarter(lanes, x);
    Value* quarters = is_cosine ? b.CreateAdd(n, word(lanes, 1)) : n;
    Value* chosen = lanes.select(is_odd(lanes, quarters),
                                 b.CreateFAdd(cosine.high, cosine.low),
                                 b.CreateFAdd(sine.high, sine.low));
    Value* of_size = turned(lanes, chosen, quarters);
    return is_cosine ? of_size
                     : with_sign_bit(lanes, of_size, sign_bit(lanes, x));
}

/// sin r / cos r, or -cos r / sin r of an odd n.
Value* near_tangent_of_double(Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const auto [sine, cosine, n] = in_quarter(lanes, x);
    Value* is_inverse = is_odd(lanes, n);
    // Added first, so that the second part is small.
    const auto either = [&](const NumberPair& odd, const NumberPair& even) {
        return sum_of(lanes, lanes.select(is_inverse, odd.high, even.high),
                      lanes.select(is_inverse, odd.low, even.low));
    };
    const auto [high, low] =
        rough_quotient_of(lanes, either(cosine, sine), either(sine, cosine));
    Value* sign = b.CreateXor(b.CreateShl(n, 63), sign_bit(lanes, x));
    return with_sign_bit(lanes, b.CreateFAdd(high, low), sign);
}

} // namespace

InTurns in_turns(Lanes& lanes, const QuarterTurn& turn, Value* x) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    const auto number = [&](double value) {
        return lanes.number(dtype, value);
    };
    Value* shifted = lanes.fma(x, number(turn.inverse), number(turn.whole));
    Value* n = b.CreateFSub(shifted, number(turn.whole));
    Value* first = lanes.fma(n, number(-turn.high), x); // exact
    Value* second = b.CreateFMul(n, number(turn.middle));
    Value* lost = lanes.fma(n, number(turn.middle), b.CreateFNeg(second));
    Value* r = b.CreateFSub(first, second);
    Value* l = b.CreateFSub(b.CreateFSub(b.CreateFSub(first, r), second), lost);
    return {shifted, r, lanes.fma(n, number(-turn.low), l)};
}

SineAndCosine sine_and_cosine(Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* shifted = lanes.fma(x, number(quarter_of_double.inverse),
                               number(whole_of_double));
    Value* n = b.CreateFSub(shifted, number(whole_of_double));
    Value* first = lanes.fma(n, number(-quarter_of_double.high), x);
    Value* r = lanes.fma(n, number(-quarter_of_double.middle), first);
    Value* z = b.CreateFMul(r, r);
    Value* sine =
        lanes.fma(b.CreateFMul(z, r), horner_of_pairs(lanes, of_sine, z), r);
    Value* cosine =
        lanes.fma(b.CreateFMul(z, z), horner_of_pairs(lanes, of_cosine, z),
                  lanes.fma(z, number(-0.5), number(1)));
    Value* quarters = b.CreateBitCast(shifted, lanes.type(DType::I64));
    Value* odd = is_odd(lanes, quarters);
    return {turned(lanes, lanes.select(odd, cosine, sine), quarters),
            turned(lanes, lanes.select(odd, sine, cosine),
                   b.CreateAdd(quarters, word(lanes, 1)))};
}

Value* emit_sine(Lanes& lanes, const FunctionTable& functions,
                 External function, Value* x) {
    const DType dtype = lanes.dtype_of(x);
    const auto by_library = [&] {
        return call_external(lanes, functions, function, dtype, {&x, 1});
    };
    if (lanes.width() == 1)
        return by_library();
    const bool is_single = dtype == DType::F32;
    if (is_single && functions.sine)
        return functions.sine(function, x);
    Value* is_near = // or NaN
        lanes.b.CreateFCmpULE(lanes.absolute(x),
                              lanes.number(dtype, is_single
                                                      ? farthest_of_single
                                                      : farthest_of_double));
    const auto near = [&](Value* of) {
        return (is_single ? near_sine : near_sine_of_double)(
            lanes, of, function == External::Cos);
    };
    return lanes.mostly(is_near, x, near, by_library);
}

Value* emit_tangent(Lanes& lanes, const FunctionTable& functions, Value* x) {
    const DType dtype = lanes.dtype_of(x);
    const auto by_library = [&] {
        return call_external(lanes, functions, External::Tan, dtype, {&x, 1});
    };
    const bool is_single = dtype == DType::F32;
    Value* is_near = // or NaN
        lanes.b.CreateFCmpULE(
            lanes.absolute(x),
            lanes.number(dtype, is_single ? farthest_tangent_of_single
                                          : farthest_of_double));
    const auto near = [&](Value* of) {
        return is_single ? near_tangent_of_single(lanes, of)
                         : near_tangent_of_double(lanes, of);
    };
    return lanes.mostly(is_near, x, near, by_library);
}

} // namespace tilefold::llvm_backend
