// compiler/backends/llvm/lanes/lgamma_by_pieces.cpp - lgamma of F32 on AVX-512,
// in F32.
//
// From 7/8 to 31/8 there are 16 pieces, with b = x - x0:
//   lgamma(x) = s b + (lgamma(x0) + b q(b)),
// where s is ±1/2 beside the zeros 1 and 2, so that s b is exact and most of
// the sum, and 0 elsewhere. Below, lgamma(x) = lgamma(x + 1) - log x, with b =
// x - (x0 - 1), by which nothing of x is lost. Above, Stirling's series,
//   x (log x - 1) - log(x)/2 + log(2 pi)/2 + w(1/x²)/x,
// the first product as a sum of two numbers. In all of them log x is one of two
// numbers, of which the first has few bits. Up to 1.15 ulp.

#include "compiler/backends/llvm/lanes/lgamma_by_pieces.h"

#include "compiler/backends/llvm/lanes/lgamma_tables.h"
#include "compiler/backends/llvm/lanes/logarithm_by_table.h"
#include "compiler/backends/llvm/lanes/number_pair.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double pieces_from = 0.875, stirling_from = 3.875;
/// Infinite from here on.
constexpr double lgamma_infinite_from = 5e36;

class Lgamma {
public:
    Lgamma(Lanes& lanes, Value* x)
        : lanes_(lanes),
          x_(lanes.smaller(lanes.number(DType::F32, lgamma_infinite_from), x)),
          log_(natural_logarithm_in_parts(lanes, x_)) {}

    Value* value() {
        Value* is_in_series = b().CreateFCmpOGE(x_, number(stirling_from));
        return lanes_.select(is_in_series, by_series(), by_pieces());
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F32, value); }

    Value* by_pieces() {
        Value* is_below = b().CreateFCmpOLT(x_, number(pieces_from));
        // Eighths of numbers from 1 to 2, and quarters from 2 to 4, are the
        // same four bits.
        Value* place = b().CreateFAdd(
            x_, lanes_.select(is_below, number(1.125), number(0.125)));
        const PieceChoice choice(
            lanes_, b().CreateLShr(
                        b().CreateBitCast(place, lanes_.type(DType::I32)), 20));
        Value* point = choice.of(lgamma_points);
        point =
            lanes_.select(is_below, b().CreateFSub(point, number(1)), point);
        Value* apart = b().CreateFSub(x_, point);
        Value* sum =
            lanes_.fma(apart, choice.polynomial(lgamma_pieces, apart, 16),
                       choice.of(lgamma_values));
        sum = lanes_.select(is_below, b().CreateFSub(sum, log_.low), sum);
        sum = b().CreateFAdd(b().CreateFMul(apart, choice.of(lgamma_slopes)),
                             sum);
        return lanes_.select(is_below, b().CreateFSub(sum, log_.high), sum);
    }

    /// Half of it, so that no part is infinite where the sum is not.
    Value* by_series() {
        Value* half = b().CreateFMul(x_, number(0.5));
        const NumberPair product =
            product_of(lanes_, half, b().CreateFSub(log_.high, number(1)));
        Value* inverse = b().CreateFDiv(number(1), x_);
        Value* rest = horner(lanes_, lgamma_half_series,
                             b().CreateFMul(inverse, inverse));
        Value* small = lanes_.fma(b().CreateFAdd(log_.high, log_.low),
                                  number(-0.25), number(quarter_log_of_2_pi));
        small = lanes_.fma(rest, inverse, small);
        Value* low = lanes_.fma(half, log_.low, product.low);
        Value* sum = b().CreateFAdd(product.high, b().CreateFAdd(low, small));
        return b().CreateFAdd(sum, sum);
    }

    Lanes& lanes_;
    Value* x_;
    NumberPair log_;
};

} // namespace

Value* lgamma_by_pieces(Lanes& lanes, Value* x) {
    return Lgamma(lanes, x).value();
}

} // namespace tilefold::llvm_backend
