// compiler/backends/llvm/lanes/operation.cpp - one line for each operation of
// ops.def that works component by component.

#include "compiler/backends/cpu/in_place.h"
#include "compiler/backends/llvm/lanes/math.h"

#include "formulas/diagnostic.h"

#include <cmath>
#include <limits>

namespace tilefold::llvm_backend {
namespace {

using ir::Op;
using llvm::Value;

/// The dtype in which two operands are compared: exactly where both are
/// integers, in F64 where one is; a truth value in the other's.
DType comparing_dtype(const Lanes& lanes, Value* a, Value* b) {
    const DType left = lanes.dtype_of(a), right = lanes.dtype_of(b);
    if (left == right && left != DType::Bool)
        return left;
    if (left == DType::I64 || right == DType::I64)
        return DType::F64;
    if (left == DType::Bool && right != DType::Bool)
        return right;
    if (right == DType::Bool && left != DType::Bool)
        return left;
    return lanes.real();
}

Value* compare(Lanes& lanes, llvm::CmpInst::Predicate real,
               llvm::CmpInst::Predicate integer, Value* a, Value* b) {
    const DType dtype = comparing_dtype(lanes, a, b);
    a = lanes.as(dtype, a);
    b = lanes.as(dtype, b);
    return dtype == DType::I64 ? lanes.b.CreateICmp(integer, a, b)
                               : lanes.b.CreateFCmp(real, a, b);
}

Value* sign(Lanes& lanes, Value* x) {
    const DType dtype = lanes.dtype_of(x);
    Value* one = lanes.number(dtype, 1);
    Value* unit =
        lanes.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, one, x);
    Value* zero = lanes.number(dtype, 0);
    Value* nonzero = lanes.b.CreateFCmpONE(x, zero);
    Value* nan = lanes.b.CreateFCmpUNO(x, x);
    return lanes.select(nonzero, unit, lanes.select(nan, x, zero));
}

/// Returns 1/x, and 0 for 0.
Value* pseudo_inverse(Lanes& lanes, Value* x) {
    const DType dtype = lanes.dtype_of(x);
    Value* zero = lanes.number(dtype, 0);
    Value* inverse = lanes.b.CreateFDiv(lanes.number(dtype, 1), x);
    return lanes.select(lanes.b.CreateFCmpOEQ(x, zero), zero, inverse);
}

/// floor(x / y) and x - y times that, which has the divisor's sign.
struct FloorDivision {
    Value *quotient, *rest;
};

/// A quotient may round to the whole number above: the rest has the wrong sign
/// then. That of an infinite divisor is 0, and x the rest.
FloorDivision floor_division(Lanes& lanes, Value* x, Value* y) {
    auto& b = lanes.b;
    Value* quotient =
        b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFDiv(x, y));
    Value* zero = lanes.number(lanes.dtype_of(x), 0);
    Value* rest = lanes.select(b.CreateFCmpOEQ(quotient, zero), x,
                               lanes.fma(b.CreateFNeg(y), quotient, x));
    Value* above = b.CreateFCmpOLT(b.CreateFMul(rest, y), zero);
    Value* below = b.CreateFSub(quotient, lanes.number(lanes.dtype_of(x), 1));
    return {lanes.select(above, below, quotient),
            lanes.select(above, b.CreateFAdd(rest, y), rest)};
}

/// A quotient beyond the digits of its type is no whole number of divisors:
/// seldom one is, and then the library finds the rest.
Value* emit_remainder(Lanes& lanes, const FunctionTable& functions, Value* x,
                      Value* y) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    const auto [quotient, near] = floor_division(lanes, x, y);
    Value* operands[] = {x, y};
    const auto by_library = [&] {
        return call_external(lanes, functions, External::Remainder, dtype,
                             operands);
    };
    if (lanes.width() == 1)
        return by_library();
    Value* is_near = b.CreateFCmpULE( // or NaN
        lanes.absolute(quotient),
        lanes.number(dtype, dtype == DType::F32 ? 0x1p22 : 0x1p51));
    return lanes.mostly(is_near, near, by_library);
}

/// Returns the quotient; an infinite dividend has none, as Python's.
Value* emit_floor_quotient(Lanes& lanes, Value* x, Value* y) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    Value* size = lanes.absolute(x);
    Value* none =
        b.CreateAnd(b.CreateFCmpOEQ(size, lanes.number(dtype, INFINITY)),
                    b.CreateFCmpONE(y, lanes.number(dtype, 0)));
    return lanes.select(none, lanes.number(dtype, NAN),
                        floor_division(lanes, x, y).quotient);
}

/// SLEEF divides the two operands: numbers near the largest, whose reciprocals
/// would be flushed, are scaled first.
Value* emit_atan2(Lanes& lanes, const FunctionTable& functions, Value* y,
                  Value* x) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    if (dtype == DType::F64) {
        Value* largest = b.CreateBinaryIntrinsic(
            llvm::Intrinsic::maxnum, lanes.absolute(x), lanes.absolute(y));
        Value* scale = lanes.select(
            b.CreateFCmpOGT(largest, lanes.number(dtype, 0x1p1000)),
            lanes.number(dtype, 0x1p-100), lanes.number(dtype, 1));
        x = b.CreateFMul(x, scale);
        y = b.CreateFMul(y, scale);
    }
    Value* operands[] = {y, x};
    return call_external(lanes, functions, External::Atan2, dtype, operands);
}

/// Returns 1/sqrt(x), rounded twice, and once corrected by its residual 1 - x
/// y²: 0.6 ulp instead of 1.5. The residual is NaN where y is right as it is.
Value* reciprocal_root(Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    Value* one = lanes.number(dtype, 1);
    Value* y =
        b.CreateFDiv(one, b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    Value* root = b.CreateFMul(x, y);
    Value* lost = lanes.fma(x, y, b.CreateFNeg(root));
    Value* residual = lanes.fma(b.CreateFNeg(root), y, one);
    residual = lanes.fma(b.CreateFNeg(lost), y, residual);
    Value* half = b.CreateFMul(y, lanes.number(dtype, 0.5));
    Value* corrected = lanes.fma(half, residual, y);
    return lanes.select(b.CreateFCmpUNO(corrected, corrected), y, corrected);
}

constexpr long double ln_2 = 0.693147180559945309417232121458176568L;
constexpr long double log10_2 = 0.301029995663981195213738894724493027L;

/// SLEEF's logarithms for AVX-512 multiply first: where results are flushed,
/// they give NaN for a subnormal x. Those are scaled, and the logarithm of the
/// scale, in two parts, is subtracted.
Value* call_logarithm(Lanes& lanes, const FunctionTable& functions,
                      External function, Value* x, long double of_2) {
    const DType dtype = lanes.dtype_of(x);
    if (!row_of(lanes.isa()).masks || lanes.width() == 1)
        return call_external(lanes, functions, function, dtype, {&x, 1});
    auto& b = lanes.b;
    constexpr int shift = 1022;
    const long double whole = shift * of_2;
    const auto high = double(whole);
    const auto number = [&](double value) {
        return lanes.number(dtype, value);
    };
    Value* tiny = b.CreateFCmpOLT(x, number(std::ldexp(1.0, -shift)));
    Value* scaled = b.CreateFMul(x, number(std::ldexp(1.0, shift)));
    x = lanes.select(tiny, scaled, x);
    Value* y = call_external(lanes, functions, function, dtype, {&x, 1});
    Value* less = b.CreateFSub(b.CreateFSub(y, number(double(whole - high))),
                               number(high));
    return lanes.select(tiny, less, y);
}

/// SLEEF takes what is above 1e38 (1e307 in F64) for infinite: a part of it is
/// not, and 1 + x is x. What is tiny it flushes to 0, and it is its own result.
Value* call_log1p(Lanes& lanes, const FunctionTable& functions, Value* x) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    const double large = std::ldexp(1.0, dtype == DType::F32 ? 120 : 1000);
    const auto number = [&](double value) {
        return lanes.number(dtype, value);
    };
    Value* is_large = b.CreateFCmpOGT(x, number(large));
    Value* is_tiny = b.CreateFCmpOLT(
        lanes.absolute(x),
        number(std::ldexp(1.0, dtype == DType::F32 ? -30 : -60)));
    Value* tiny = x;
    Value* part = b.CreateFMul(x, number(0x1p-6));
    x = lanes.select(is_large, part, x);
    Value* y = call_external(lanes, functions, External::Log1p, dtype, {&x, 1});
    Value* more = b.CreateFAdd(y, number(double(6 * ln_2)));
    return lanes.select(is_tiny, tiny, lanes.select(is_large, more, y));
}

/// Whether it is a number known here, which is not NaN.
bool is_bound(Value* x) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(x);
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(
        constant && constant->getType()->isVectorTy()
            ? constant->getSplatValue()
            : constant);
    return number && !number->isNaN();
}

/// Whether polygamma of this order is written in place.
bool is_digamma(const Lanes& lanes, Value* order, DType dtype) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(order);
    return lanes.width() > 1 && dtype == DType::F32 && constant &&
           constant->isNullValue();
}

/// Against a bound, a comparison and a choice are one instruction, which keeps
/// the NaN of the other operand. Of two zeros, it gives any.
Value* maximum(Lanes& lanes, Value* a, Value* b) {
    if (is_bound(a))
        return lanes.larger(a, b);
    if (is_bound(b))
        return lanes.larger(b, a);
    return lanes.b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a, b);
}

Value* minimum(Lanes& lanes, Value* a, Value* b) {
    if (is_bound(a))
        return lanes.smaller(a, b);
    if (is_bound(b))
        return lanes.smaller(b, a);
    return lanes.b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, a, b);
}

/// Calls the double function for one lane after the other: for states of F32,
/// which merge in F64.
Value* call_by_lane(Lanes& lanes, const FunctionTable& functions,
                    External function, std::span<Value* const> operands) {
    auto& b = lanes.b;
    llvm::Type* type = b.getDoubleTy();
    const std::vector<llvm::Type*> parameters(operands.size(), type);
    auto* signature = llvm::FunctionType::get(type, parameters, false);
    Value* pointer = functions.load(2 * int(function) + 1);
    Value* result = llvm::PoisonValue::get(lanes.type(DType::F64));
    for (int lane = 0; lane < lanes.width(); ++lane) {
        llvm::SmallVector<Value*, 3> numbers;
        for (Value* operand : operands)
            numbers.push_back(
                b.CreateExtractElement(operand, std::uint64_t(lane)));
        result = b.CreateInsertElement(
            result, b.CreateCall(signature, pointer, numbers),
            std::uint64_t(lane));
    }
    return result;
}

} // namespace

Value* call_external(Lanes& lanes, const FunctionTable& functions,
                     External function, DType dtype,
                     std::span<Value* const> operands) {
    const bool scalar = lanes.width() == 1;
    if (!scalar && dtype != lanes.real())
        return call_by_lane(lanes, functions, function, operands);
    llvm::Type* type = lanes.type(dtype);
    const std::vector<llvm::Type*> parameters(operands.size(), type);
    auto* signature = llvm::FunctionType::get(type, parameters, false);
    Value* pointer = functions.load(2 * int(function) + (scalar ? 1 : 0));
    return lanes.b.CreateCall(signature, pointer,
                              {operands.data(), operands.size()});
}

Value* emit_operation(Lanes& lanes, const FunctionTable& functions, Op op,
                      DType dtype, std::span<const ir::Sign> signs,
                      std::span<Value* const> operands) {
    auto& b = lanes.b;
    const auto operand = [&](std::size_t k) {
        return lanes.as(dtype, operands[k]);
    };
    const auto truth = [&](std::size_t k) {
        return lanes.as(DType::Bool, operands[k]);
    };
    const auto unary = [&](llvm::Intrinsic::ID id) {
        return b.CreateUnaryIntrinsic(id, operand(0));
    };
    const auto external = [&](External function) {
        std::vector<Value*> converted;
        for (std::size_t k = 0; k < operands.size(); ++k)
            converted.push_back(operand(k));
        return call_external(lanes, functions, function, dtype, converted);
    };
    if (dtype == DType::I64 && op != Op::Where)
        return emit_whole(lanes, op, operands);
    const bool in_place = lanes.width() > 1 && is_in_place(op, dtype);
    const auto logarithm = [&](External function, long double of_2) {
        return in_place ? emit_logarithm(lanes, op, operand(0), signs[0])
                        : call_logarithm(lanes, functions, function, operand(0),
                                         of_2);
    };
    const auto by_pieces = [&](External function) {
        return in_place ? emit_by_pieces(lanes, op, operand(0))
                        : external(function);
    };
    const auto error_function = [&](External function) {
        return in_place ? emit_error_function(lanes, op, operand(0))
                        : external(function);
    };
    const auto kin = [&](External function) {
        return in_place ? emit_exponential_kin(lanes, op, operand(0))
                        : external(function);
    };
    // Of float64, they are made of e^x in two parts.
    const auto of_exponential = [&](External function, const auto& of_single) {
        return in_place && dtype == DType::F64
                   ? emit_exponential_of_double(lanes, op, operand(0))
                   : of_single(function);
    };
    using P = llvm::CmpInst;
    switch (op) {
    case Op::Add:
        return b.CreateFAdd(operand(0), operand(1));
    case Op::Sub:
        return b.CreateFSub(operand(0), operand(1));
    case Op::Neg:
        return b.CreateFNeg(operand(0));
    case Op::Mul:
        return b.CreateFMul(operand(0), operand(1));
    case Op::Div:
        return b.CreateFDiv(operand(0), operand(1));
    case Op::Mod:
        return emit_remainder(lanes, functions, operand(0), operand(1));
    case Op::FloorDiv:
        return emit_floor_quotient(lanes, operand(0), operand(1));
    case Op::Pow:
        return in_place ? emit_power(lanes, operand(0), operand(1), signs[0])
                        : external(External::Pow);
    case Op::Exp:
        return lanes.width() == 1 ? external(External::Exp)
                                  : emit_exp(lanes, operand(0), signs[0]);
    case Op::Exp2:
        return lanes.width() == 1 ? external(External::Exp2)
                                  : emit_exp2(lanes, operand(0), signs[0]);
    case Op::Log:
        return logarithm(External::Log, ln_2);
    case Op::Log2:
        return logarithm(External::Log2, 1);
    case Op::Log10:
        return logarithm(External::Log10, log10_2);
    case Op::Log1p:
        return in_place ? emit_log1p(lanes, operand(0), signs[0])
                        : call_log1p(lanes, functions, operand(0));
    case Op::Expm1:
        return of_exponential(External::Expm1, kin);
    case Op::Sqrt:
        return unary(llvm::Intrinsic::sqrt);
    case Op::Rsqrt:
        return reciprocal_root(lanes, operand(0));
    case Op::Pinv:
        return pseudo_inverse(lanes, operand(0));
    case Op::Abs:
        return lanes.absolute(operand(0));
    case Op::Sign:
        return sign(lanes, operand(0));
    case Op::Floor:
        return unary(llvm::Intrinsic::floor);
    case Op::Ceil:
        return unary(llvm::Intrinsic::ceil);
    case Op::Round:
        return unary(llvm::Intrinsic::roundeven);
    case Op::Trunc:
        return unary(llvm::Intrinsic::trunc);
    case Op::Minimum:
        return minimum(lanes, operand(0), operand(1));
    case Op::Maximum:
        return maximum(lanes, operand(0), operand(1));
    case Op::Where:
        return lanes.select(truth(0), operand(1), operand(2));
    case Op::Less:
        return compare(lanes, P::FCMP_OLT, P::ICMP_SLT, operands[0],
                       operands[1]);
    case Op::LessEqual:
        return compare(lanes, P::FCMP_OLE, P::ICMP_SLE, operands[0],
                       operands[1]);
    case Op::Equal:
        return compare(lanes, P::FCMP_OEQ, P::ICMP_EQ, operands[0],
                       operands[1]);
    case Op::NotEqual:
        return compare(lanes, P::FCMP_UNE, P::ICMP_NE, operands[0],
                       operands[1]);
    case Op::And:
        return b.CreateAnd(truth(0), truth(1));
    case Op::Or:
        return b.CreateOr(truth(0), truth(1));
    case Op::Not:
        return b.CreateNot(truth(0));
    case Op::Rand:
    case Op::Randn:
        return emit_random(lanes, functions, op, dtype, operands);
    case Op::Sin:
        return emit_sine(lanes, functions, External::Sin, operand(0));
    case Op::Cos:
        return emit_sine(lanes, functions, External::Cos, operand(0));
    case Op::Tan:
        return external(External::Tan);
    case Op::Asin:
        return external(External::Asin);
    case Op::Acos:
        return external(External::Acos);
    case Op::Atan:
        return external(External::Atan);
    case Op::Atan2:
        return in_place ? emit_angle(lanes, operand(0), operand(1))
                        : emit_atan2(lanes, functions, operand(0), operand(1));
    case Op::Sinh:
        return of_exponential(External::Sinh, kin);
    case Op::Cosh:
        return of_exponential(External::Cosh, kin);
    case Op::Tanh:
        return of_exponential(External::Tanh, by_pieces);
    case Op::Erf:
        return error_function(External::Erf);
    case Op::Erfc:
        return error_function(External::Erfc);
    case Op::Lgamma:
        return in_place ? emit_lgamma(lanes, functions, operand(0), signs[0])
                        : external(External::Lgamma);
    case Op::Polygamma:
        return is_digamma(lanes, operands[0], dtype)
                   ? emit_digamma(lanes, functions, operand(1), signs[1])
                   : external(External::Polygamma);
    case Op::BesselJ:
        return external(External::BesselJ);
    case Op::BesselY:
        return external(External::BesselY);
    case Op::BesselI:
        return external(External::BesselI);
    case Op::BesselK:
        return external(External::BesselK);
    case Op::Argument:
    case Op::Literal:
    case Op::Constant:
    case Op::Index:
    case Op::IntPow:
    case Op::Slice:
    case Op::Submatrix:
    case Op::Concat:
    case Op::Broadcast:
    case Op::Complex:
    case Op::Unsigned:
    case Op::Reduce:
    case Op::Dot:
    case Op::SqDist:
    case Op::SqNorm:
    case Op::CompSum:
    case Op::CompMax:
    case Op::CompMin:
    case Op::Cross:
    case Op::MatVec:
    case Op::VecMat:
    case Op::Outer:
    case Op::Iota:
    case Op::Gather:
    case Op::GatherRow:
    case Op::GatherElement:
#define COMPOSITE(op, body) case Op::op:
#include "compiler/ir/composites.def"
#undef COMPOSITE
        break; // by evaluate.cpp, or of composites.def
    }
    internal_error(std::string(ir::mnemonic(op)) + " is not elementwise");
}

} // namespace tilefold::llvm_backend
