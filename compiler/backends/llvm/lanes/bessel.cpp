// compiler/backends/llvm/lanes/bessel.cpp - Bessel functions J of the orders
// -1, 0 and 1, in place, of F32 in double.
//
// Below 8 they are polynomials in x². From 8 on, with P and Q polynomials in
// 1/x² (Hankel's expansion, DLMF 10.17, fitted from 8 on),
//
//   J_0(x) = ((P + Q) cos x + (P - Q) sin x)/√(πx),
//   J_1(x) = ((P + Q) sin x - (P - Q) cos x)/√(πx).

#include "compiler/backends/llvm/lanes/bessel_tables.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/numbers.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"
#include "compiler/backends/llvm/lanes/polynomial.h"
#include "compiler/backends/llvm/lanes/sine.h"

#include <numbers>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double far_from = 8;

/// J of order 0 or 1 for lanes of F64, to as many digits as F32 or F64 has.
class BesselJ {
public:
    BesselJ(Lanes& lanes, DType digits, bool is_first, Value* x)
        : lanes_(lanes), is_single_(digits == DType::F32), is_first_(is_first),
          of_(is_single_ ? (is_first ? j1_f32 : j0_f32)
                         : (is_first ? j1_f64 : j0_f64)),
          x_(x), size_(lanes.absolute(x)) {}

    Value* value() {
        Value* is_far = b().CreateFCmpOGE(size_, number(far_from));
        return lanes_.select(is_far, far(), near());
    }

private:
    llvm::IRBuilder<>& b() const { return lanes_.b; }
    Value* number(double value) const {
        return lanes_.number(DType::F64, value);
    }

    Value* near() {
        Value* square = b().CreateFMul(x_, x_);
        Value* even = is_single_
                          ? horner_of_pairs(lanes_, of_.near,
                                            b().CreateFSub(square, number(32)))
                          : by_pieces(square);
        return is_first_ ? b().CreateFMul(x_, even) : even;
    }
    Value* by_pieces(Value* square) {
        constexpr double width = 16;
        Value* shifted = lanes_.fma(b().CreateFSub(square, number(width / 2)),
                                    number(1 / width), number(whole_of_double));
        Value* piece = b().CreateFSub(shifted, number(whole_of_double));
        Value* middle = lanes_.fma(piece, number(width), number(width / 2));
        const PieceChoice choice(
            lanes_, b().CreateBitCast(shifted, lanes_.type(DType::I64)));
        return choice.polynomial(of_.near, b().CreateFSub(square, middle));
    }

    Value* far() {
        Value* inverse = b().CreateFDiv(number(1), size_);
        Value* square = b().CreateFMul(b().CreateFMul(inverse, inverse),
                                       number(far_from * far_from));
        Value* even = horner_of_pairs(lanes_, of_.even, square);
        Value* odd =
            b().CreateFMul(horner_of_pairs(lanes_, of_.odd, square), inverse);
        Value* sum = b().CreateFAdd(even, odd);
        Value* difference = b().CreateFSub(even, odd);
        const auto [sine, cosine] = sine_and_cosine(lanes_, size_);
        Value* turned =
            is_first_
                ? lanes_.fma(sum, sine,
                             b().CreateFNeg(b().CreateFMul(difference, cosine)))
                : lanes_.fma(sum, cosine, b().CreateFMul(difference, sine));
        Value* root = b().CreateUnaryIntrinsic(
            llvm::Intrinsic::sqrt,
            b().CreateFMul(inverse, number(std::numbers::inv_pi)));
        Value* size = b().CreateFMul(turned, root);
        return is_first_ ? signed_as_x(size) : size;
    }
    /// Changes the sign where x is negative.
    Value* signed_as_x(Value* value) {
        return lanes_.select(b().CreateFCmpOLT(x_, number(0)),
                             b().CreateFNeg(value), value);
    }

    Lanes& lanes_;
    bool is_single_, is_first_;
    const BesselTables& of_;
    Value *x_, *size_;
};

} // namespace

Value* emit_bessel_j(Lanes& lanes, const FunctionTable& functions, int order,
                     Value* x) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    const auto near = [&](Value* of) {
        Value* wide = lanes.as(DType::F64, of);
        Value* of_size =
            lanes.as(dtype, BesselJ(lanes, dtype, order != 0, wide).value());
        return order < 0 ? b.CreateFNeg(of_size) : of_size; // J_-1 is -J_1
    };
    Value* is_near = // or NaN
        b.CreateFCmpULE(lanes.absolute(x),
                        lanes.number(dtype, farthest_of_both));
    return lanes.mostly(is_near, x, near, [&] {
        Value* operands[] = {lanes.number(dtype, order), x};
        return call_external(lanes, functions, External::BesselJ, dtype,
                             operands);
    });
}

} // namespace tilefold::llvm_backend
