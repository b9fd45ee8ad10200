// compiler/build/complex.cpp - complex values become pairs of real ones while
// a graph is built, by the rows of complex.def.

#include "compiler/build/composites.h"
#include "compiler/build/differentiate.h"
#include "compiler/build/graph_build.h"

#include <algorithm>

namespace tilefold {

using ir::Op;
using ir::ValueId;

namespace {

struct ComplexRow {
    Op op;
    std::string_view operands, real, imaginary;
};
constexpr ComplexRow complex_rows[] = {
#define COMPLEX(op, operands, real, imaginary)                                 \
    {Op::op, operands, real, imaginary},
#include "compiler/language/complex.def"
};

constexpr ComplexFunctionRow function_rows[] = {
#define COMPLEX_FUNCTION(spelling, arity, real, imaginary, of_real, doc)       \
    {spelling, arity, real, imaginary, of_real, doc},
#include "compiler/language/complex.def"
};

ComplexParts parse_parts(std::string_view real, std::string_view imaginary) {
    ComplexParts parts{parse(real, vocabulary()), std::nullopt};
    if (!imaginary.empty())
        parts.imaginary = parse(imaginary, vocabulary());
    return parts;
}

std::vector<ComplexParts> parse_rows() {
    std::vector<ComplexParts> all;
    for (const ComplexRow& row : complex_rows)
        all.push_back(parse_parts(row.real, row.imaginary));
    return all;
}

/// Returns null where the operation does not take such operands.
const ComplexParts* find_parts(Op op, std::string operands) {
    static const std::vector<ComplexParts> all = parse_rows();
    for (std::size_t k = 0; k < all.size(); ++k)
        if (complex_rows[k].op == op && complex_rows[k].operands == operands)
            return &all[k];
    if (operands.find('i') == std::string::npos)
        return nullptr;
    std::ranges::replace(operands, 'i', 'z');
    return find_parts(op, operands);
}

/// The parts of a function of a complex argument, and of a real one.
struct FunctionParts {
    ComplexParts of_complex, of_real;
};

std::vector<FunctionParts> parse_function_rows() {
    std::vector<FunctionParts> all;
    for (const ComplexFunctionRow& row : function_rows)
        all.push_back({parse_parts(row.real, row.imaginary),
                       parse_parts(row.of_real, {})});
    return all;
}

/// `row` is one of function_rows.
const FunctionParts& parts_of(const ComplexFunctionRow& row) {
    static const std::vector<FunctionParts> all = parse_function_rows();
    return all[std::size_t(&row - function_rows)];
}

} // namespace

std::span<const ComplexFunctionRow> all_complex_function_rows() {
    return function_rows;
}

const ComplexFunctionRow* find_complex_function(std::string_view spelling) {
    const auto row = std::ranges::find(function_rows, spelling,
                                       &ComplexFunctionRow::spelling);
    return row == std::end(function_rows) ? nullptr : row;
}

bool GraphBuild::is_complex(ValueId id) const {
    return builder_[id].op == Op::Complex;
}

ValueId GraphBuild::real_part(ValueId id) const {
    return is_complex(id) ? builder_[id].operands[0] : id;
}

/// Returns no_value for the imaginary part of a real value.
ValueId GraphBuild::imaginary_part(ValueId id) const {
    return is_complex(id) ? builder_[id].operands[1] : ir::no_value;
}

ValueId GraphBuild::complex(ValueId real, ValueId imaginary, Span span) {
    if (imaginary == ir::no_value)
        return real;
    const Type of_real = builder_.type(real),
               of_imaginary = builder_.type(imaginary);
    real = of_imaginary.rank ? broadcast_or_reduce(builder_, real, of_imaginary)
                             : real;
    imaginary = of_real.rank ? broadcast_or_reduce(builder_, imaginary, of_real)
                             : imaginary;
    return builder_.complex(real, imaginary, span);
}

/// Whether a complex value lacks that part.
bool GraphBuild::is_zero(ValueId part) const {
    return builder_[part].op == Op::Constant && builder_[part].value == 0;
}

/// Returns a part of a value on the axes of the other part, and in its dtype.
ValueId GraphBuild::whole_part(ValueId part, ValueId other) {
    if (part == ir::no_value || other == ir::no_value)
        return part;
    const Axes axes = builder_.type(part).axes;
    if (!is_zero(part) && contains(axes, builder_.type(other).axes))
        return part;
    const ValueId never = builder_.apply(Op::Less, {other, other});
    return builder_.apply(Op::Where, {never, other, part});
}

/// Returns the letters of a row of complex.def.
std::string GraphBuild::kinds_of(std::span<const ValueId> operands) const {
    std::string kinds;
    for (ValueId id : operands)
        kinds += !is_complex(id) ? 'r' : is_zero(real_part(id)) ? 'i' : 'z';
    return kinds;
}

/// Returns what stands for the operands in a row of complex.def.
Bindings GraphBuild::bind_parts(std::span<const ValueId> operands,
                                Span span) const {
    Bindings bindings;
    bindings.span = span;
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const std::string letter = operand_letters[k];
        if (!is_complex(operands[k])) {
            bindings.values[letter] = operands[k];
            continue;
        }
        bindings.values[letter + "r"] = real_part(operands[k]);
        bindings.values[letter + "i"] = imaginary_part(operands[k]);
    }
    return bindings;
}

ValueId GraphBuild::expand_parts(const ComplexParts& parts,
                                 const Bindings& bindings) {
    const ValueId real = tilefold::expand(builder_, parts.real, bindings);
    if (!parts.imaginary)
        return real;
    return complex(real, tilefold::expand(builder_, *parts.imaginary, bindings),
                   bindings.span);
}

/// Does what Builder::apply does where operands may be complex or uint64, or
/// of one component beside more.
ValueId GraphBuild::operation(Op op, std::span<const ValueId> given,
                              Span span) {
    std::vector<ValueId> operands(given.begin(), given.end());
    if (row_of(op).shape == ir::ShapeRule::Elementwise)
        spread_single(op, operands, span);
    if (op == Op::Where)
        operands[0] = truth_of(operands[0]);
    if (row_of(op).result == ir::ResultRule::Logic)
        for (ValueId& id : operands)
            id = truth_of(id);
    if (any_unsigned(operands))
        return unsigned_operation(op, operands, span);
    if (std::ranges::none_of(operands,
                             [&](ValueId id) { return is_complex(id); }))
        return builder_.apply(op, operands, span);
    const ComplexParts* parts = find_parts(op, kinds_of(operands));
    if (!parts && is_composite(op))
        return expand_composite(builder_, op, operands, span);
    if (!parts)
        return builder_.apply(op, operands, span);
    return expand_parts(*parts, bind_parts(operands, span));
}

ValueId GraphBuild::operation(Op op, std::initializer_list<ValueId> operands,
                              Span span) {
    return operation(op, std::span(operands.begin(), operands.size()), span);
}

ValueId GraphBuild::complex_function(const ComplexFunctionRow& row, ValueId a,
                                     Span span) {
    const Bindings bindings = bind_parts(std::span(&a, 1), span);
    if (is_complex(a))
        return expand_parts(parts_of(row).of_complex, bindings);
    const Type type = builder_.type(a); // the graph moves as it grows
    return broadcast_or_reduce(
        builder_, expand_parts(parts_of(row).of_real, bindings), type);
}

/// Returns z^n by squaring.
ValueId GraphBuild::complex_power(ValueId base, std::int64_t exponent,
                                  Span span) {
    if (exponent < 0)
        return operation(
            Op::Div,
            {builder_.constant(1), complex_power(base, -exponent, span)}, span);
    if (exponent == 0)
        return builder_.constant(1);
    if (exponent == 1)
        return base;
    const ValueId half = complex_power(base, exponent / 2, span);
    const ValueId square = operation(Op::Mul, {half, half}, span);
    return exponent % 2 ? operation(Op::Mul, {square, base}, span) : square;
}

/// Returns a complex value as one real vector, its real components and then
/// its imaginary ones; of a real value the latter are 0.
ValueId GraphBuild::packed(ValueId id, Span span) {
    const ValueId real = real_part(id);
    const Type type = builder_.type(real); // the graph moves as it grows
    const ValueId imaginary =
        is_complex(id)
            ? imaginary_part(id)
            : broadcast_or_reduce(builder_, builder_.constant(0), type);
    return builder_.concat(whole_part(real, imaginary),
                           whole_part(imaginary, real), span);
}

/// Returns the complex value that packed() made `id` of, a scalar or a vector.
ValueId GraphBuild::unpacked(ValueId id, bool is_scalar, Span span) {
    const std::int32_t half = builder_.type(id).rows / 2;
    const ValueId real = builder_.slice(id, 0, half, is_scalar, span);
    return complex(real, builder_.slice(id, half, 2 * half, is_scalar, span),
                   span);
}

/// A product needs both parts of each factor: it is a fold whose state is a
/// complex number. A long vector is several folds, since states live in
/// registers.
ValueId GraphBuild::complex_product(Axes over, ValueId value, Span span,
                                    ir::Pairs pairs) {
    constexpr std::int32_t most = most_folded / 2;
    const Type type = builder_.type(value);
    const std::int32_t rows = type.rank == 0 ? 1 : type.rows;
    if (rows <= most)
        return folded_product(over, value, span, pairs);
    std::vector<ValueId> reals, imaginaries;
    for (std::int32_t first = 0; first < rows; first += most) {
        const std::int32_t last = std::min(rows, first + most);
        const auto piece = [&](ValueId part) {
            return builder_.slice(part, first, last, false, span);
        };
        const ValueId real = piece(real_part(value)),
                      imaginary = piece(imaginary_part(value));
        const ValueId product =
            folded_product(over, complex(real, imaginary, span), span, pairs);
        reals.push_back(real_part(product));
        imaginaries.push_back(imaginary_part(product));
    }
    const ValueId real = list(reals, span);
    return complex(real, list(imaginaries, span), span);
}

ValueId GraphBuild::folded_product(Axes over, ValueId value, Span span,
                                   ir::Pairs pairs) {
    Type type = builder_.type(value);
    const bool is_scalar = type.rank == 0;
    type.axes = Axes::None;
    const ValueId terms = packed(value, span);
    const ValueId one =
        packed(broadcast_or_reduce(builder_, builder_.constant(1), type), span);
    const Type state = builder_.type(one);
    FoldBody body{ir::no_value, placeholder("left", state, span),
                  placeholder("right", state, span)};
    const ValueId factors[] = {unpacked(body.left, is_scalar, span),
                               unpacked(body.right, is_scalar, span)};
    body.result = packed(operation(Op::Mul, factors, span), span);
    const FoldGraphs graphs(builder_, std::span(&body, 1));
    const auto fold = std::make_shared<const ir::Fold>(
        ir::Fold{graphs.graph(body, builder_.graph().real),
                 graphs.graph(body, DType::F64), "prod"});
    const ValueId operands[] = {terms, one};
    return unpacked(builder_.fold(fold, over, operands, span, pairs), is_scalar,
                    span);
}

/// Reduces sums and weighted means part by part; all others are refused.
ValueId GraphBuild::complex_reduction(ir::Reduction reduction, Axes over,
                                      std::vector<ValueId> operands, Span span,
                                      ir::Pairs pairs) {
    const ValueId value = operands.back();
    const auto reduced = [&](ValueId part, ValueId other) {
        if (reduction == ir::Reduction::Sum && is_zero(part))
            return part;
        operands.back() = whole_part(part, other);
        return this->reduction(reduction, over, operands, 0, span, pairs);
    };
    const ValueId real = real_part(value), imaginary = imaginary_part(value);
    const ValueId of_real = reduced(real, imaginary);
    return complex(of_real, reduced(imaginary, real), span);
}

} // namespace tilefold
