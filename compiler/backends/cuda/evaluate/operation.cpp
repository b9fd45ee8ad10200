// compiler/backends/cuda/evaluate/operation.cpp - one line for each operation
// of ops.def that works component by component. Functions not of CUDA are of
// device/math.cuh, device/whole.cuh, device/random.cuh and device/special.cuh.

#include "compiler/backends/cuda/evaluate/evaluate.h"

#include "formulas/diagnostic.h"

#include <cmath>

namespace tilefold::cuda {
namespace {

using ir::Op;

/// The kind in which two operands are compared: exactly where both are
/// integers, in double where one is; a truth value in the other's.
Kind comparing_kind(const Code& a, const Code& b, DType real) {
    if (a.kind() == b.kind() && a.kind() != Kind::Truth)
        return a.kind();
    if (a.kind() == Kind::Long || b.kind() == Kind::Long)
        return Kind::Double;
    if (a.kind() == Kind::Truth && b.kind() != Kind::Truth)
        return b.kind();
    if (b.kind() == Kind::Truth && a.kind() != Kind::Truth)
        return a.kind();
    return kind_of_value(real);
}

template <class Compare>
Code compared(Compare compare, std::span<const Code> operands, DType real) {
    const Kind met = comparing_kind(operands[0], operands[1], real);
    return compare(as(met, operands[0]), as(met, operands[1]));
}

/// A function of operands converted to its own kind.
Code applied(Kind kind, std::string_view name, std::span<const Code> operands) {
    std::vector<Code> converted;
    for (const Code& operand : operands)
        converted.push_back(as(kind, operand));
    return call(kind, name, converted);
}

/// An operation whose result is an integer.
Code of_integers(Op op, std::span<const Code> operands) {
    const auto function = [&](std::string_view name) {
        return applied(Kind::Long, name, operands);
    };
    switch (op) {
    case Op::Add:
        return function("whole_sum");
    case Op::Sub:
        return function("whole_difference");
    case Op::Neg:
        return function("whole_negation");
    case Op::Abs:
        return function("whole_size");
    case Op::Mod:
        return function("whole_remainder");
    case Op::FloorDiv:
        return function("whole_quotient");
    case Op::Minimum:
        return function("min");
    case Op::Maximum:
        return function("max");
    default:
        internal_error(std::string(ir::mnemonic(op)) + " of integers");
    }
}

/// NaN where an operand is no whole number.
Code random(Op op, Kind kind, std::span<const Code> operands) {
    std::vector<Code> numbers;
    std::optional<Code> holds;
    for (const Code& operand : operands) {
        numbers.push_back(whole_number(operand));
        if (is_real(operand.kind()))
            holds = holds ? both(*holds, is_whole(operand)) : is_whole(operand);
    }
    const std::string type = "<" + std::string(spelling_of(kind)) + ">";
    const Code drawn =
        call(kind, (op == Op::Rand ? "uniform" : "normal") + type, numbers);
    return holds ? choice(*holds, drawn, number(kind, NAN)) : drawn;
}

} // namespace

Code is_whole(const Code& x) {
    return call(Kind::Truth, "is_whole", {x});
}

Code whole_number(const Code& x) {
    return is_real(x.kind()) ? call(Kind::Long, "whole_number", {x})
                             : as(Kind::Long, x);
}

Code whole_power(Writer& writer, const Code& x, std::int64_t exponent) {
    if (exponent == 0)
        return number(x.kind(), 1);
    std::uint64_t left =
        exponent < 0 ? -std::uint64_t(exponent) : std::uint64_t(exponent);
    Code square = writer.let("base", x);
    std::optional<Code> product;
    for (; left; left >>= 1) {
        if (left & 1)
            product = product ? writer.let("power", *product * square) : square;
        if (left > 1)
            square = writer.let("square", square * square);
    }
    return exponent < 0 ? number(x.kind(), 1) / *product : *product;
}

Code operation(Op op, DType dtype, DType real, std::span<const Code> operands) {
    const Kind kind = kind_of_value(dtype);
    const auto operand = [&](std::size_t k) { return as(kind, operands[k]); };
    const auto truth = [&](auto k) { return as(Kind::Truth, operands[k]); };
    const auto function = [&](std::string_view name) {
        return applied(kind, name, operands);
    };
    if (dtype == DType::I64 && op != Op::Where)
        return of_integers(op, operands);
    switch (op) {
    case Op::Add:
        return operand(0) + operand(1);
    case Op::Sub:
        return operand(0) - operand(1);
    case Op::Neg:
        return -operand(0);
    case Op::Mul:
        return operand(0) * operand(1);
    case Op::Div:
        return function("quotient");
    case Op::Mod:
        return function("floor_remainder");
    case Op::FloorDiv:
        return function("floor_quotient");
    case Op::Pow:
        return function("pow");
    case Op::Exp:
        return function("exp");
    case Op::Exp2:
        return function("power_of_two");
    case Op::Log:
        return function("log");
    case Op::Log2:
        return function("log2");
    case Op::Log10:
        return function("log10");
    case Op::Log1p:
        return function("log1p");
    case Op::Expm1:
        return function("expm1");
    case Op::Sqrt:
        return function("square_root");
    case Op::Rsqrt:
        return function("inverse_root");
    case Op::Pinv:
        return function("pseudo_inverse");
    case Op::Abs:
        return function("fabs");
    case Op::Sign:
        return function("sign_of");
    case Op::Floor:
        return function("floor");
    case Op::Ceil:
        return function("ceil");
    case Op::Round:
        return function("rint");
    case Op::Trunc:
        return function("trunc");
    case Op::Minimum:
        return function("smaller");
    case Op::Maximum:
        return function("larger");
    case Op::Where:
        return choice(truth(0), operand(1), operand(2));
    case Op::Less:
        return compared(less, operands, real);
    case Op::LessEqual:
        return compared(less_equal, operands, real);
    case Op::Equal:
        return compared(equal, operands, real);
    case Op::NotEqual:
        return compared(not_equal, operands, real);
    case Op::And:
        return both(truth(0), truth(1));
    case Op::Or:
        return either(truth(0), truth(1));
    case Op::Not:
        return negated(truth(0));
    case Op::Rand:
    case Op::Randn:
        return random(op, kind, operands);
    case Op::Sin:
        return function("sin");
    case Op::Cos:
        return function("cos");
    case Op::Tan:
        return function("tan");
    case Op::Asin:
        return function("asin");
    case Op::Acos:
        return function("acos");
    case Op::Atan:
        return function("atan");
    case Op::Atan2:
        return function("atan2");
    case Op::Sinh:
        return function("sinh");
    case Op::Cosh:
        return function("cosh");
    case Op::Tanh:
        return function("tanh");
    case Op::Erf:
        return function("erf");
    case Op::Erfc:
        return function("erfc");
    case Op::Lgamma:
        return function("lgamma");
    case Op::Polygamma:
        return function("polygamma");
    case Op::BesselJ:
        return function("bessel_j");
    case Op::BesselY:
        return function("bessel_y");
    case Op::BesselI:
        return function("bessel_i");
    case Op::BesselK:
        return function("bessel_k");
    case Op::Argument:
    case Op::Literal:
    case Op::Constant:
    case Op::Index:
    case Op::IntPow:
    case Op::Slice:
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

} // namespace tilefold::cuda
