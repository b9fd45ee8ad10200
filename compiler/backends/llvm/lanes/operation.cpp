// compiler/backends/llvm/lanes/operation.cpp - one line for each operation of
// ops.def that works component by component; functions are in function.cpp.

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/root.h"

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
    Value* operands[] = {x, y};
    const auto by_library = [&] {
        return call_external(lanes, functions, External::Remainder, dtype,
                             operands);
    };
    if (lanes.width() == 1)
        return by_library();
    const FloorDivision division = floor_division(lanes, x, y);
    Value* is_near = b.CreateFCmpULE( // or NaN
        lanes.absolute(division.quotient),
        lanes.number(dtype, dtype == DType::F32 ? 0x1p22 : 0x1p51));
    return lanes.mostly(
        is_near, division.rest, [](Value* rest) { return rest; }, by_library);
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

/// Whether it is a number known here, which is not NaN.
bool is_bound(Value* x) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(x);
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(
        constant && constant->getType()->isVectorTy()
            ? constant->getSplatValue()
            : constant);
    return number && !number->isNaN();
}

/// Against a bound, a comparison and a choice are one instruction, which keeps
/// the NaN of the other operand. Of two zeros, it gives any.
Value* larger_of(Lanes& lanes, Value* a, Value* b) {
    if (is_bound(a))
        return lanes.larger(a, b);
    if (is_bound(b))
        return lanes.larger(b, a);
    return lanes.b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a, b);
}

Value* smaller_of(Lanes& lanes, Value* a, Value* b) {
    if (is_bound(a))
        return lanes.smaller(a, b);
    if (is_bound(b))
        return lanes.smaller(b, a);
    return lanes.b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, a, b);
}

} // namespace

Value* emit_operation(Lanes& lanes, const FunctionTable& functions, Op op,
                      DType dtype, std::span<const Known> known,
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
    if (dtype == DType::I64 && op != Op::Where)
        return emit_integer(lanes, op, operands);
    using P = llvm::CmpInst;
    const auto compared = [&](P::Predicate real, P::Predicate integer) {
        return compare(lanes, real, integer, operands[0], operands[1]);
    };
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
    case Op::Sqrt:
        return emit_root(lanes, operand(0));
    case Op::Rsqrt:
        return emit_inverse_root(lanes, operand(0));
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
        return smaller_of(lanes, operand(0), operand(1));
    case Op::Maximum:
        return larger_of(lanes, operand(0), operand(1));
    case Op::Where:
        return lanes.select(truth(0), operand(1), operand(2));
    case Op::Less:
        return compared(P::FCMP_OLT, P::ICMP_SLT);
    case Op::LessEqual:
        return compared(P::FCMP_OLE, P::ICMP_SLE);
    case Op::Equal:
        return compared(P::FCMP_OEQ, P::ICMP_EQ);
    case Op::NotEqual:
        return compared(P::FCMP_UNE, P::ICMP_NE);
    case Op::And:
        return b.CreateAnd(truth(0), truth(1));
    case Op::Or:
        return b.CreateOr(truth(0), truth(1));
    case Op::Not:
        return b.CreateNot(truth(0));
    case Op::Rand:
    case Op::Randn:
        return emit_random(lanes, functions, op, dtype, operands);
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Log10:
    case Op::Log1p:
    case Op::Expm1:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Atan2:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Tanh:
    case Op::Erf:
    case Op::Erfc:
    case Op::Pow:
    case Op::Gamma:
    case Op::Lgamma:
    case Op::Polygamma:
    case Op::BesselJ:
    case Op::BesselY:
    case Op::BesselI:
    case Op::BesselK:
        return emit_function(lanes, functions, op, dtype, known, operands);
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
