// compiler/backends/cuda/text/code.cpp - expressions of the emitted CUDA C++.

#include "compiler/backends/cuda/text/code.h"

#include "compiler/ir/integer.h"
#include "formulas/diagnostic.h"

#include <charconv>
#include <cmath>

namespace tilefold::cuda {
namespace {

/// Returns the kind of both operands; an Int beside a Long widens.
Kind common(const Code& a, const Code& b) {
    const auto is_whole = [](const Code& x) {
        return x.kind() == Kind::Int || x.kind() == Kind::Long;
    };
    if (a.kind() == b.kind())
        return a.kind();
    if (is_whole(a) && is_whole(b))
        return Kind::Long;
    internal_error("an operator between " + std::string(spelling_of(a.kind())) +
                   " " + a.text() + " and " +
                   std::string(spelling_of(b.kind())) + " " + b.text());
}

void expect_truth(const Code& a) {
    if (a.kind() != Kind::Truth)
        internal_error("a condition that is no truth value: " + a.text());
}

/// Returns a left-associative operation: the right operand binds more tightly.
Code binary(Kind kind, Level level, std::string_view sign, const Code& a,
            const Code& b) {
    const auto tighter = Level(std::uint8_t(level) + 1);
    return {kind, a.at(level) + " " + std::string(sign) + " " + b.at(tighter),
            level};
}

Code relation(Level level, std::string_view sign, const Code& a,
              const Code& b) {
    common(a, b);
    return binary(Kind::Truth, level, sign, a, b);
}

std::string shortest(double value, bool single) {
    char text[40];
    const auto end =
        single ? std::to_chars(text, text + sizeof text, float(value)).ptr
               : std::to_chars(text, text + sizeof text, value).ptr;
    std::string result(text, end);
    if (result.find_first_of(".e") == std::string::npos)
        result += ".0";
    return single ? result + "f" : result;
}

std::string real_literal(Kind kind, double value) {
    const bool single = kind == Kind::Float;
    const std::string type = "<" + std::string(spelling_of(kind)) + ">()";
    if (std::isnan(value))
        return "not_a_number" + type;
    if (std::isinf(value))
        return (value < 0 ? "-infinity" : "infinity") + type;
    return shortest(value, single);
}

std::string whole_literal(Kind kind, double value) {
    const std::int64_t number = ir::saturated(value);
    if (number == ir::saturated(-INFINITY))
        return "least_whole";
    return std::to_string(number) + (kind == Kind::Long ? "LL" : "");
}

} // namespace

std::string_view spelling_of(Kind kind) {
    switch (kind) {
    case Kind::Truth:
        return "bool";
    case Kind::Int:
        return "int";
    case Kind::Long:
        return "long long";
    case Kind::Float:
        return "float";
    case Kind::Double:
        return "double";
    case Kind::Address:
        return "const char*";
    case Kind::Object:
        break;
    }
    internal_error("an object has no kind of its own");
}

Kind kind_of_value(DType dtype) {
    switch (dtype) {
    case DType::F32:
        return Kind::Float;
    case DType::F64:
        return Kind::Double;
    case DType::I64:
        return Kind::Long;
    case DType::Bool:
        return Kind::Truth;
    default:
        internal_error("a value of dtype " +
                       std::string(tilefold::spelling_of(dtype)));
    }
}

bool is_real(Kind kind) {
    return kind == Kind::Float || kind == Kind::Double;
}

std::string Code::at(Level level) const {
    return level_ < level ? "(" + text_ + ")" : text_;
}

Code number(Kind kind, double value) {
    std::string text;
    if (kind == Kind::Truth)
        text = value != 0 ? "true" : "false";
    else
        text = is_real(kind) ? real_literal(kind, value)
                             : whole_literal(kind, value);
    Code code(kind, text, text[0] == '-' ? Level::Unary : Level::Primary);
    code.literal_ = value;
    return code;
}

Code whole(std::int64_t value) {
    return number(Kind::Int, double(value));
}

Code operator+(const Code& a, const Code& b) {
    const bool moves = a.kind() == Kind::Address;
    return binary(moves ? a.kind() : common(a, b), Level::Sum, "+", a, b);
}

Code operator-(const Code& a, const Code& b) {
    return binary(common(a, b), Level::Sum, "-", a, b);
}

Code operator*(const Code& a, const Code& b) {
    return binary(common(a, b), Level::Product, "*", a, b);
}

Code operator/(const Code& a, const Code& b) {
    return binary(common(a, b), Level::Product, "/", a, b);
}

Code operator%(const Code& a, const Code& b) {
    return binary(common(a, b), Level::Product, "%", a, b);
}

Code operator-(const Code& a) {
    return {a.kind(), "-" + a.at(Level::Primary), Level::Unary};
}

Code less(const Code& a, const Code& b) {
    return relation(Level::Relation, "<", a, b);
}

Code less_equal(const Code& a, const Code& b) {
    return relation(Level::Relation, "<=", a, b);
}

Code equal(const Code& a, const Code& b) {
    return relation(Level::Equality, "==", a, b);
}

Code not_equal(const Code& a, const Code& b) {
    return relation(Level::Equality, "!=", a, b);
}

Code both(const Code& a, const Code& b) {
    expect_truth(a);
    expect_truth(b);
    return binary(Kind::Truth, Level::And, "&&", a, b);
}

Code either(const Code& a, const Code& b) {
    expect_truth(a);
    expect_truth(b);
    // Compilers warn of && inside || without parentheses.
    return {Kind::Truth, a.at(Level::Equality) + " || " + b.at(Level::Equality),
            Level::Or};
}

Code negated(const Code& a) {
    expect_truth(a);
    return {Kind::Truth, "!" + a.at(Level::Primary), Level::Unary};
}

Code choice(const Code& condition, const Code& a, const Code& b) {
    expect_truth(condition);
    return {common(a, b),
            condition.at(Level::Or) + " ? " + a.at(Level::Or) + " : " +
                b.at(Level::Or),
            Level::Choice};
}

Code call(Kind result, std::string_view function,
          const std::vector<Code>& arguments) {
    std::string text(function);
    for (std::size_t k = 0; k < arguments.size(); ++k)
        text += (k ? ", " : "(") + arguments[k].text();
    return {result, text + (arguments.empty() ? "()" : ")")};
}

Code as(Kind kind, const Code& value) {
    if (value.kind() == kind)
        return value;
    if (value.literal())
        return number(kind, *value.literal());
    if (kind == Kind::Truth)
        return not_equal(value, number(value.kind(), 0));
    if (kind == Kind::Long)
        return {kind, "(long long)" + value.at(Level::Unary), Level::Unary};
    return {kind, std::string(spelling_of(kind)) + "(" + value.text() + ")"};
}

Code member(Kind kind, const Code& object, std::string_view name) {
    return {kind, object.at(Level::Primary) + "." + std::string(name)};
}

Code element(Kind kind, const Code& array, const Code& index) {
    return {kind, array.at(Level::Primary) + "[" + index.text() + "]"};
}

Code object(std::string name) {
    return {Kind::Object, std::move(name)};
}

} // namespace tilefold::cuda
