// compiler/backends/llvm/lanes/function.cpp - elementary functions: written in
// place where that is done, and else a call of the library.

#include "compiler/backends/cpu/in_place.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/numbers.h"
#include "formulas/diagnostic.h"

#include <cmath>
#include <optional>

namespace tilefold::llvm_backend {
namespace {

using ir::Op;
using llvm::Value;

/// SLEEF divides the two operands: numbers near the largest, whose reciprocals
/// would be flushed, are scaled first.
Value* call_atan2(Lanes& lanes, const FunctionTable& functions, Value* y,
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

constexpr InTwoParts log10_2{0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59};

/// SLEEF's logarithms for AVX-512 multiply first: where results are flushed,
/// they give NaN for a subnormal x. Those are scaled, and the logarithm of the
/// scale, in two parts, is subtracted.
Value* call_logarithm(Lanes& lanes, const FunctionTable& functions,
                      External function, Value* x, InTwoParts of_2) {
    const DType dtype = lanes.dtype_of(x);
    if (!row_of(lanes.isa()).masks || lanes.width() == 1)
        return call_external(lanes, functions, function, dtype, {&x, 1});
    auto& b = lanes.b;
    constexpr int shift = 1022;
    const double high = shift * of_2.high;
    const double low = std::fma(shift, of_2.high, -high) + shift * of_2.low;
    const auto number = [&](double value) {
        return lanes.number(dtype, value);
    };
    Value* tiny = b.CreateFCmpOLT(x, number(std::ldexp(1.0, -shift)));
    Value* scaled = b.CreateFMul(x, number(std::ldexp(1.0, shift)));
    x = lanes.select(tiny, scaled, x);
    Value* y = call_external(lanes, functions, function, dtype, {&x, 1});
    Value* less = b.CreateFSub(b.CreateFSub(y, number(low)), number(high));
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
    Value* more = b.CreateFAdd(y, number(6 * ln_2_of_double.high));
    return lanes.select(is_tiny, tiny, lanes.select(is_large, more, y));
}

/// The order of a function, where the graph says it.
std::optional<double> order_of(Value* order) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(order);
    if (constant && order->getType()->isVectorTy())
        constant = constant->getSplatValue();
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
    if (!number)
        return std::nullopt;
    return number->getValueAPF().convertToDouble();
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

/// One call of a function.
class Function {
public:
    Function(Lanes& lanes, const FunctionTable& functions, Op op, DType dtype,
             std::span<const Known> known, std::span<Value* const> operands)
        : lanes_(lanes), functions_(functions), op_(op), dtype_(dtype),
          known_(known) {
        for (Value* operand : operands)
            operands_.push_back(lanes.as(dtype, operand));
        for (std::size_t k = 0; k < operands.size(); ++k)
            if (ir::is_nonnegative(known[k].sign))
                lanes.assume_nonnegative(operands_[k]);
        const auto order = order_of(operands[0]);
        is_of_low_order_ = order && is_of_low_order(op, *order);
    }

    ~Function() { lanes_.forget_assumptions(); }
    Function(const Function&) = delete;
    Function& operator=(const Function&) = delete;

    bool is_in_place() const {
        if (lanes_.width() == 1)
            return false;
        return op_ == Op::Exp || op_ == Op::Exp2 || is_of_low_order_ ||
               tilefold::is_in_place(op_, dtype_);
    }

    Value* in_place() {
        const bool is_double = dtype_ == DType::F64;
        Value* x = operands_[0];
        switch (op_) {
        case Op::Sin:
            return emit_sine(lanes_, functions_, External::Sin, x);
        case Op::Cos:
            return emit_sine(lanes_, functions_, External::Cos, x);
        case Op::Exp:
            return emit_exp(lanes_, x, known_[0].sign);
        case Op::Exp2:
            return emit_exp2(lanes_, x, known_[0].sign);
        case Op::Log:
        case Op::Log2:
        case Op::Log10:
            return emit_logarithm(lanes_, op_, x, known_[0].sign);
        case Op::Log1p:
            return emit_log1p(lanes_, x, known_[0].sign);
        case Op::Expm1:
        case Op::Sinh:
        case Op::Cosh:
            return is_double ? emit_exponential_of_double(lanes_, op_, x)
                             : emit_exponential_kin(lanes_, op_, x);
        case Op::Tanh:
            return is_double ? emit_exponential_of_double(lanes_, op_, x)
                             : emit_by_pieces(lanes_, op_, x);
        case Op::Erf:
        case Op::Erfc:
            return emit_error_function(lanes_, op_, x, known_[0].sign);
        case Op::Tan:
            return emit_tangent(lanes_, functions_, x);
        case Op::Asin:
        case Op::Acos:
        case Op::Atan:
            return emit_arc(lanes_, op_, x);
        case Op::Atan2:
            return emit_angle(lanes_, x, operands_[1]);
        case Op::Pow:
            return emit_power(lanes_, x, operands_[1], known_[0].sign,
                              known_[1].is_uniform);
        case Op::Lgamma:
            return emit_lgamma(lanes_, functions_, x, known_[0].sign);
        case Op::Polygamma:
            return emit_digamma(lanes_, functions_, operands_[1],
                                known_[1].sign);
        case Op::BesselJ:
            return emit_bessel_j(lanes_, functions_, int(*order_of(x)),
                                 operands_[1]);
        default:
            return unknown();
        }
    }

    Value* by_library() {
        Value* x = operands_[0];
        switch (op_) {
        case Op::Sin:
            return emit_sine(lanes_, functions_, External::Sin, x);
        case Op::Cos:
            return emit_sine(lanes_, functions_, External::Cos, x);
        case Op::Log:
            return call_logarithm(lanes_, functions_, External::Log, x,
                                  ln_2_of_double);
        case Op::Log2:
            return call_logarithm(lanes_, functions_, External::Log2, x,
                                  {1, 0});
        case Op::Log10:
            return call_logarithm(lanes_, functions_, External::Log10, x,
                                  log10_2);
        case Op::Log1p:
            return call_log1p(lanes_, functions_, x);
        case Op::Atan2:
            return call_atan2(lanes_, functions_, x, operands_[1]);
        case Op::Exp:
            return call(External::Exp);
        case Op::Exp2:
            return call(External::Exp2);
        case Op::Expm1:
            return call(External::Expm1);
        case Op::Tan:
            return call(External::Tan);
        case Op::Asin:
            return call(External::Asin);
        case Op::Acos:
            return call(External::Acos);
        case Op::Atan:
            return call(External::Atan);
        case Op::Sinh:
            return call(External::Sinh);
        case Op::Cosh:
            return call(External::Cosh);
        case Op::Tanh:
            return call(External::Tanh);
        case Op::Erf:
            return call(External::Erf);
        case Op::Erfc:
            return call(External::Erfc);
        case Op::Pow:
            return call(External::Pow);
        case Op::Gamma:
            return call(External::Gamma);
        case Op::Lgamma:
            return call(External::Lgamma);
        case Op::Polygamma:
            return call(External::Polygamma);
        case Op::BesselJ:
            return call(External::BesselJ);
        case Op::BesselY:
            return call(External::BesselY);
        case Op::BesselI:
            return call(External::BesselI);
        case Op::BesselK:
            return call(External::BesselK);
        default:
            return unknown();
        }
    }

private:
    Value* call(External function) {
        return call_external(lanes_, functions_, function, dtype_, operands_);
    }
    [[noreturn]] Value* unknown() const {
        internal_error(std::string(ir::mnemonic(op_)) + " is no function");
    }

    Lanes& lanes_;
    const FunctionTable& functions_;
    Op op_;
    DType dtype_;
    std::span<const Known> known_;
    llvm::SmallVector<Value*, 2> operands_;
    bool is_of_low_order_;
};

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

Value* emit_function(Lanes& lanes, const FunctionTable& functions, Op op,
                     DType dtype, std::span<const Known> known,
                     std::span<Value* const> operands) {
    Function function(lanes, functions, op, dtype, known, operands);
    return function.is_in_place() ? function.in_place() : function.by_library();
}

} // namespace tilefold::llvm_backend
