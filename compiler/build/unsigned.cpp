// compiler/build/unsigned.cpp - uint64 numbers, which no value of a graph
// holds: while a graph is built each is a few I64, by the rows of unsigned.def.

#include "compiler/build/graph_build.h"

#include <algorithm>
#include <array>

namespace tilefold {

using ir::Op;
using ir::ValueId;

namespace {

struct UnsignedRow {
    Op op;
    std::string_view operands, nearest, less;
};
constexpr UnsignedRow unsigned_rows[] = {
#define UNSIGNED(op, operands, nearest, less) {Op::op, operands, nearest, less},
#include "compiler/language/unsigned.def"
#undef UNSIGNED
};

/// The parts of a result; the second only where it is a uint64.
struct UnsignedParts {
    ast::Formula nearest;
    std::optional<ast::Formula> less;
};

std::vector<UnsignedParts> parse_unsigned_rows() {
    std::vector<UnsignedParts> all;
    for (const UnsignedRow& row : unsigned_rows) {
        all.push_back({parse(row.nearest, vocabulary()), std::nullopt});
        if (!row.less.empty())
            all.back().less = parse(row.less, vocabulary());
    }
    return all;
}

/// Returns null where a uint64 is a real number.
const UnsignedParts* find_unsigned_parts(Op op, std::string_view operands) {
    static const std::vector<UnsignedParts> all = parse_unsigned_rows();
    for (std::size_t k = 0; k < all.size(); ++k)
        if (unsigned_rows[k].op == op && unsigned_rows[k].operands == operands)
            return &all[k];
    return nullptr;
}

constexpr double half = 0x1p63;

} // namespace

bool GraphBuild::is_unsigned(ValueId id) const {
    return id != ir::no_value && builder_[id].op == Op::Unsigned;
}

bool GraphBuild::any_unsigned(std::span<const ValueId> operands) const {
    return std::ranges::any_of(operands,
                               [&](ValueId id) { return is_unsigned(id); });
}

/// A uint64 by its bits, read as an I64. A matrix is no value but a table.
ValueId GraphBuild::unsigned_of_bits(ValueId bits, Span span) {
    if (builder_.type(bits).rank == 2)
        return builder_.unsigned_parts({bits, bits, bits}, span);
    const auto whole = [&](double value) {
        return builder_.whole_constant(value);
    };
    const ValueId zero = whole(0), least = whole(-half), most = whole(half);
    const ValueId is_large = builder_.apply(Op::Less, {bits, zero});
    const ValueId nearest = builder_.apply(Op::Where, {is_large, most, bits});
    const ValueId of_large = builder_.apply(Op::Sub, {bits, least});
    const ValueId of_small = builder_.apply(Op::Add, {bits, least});
    const ValueId less =
        builder_.apply(Op::Where, {is_large, of_large, of_small});
    return builder_.unsigned_parts({nearest, less, bits}, span);
}

/// Makes a uint64 of the nearest I64 and of what it is less 2^63.
ValueId GraphBuild::unsigned_of(ValueId nearest, ValueId less, Span span) {
    const ValueId zero = builder_.whole_constant(0);
    const ValueId least = builder_.whole_constant(-half);
    const ValueId is_small = builder_.apply(Op::Less, {less, zero});
    const ValueId of_small = builder_.apply(Op::Sub, {less, least});
    const ValueId of_large = builder_.apply(Op::Add, {less, least});
    const ValueId bits =
        builder_.apply(Op::Where, {is_small, of_small, of_large});
    return builder_.unsigned_parts({nearest, less, bits}, span);
}

/// Returns a uint64 as an F64, and any other value as it is.
ValueId GraphBuild::as_real(ValueId id) {
    if (!is_unsigned(id))
        return id;
    const ir::Node node = builder_[id];
    if (node.type.rank == 2)
        refuse(Code::UnsignedMatrix, node.span, {});
    const auto real = [&](ValueId part) {
        const ValueId one = builder_.constant(1);
        return builder_.apply(Op::Mul, {part, one});
    };
    const ValueId zero = builder_.whole_constant(0);
    const ValueId offset = builder_.constant(half);
    const ValueId is_small = builder_.apply(Op::Less, {node.operands[1], zero});
    const ValueId large =
        builder_.apply(Op::Add, {real(node.operands[1]), offset});
    return builder_.apply(Op::Where, {is_small, real(node.operands[0]), large});
}

/// Returns the bits of a uint64 as an I64, and any other value as it is.
ValueId GraphBuild::bits_of(ValueId id) const {
    return is_unsigned(id) ? builder_[id].operands[2] : id;
}

/// Applies `change` to each of the parts.
ValueId
GraphBuild::by_unsigned_parts(ValueId id,
                              const std::function<ValueId(ValueId)>& change) {
    const ir::Node node = builder_[id];
    std::array<ValueId, 3> parts{};
    for (std::size_t k = 0; k < parts.size(); ++k)
        parts[k] = change(node.operands[k]);
    return builder_.unsigned_parts(parts, node.span);
}

/// Makes whole numbers of the text uint64, as they stand beside one.
void GraphBuild::make_literals_unsigned(std::span<ValueId> operands,
                                        Span span) {
    for (ValueId& id : operands) {
        const ir::Node node = builder_[id];
        if (node.op == Op::Literal && node.type.dtype == DType::I64 &&
            node.second > 0)
            id = unsigned_of_bits(id, span);
    }
}

/// Makes the operands of a choice or a list one kind of number.
void GraphBuild::make_alike(std::span<ValueId> operands,
                            const std::string& what, Span span) {
    if (!any_unsigned(operands))
        return;
    make_literals_unsigned(operands, span);
    bool is_real = false;
    for (ValueId id : operands)
        is_real |= builder_.type(id).dtype == DType::F64 ||
                   builder_.type(id).dtype == DType::F32;
    for (ValueId& id : operands) {
        if (!is_real && !is_unsigned(id))
            refuse(Code::MixedIntegers, span, {what});
        id = is_real ? as_real(id) : id;
    }
}

/// Does what Builder::apply does where an operand is a uint64.
ValueId GraphBuild::unsigned_operation(Op op, std::span<const ValueId> operands,
                                       Span span) {
    std::vector<ValueId> all(operands.begin(), operands.end());
    if (row_of(op).result == ir::ResultRule::Whole) {
        for (ValueId& id : all)
            id = bits_of(id);
        return builder_.apply(op, all, span);
    }
    if (op == Op::Where)
        make_alike(std::span(all).subspan(1), "where", span);
    std::string kinds;
    Bindings bindings;
    bindings.span = span;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const ir::Node node = builder_[all[k]];
        const bool is_split = is_unsigned(all[k]) && node.type.rank < 2;
        kinds += is_split                         ? 'u'
                 : node.type.dtype == DType::I64  ? 'i'
                 : node.type.dtype == DType::Bool ? 't'
                                                  : 'r';
        const std::string letter = operand_letters[k];
        bindings.values[letter] = all[k];
        bindings.values[letter + "l"] = node.operands[0];
        bindings.values[letter + "b"] = node.operands[1];
    }
    const UnsignedParts* parts = find_unsigned_parts(op, kinds);
    if (!parts) {
        for (ValueId& id : all)
            id = as_real(id);
        return operation(op, all, span);
    }
    bindings.values["least"] = builder_.whole_constant(-half);
    bindings.values["most"] = builder_.whole_constant(half);
    bindings.values["zero"] = builder_.whole_constant(0);
    bindings.values["one"] = builder_.whole_constant(1);
    const ValueId nearest =
        tilefold::expand(builder_, parts->nearest, bindings);
    if (!parts->less)
        return nearest;
    return unsigned_of(
        nearest, tilefold::expand(builder_, *parts->less, bindings), span);
}

/// Reduces a uint64: largest, smallest and sum are integers; for all others a
/// uint64 is real.
ValueId GraphBuild::unsigned_reduction(ir::Reduction reduction, Axes over,
                                       std::span<const ValueId> operands,
                                       std::int64_t k, Span span,
                                       ir::Pairs pairs) {
    const auto reduced = [&](ValueId part) {
        return this->reduction(reduction, over, std::span(&part, 1), k, span,
                               pairs);
    };
    const ir::Node first = builder_[operands[0]];
    if (reduction == ir::Reduction::Sum)
        return reduced(first.operands[0]);
    if (reduction == ir::Reduction::Max || reduction == ir::Reduction::Min) {
        const ValueId nearest = reduced(first.operands[0]);
        return unsigned_of(nearest, reduced(first.operands[1]), span);
    }
    std::vector<ValueId> real(operands.begin(), operands.end());
    for (ValueId& id : real)
        id = as_real(id);
    return this->reduction(reduction, over, real, k, span, pairs);
}

/// An element of a table of uint64, which is given by its bits.
ValueId GraphBuild::real_of_table(ValueId found, Span span) {
    const ValueId zero = builder_.constant(0),
                  all = builder_.constant(2 * half);
    const ValueId is_large = builder_.apply(Op::Less, {found, zero});
    const ValueId large = builder_.apply(Op::Add, {found, all});
    return builder_.apply(Op::Where, {is_large, large, found}, span);
}

} // namespace tilefold
