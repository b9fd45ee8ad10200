// compiler/backends/llvm/lanes/error_function.cpp - erf of F64, erfc of F32 and
// F64, by pieces.
//
// erf is a polynomial of degree 22 on each of four pieces of one width.
//
// erfc(u) = e^(-u²) c0 (1 + ρ) for u >= 0, where ρ is a polynomial on pieces
// that grow with u: their number is in the bits of s u + 1, of F32 and on
// AVX-512 two to an octave, of F64 elsewhere one.
// u² is h + l without an error, and e^(-h-l) = 2^n (1 + p), of F32 with eighths
// of n and T = 2^(k/8) in twelve bits, so that T c0 has no error either. Only
// what is small beside it is rounded: p + ρ + pρ.

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/error_function_tables.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/numbers.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// (e^r - 1 - r)/r² for |r| <= 0.044; minimax, 2^-32.
constexpr std::array<double, 3> near_exponential = {
    0x1.ffffffd362e32p-2,
    0x1.555c86f46cd9fp-3,
    0x1.555db9eb2657fp-5,
};

/// How erfc of a dtype is computed.
struct ErfcNumbers {
    DType words;
    int mantissa_bits;
    int shift;    ///< of the bits of s u + 1
    double last;  ///< u is held here, beyond which results are 0
    double scale; ///< s
    const ErfcPieces* pieces;
    int steps;             ///< of n: eighths or whole numbers
    double step, step_low; ///< log(2)/steps
    std::span<const double> exponential;
};
constexpr ErfcNumbers numbers_f32 = {
    DType::I32,
    23,
    22,
    9.2,
    1.5,
    &of_erfc_f32,
    8,
    0x1.62e4p-4,
    0x1.7f7d1cf79abcap-23,
    near_exponential,
};
constexpr ErfcNumbers numbers_f64 = {
    DType::I64,
    52,
    52,
    26.6,
    0.5625,
    &of_erfc_f64,
    1,
    0x1.62e42fefa39efp-1,
    0x1.abc9e3b39803fp-56,
    rest_of_exponential,
};

/// A permutation of AVX-512 chooses from eight pieces.
constexpr ErfcNumbers numbers_f64_on_8 = [] {
    ErfcNumbers of = numbers_f64;
    of.shift = 51;
    of.pieces = &of_erfc_f64_on_8;
    return of;
}();

const ErfcNumbers& numbers_of(const Lanes& lanes, DType dtype) {
    if (dtype == DType::F32)
        return numbers_f32;
    return has_avx512(lanes) ? numbers_f64_on_8 : numbers_f64;
}

class Erfc {
public:
    explicit Erfc(Lanes& lanes, DType dtype)
        : lanes_(lanes), dtype_(dtype), of_(numbers_of(lanes, dtype)) {}

    /// Returns the function of u >= 0, or NaN.
    Value* of_magnitude(Value* u) {
        Value* held = lanes_.smaller(number(of_.last), u);
        const auto [c0, slope, b_] = on_piece(held);
        const Power power = power_of_square(held);
        Value* exact = power.entry ? b().CreateFMul(power.entry, c0) : c0;
        Value* rho = b().CreateFMul(slope, b_);
        Value* rest = lanes_.fma(
            slope, b_, lanes_.fma(rho, power.less_one, power.less_one));
        Value* result =
            b().CreateFMul(lanes_.fma(exact, rest, exact), power.scale);
        return lanes_.select(b().CreateFCmpOGT(u, number(of_.last)), number(0),
                             result);
    }

private:
    /// 1 + ρ = 1 + slope b
    struct OnPiece {
        Value *c0, *slope, *b;
    };
    /// e^(-u²) = entry scale (1 + less_one); entry may be 1 (null).
    struct Power {
        Value *less_one, *entry, *scale;
    };

    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(dtype_, value); }
    Value* bits_of(Value* x) {
        return b().CreateBitCast(x, lanes_.type(of_.words));
    }

    OnPiece on_piece(Value* u) {
        Value* y = lanes_.fma(u, number(of_.scale), number(1));
        const PieceChoice choice(
            lanes_, b().CreateLShr(bits_of(y), std::uint64_t(of_.shift)));
        const auto& [x0, c0, c] = *of_.pieces;
        Value* apart = b().CreateFSub(u, choice.of(x0));
        return {choice.of(c0), choice.polynomial(c, apart, c0.size()), apart};
    }

    Power power_of_square(Value* u) {
        Value* high = b().CreateFMul(u, u);
        Value* low = lanes_.fma(u, u, b().CreateFNeg(high));
        // A sum with it is a whole number, which its low bits hold.
        const double magic = std::ldexp(1.5, of_.mantissa_bits);
        Value* shifted = lanes_.fma(
            high, number(-std::numbers::log2e * of_.steps), number(magic));
        Value* n = b().CreateFSub(shifted, number(magic));
        Value* whole = bits_of(shifted);
        Value* entry = nullptr;
        if (of_.steps == 8) {
            const PieceChoice choice(lanes_, whole);
            entry = choice.of(eighths_of_power);
            low = b().CreateFAdd(low, choice.of(above_eighths));
            whole = b().CreateLShr(whole, 3);
        }
        Value* r = lanes_.fma(n, number(-of_.step), b().CreateFNeg(high));
        r = b().CreateFSub(r, lanes_.fma(n, number(of_.step_low), low));
        Value* q = horner(lanes_, of_.exponential, r);
        return {lanes_.fma(b().CreateFMul(r, r), q, r), entry,
                power_of_two_of_bits(lanes_, whole)};
    }

    Lanes& lanes_;
    DType dtype_;
    const ErfcNumbers& of_;
};

Value* emit_erfc(Lanes& lanes, Value* x, ir::Sign sign) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    Value* result = Erfc(lanes, dtype).of_magnitude(lanes.absolute(x));
    if (ir::is_nonnegative(sign))
        return result;
    Value* is_below = b.CreateFCmpOLT(x, lanes.number(dtype, 0));
    return lanes.select(is_below, b.CreateFSub(lanes.number(dtype, 2), result),
                        result);
}

/// c0 + c1 b is a sum with its rest.
Value* emit_erf(Lanes& lanes, Value* x) {
    constexpr double width = 109.0 / 64, last = 5.95; // from 5.92 on it is 1
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* u = lanes.smaller(number(last), lanes.absolute(x));
    Value* shifted = lanes.fma(u, number(1 / width), number(whole_of_double));
    Value* k = b.CreateFSub(shifted, number(whole_of_double));
    Value* apart = lanes.fma(k, number(-width), u);
    const PieceChoice choice(lanes,
                             b.CreateBitCast(shifted, lanes.type(DType::I64)));
    const auto coefficients = std::span(of_erf_f64);
    constexpr auto pieces = std::size_t(pieces_of(DType::F64));
    Value* q = choice.polynomial(coefficients.subspan(2 * pieces), apart);
    Value* is_first = b.CreateFCmpOEQ(k, number(0));
    Value* first =
        lanes.select(is_first, u, choice.of(coefficients.first(pieces)));
    Value* slope = choice.of(coefficients.subspan(pieces, pieces));
    Value* high = lanes.fma(slope, apart, first);
    Value* low = lanes.fma(slope, apart, b.CreateFSub(first, high));
    low = b.CreateFAdd(low, choice.of(low_of_erf_f64));
    Value* rest = lanes.fma(b.CreateFMul(apart, apart), q, low);
    return lanes.with_sign_of(x, b.CreateFAdd(high, rest));
}

} // namespace

Value* emit_error_function(Lanes& lanes, ir::Op op, Value* x, ir::Sign sign) {
    const DType dtype = lanes.dtype_of(x);
    const bool is_from_1_to_2 = sign == ir::Sign::NonPositive;
    if (op == ir::Op::Erfc && !is_from_1_to_2)
        return emit_erfc(lanes, x, sign);
    Value* erf = dtype == DType::F32 ? emit_by_pieces(lanes, ir::Op::Erf, x)
                                     : emit_erf(lanes, x);
    return op == ir::Op::Erf ? erf
                             : lanes.b.CreateFSub(lanes.number(dtype, 1), erf);
}

} // namespace tilefold::llvm_backend
