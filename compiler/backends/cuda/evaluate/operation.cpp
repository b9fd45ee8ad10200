// compiler/backends/cuda/evaluate/operation.cpp - operations of ops.def that
// work component by component: the function that instructions.def names, or an
// expression.

#include "compiler/backends/cuda/evaluate/evaluate.h"

#include "compiler/backends/cuda/text/instructions.h"
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

/// Calls a function with operands converted to its own kind.
Code applied(Kind kind, std::string_view name, std::span<const Code> operands) {
    std::vector<Code> converted;
    for (const Code& operand : operands)
        converted.push_back(as(kind, operand));
    return call(kind, name, converted);
}

/// Returns a random number, or NaN where an operand is no whole number.
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
    const bool is_whole = dtype == DType::I64 && op != Op::Where;
    const Instructions row = instructions_of(op);
    const std::string_view function = is_whole ? row.whole : row.function;
    if (!function.empty())
        return applied(kind, function, operands);
    if (is_whole)
        internal_error(std::string(ir::mnemonic(op)) + " of integers");
    switch (op) {
    case Op::Add:
        return operand(0) + operand(1);
    case Op::Sub:
        return operand(0) - operand(1);
    case Op::Neg:
        return -operand(0);
    case Op::Mul:
        return operand(0) * operand(1);
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
    default: // by evaluate.cpp, or of composites.def
        internal_error(std::string(ir::mnemonic(op)) + " is not elementwise");
    }
}

} // namespace tilefold::cuda
