// compiler/backends/cuda/text/code.h - expressions of the emitted CUDA C++:
// text that knows its type and how tightly it binds, so that neither a
// conversion nor a parenthesis is forgotten.
//
//  1. An operator takes operands of one kind; an Int beside a Long widens.
//     Anything else is an internal error: as() converts, and says so.
//  2. An expression has no side effect. It may be written several times.
#pragma once

#include "compiler/ir/types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::cuda {

/// What an expression is.
enum class Kind : std::uint8_t {
    Truth,   ///< bool
    Int,     ///< int: numbers of components and of columns in a tile
    Long,    ///< long long: integers of the graph, and points
    Float,   ///< float
    Double,  ///< double
    Address, ///< const char*
    Object,  ///< of a Record, or a pointer to elements
};
std::string_view spelling_of(Kind kind);
/// Returns the kind of a value of the graph, which is F32, F64, I64 or Bool.
Kind kind_of_value(DType dtype);
bool is_real(Kind kind); ///< Float or Double

/// How tightly an expression binds, loosest first.
enum class Level : std::uint8_t {
    Choice,
    Or,
    And,
    Equality,
    Relation,
    Sum,
    Product,
    Unary,
    Primary,
};

class Code {
public:
    Code(Kind kind, std::string text, Level level = Level::Primary)
        : kind_(kind), level_(level), text_(std::move(text)) {}

    Kind kind() const { return kind_; }
    const std::string& text() const { return text_; }
    /// Returns the text, in parentheses unless it binds at least as tightly as
    /// `level`.
    std::string at(Level level) const;
    /// Returns the number that the expression is, where it is a literal.
    std::optional<double> literal() const { return literal_; }

private:
    friend Code number(Kind kind, double value);

    Kind kind_;
    Level level_;
    std::string text_;
    std::optional<double> literal_;
};

/// Returns a literal; it may be an infinity or NaN, too.
Code number(Kind kind, double value);
/// Returns the Int literal.
Code whole(std::int64_t value);

Code operator+(const Code& a, const Code& b);
Code operator-(const Code& a, const Code& b);
Code operator*(const Code& a, const Code& b);
Code operator/(const Code& a, const Code& b);
Code operator%(const Code& a, const Code& b);
Code operator-(const Code& a);

Code less(const Code& a, const Code& b);
Code less_equal(const Code& a, const Code& b);
Code equal(const Code& a, const Code& b);
Code not_equal(const Code& a, const Code& b);
Code both(const Code& a, const Code& b);
Code either(const Code& a, const Code& b);
Code negated(const Code& a);
/// Returns condition ? a : b.
Code choice(const Code& condition, const Code& a, const Code& b);

/// Returns function(arguments…), for a function of the prelude or of CUDA.
Code call(Kind result, std::string_view function,
          const std::vector<Code>& arguments);
/// Returns the value converted as ops.def says: a truth value counts as 0 or
/// 1, a number is true unless it is 0.
Code as(Kind kind, const Code& value);

/// Returns object.name.
Code member(Kind kind, const Code& object, std::string_view name);
/// Returns array[index].
Code element(Kind kind, const Code& array, const Code& index);
/// Returns an object or a pointer by its name.
Code object(std::string name);

} // namespace tilefold::cuda
