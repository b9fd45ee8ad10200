// runtime/bind/indices.cpp - arrays that are indices of a table.

#include "runtime/bind/indices.h"

#include "formulas/diagnostic.h"
#include "runtime/core/element.h"
#include "runtime/core/going_on.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>

namespace tilefold {
namespace {

using ir::Op;

/// The places of an array's elements, in the order of C, each once: without
/// axes along which nothing moves, and with those that one step runs through
/// as one.
View places_of(const View& view) {
    View places = view;
    places.shape.clear();
    places.strides.clear();
    for (std::size_t d = 0; d < view.shape.size(); ++d) {
        const std::int64_t extent = view.shape[d], stride = view.strides[d];
        if (extent == 1 || (stride == 0 && extent > 0))
            continue;
        if (!places.shape.empty() && places.strides.back() == extent * stride) {
            places.shape.back() *= extent;
            places.strides.back() = stride;
            continue;
        }
        places.shape.push_back(extent);
        places.strides.push_back(stride);
    }
    return places;
}

template <std::integral Whole> std::string text_of(Whole value) {
    return std::to_string(value);
}

std::string text_of(double value) {
    char digits[32];
    char* const behind = digits + sizeof digits;
    const bool is_whole =
        value == std::floor(value) && std::abs(value) < 0x1p64;
    const auto end = is_whole ? std::to_chars(digits, behind, value,
                                              std::chars_format::fixed, 0)
                              : std::to_chars(digits, behind, value);
    return {digits, end.ptr};
}

/// The first element, as text, that is not among 0, 1, … length - 1.
class Search {
public:
    Search(const View& view, std::int64_t length, GoingOn& going_on)
        : places_(places_of(view)), length_(length), going_on_(going_on) {}

    std::optional<std::string> run() {
        const auto* data = static_cast<const char*>(places_.data);
        if (data)
            axis(0, data);
        else if (!holds(places_.number))
            found_ = text_of(places_.number);
        return found_;
    }

private:
    template <class T> bool holds(T value) const {
        if constexpr (std::is_floating_point_v<T>)
            return value >= 0 && value < T(length_) &&
                   value == std::floor(value);
        else
            return value >= 0 && std::uint64_t(value) < std::uint64_t(length_);
    }

    void axis(std::size_t number, const char* at) {
        const std::size_t axes = places_.shape.size();
        if (number + 1 < axes) {
            for (std::int64_t k = 0; k < places_.shape[number] && !found_; ++k)
                axis(number + 1, at + k * places_.strides[number]);
            return;
        }
        const bool is_one = axes == 0;
        line(at, is_one ? 1 : places_.shape[number],
             is_one ? 0 : places_.strides[number]);
    }

    void line(const char* at, std::int64_t count, std::int64_t stride) {
        switch (places_.dtype) {
        case DType::I64:
            return line_of<std::int64_t>(at, count, stride);
        case DType::I32:
            return line_of<std::int32_t>(at, count, stride);
        case DType::I16:
            return line_of<std::int16_t>(at, count, stride);
        case DType::I8:
            return line_of<std::int8_t>(at, count, stride);
        case DType::U64:
            return line_of<std::uint64_t>(at, count, stride);
        case DType::U32:
            return line_of<std::uint32_t>(at, count, stride);
        case DType::U16:
            return line_of<std::uint16_t>(at, count, stride);
        case DType::U8:
            return line_of<std::uint8_t>(at, count, stride);
        case DType::F64:
            return line_of<double>(at, count, stride);
        case DType::F32:
            return line_of<float>(at, count, stride);
        case DType::F16:
        case DType::BF16:
        case DType::Bool:
            for (std::int64_t k = 0; k < count && !found_; ++k) {
                const double value = element_at(at + k * stride, places_.dtype);
                if (!holds(value))
                    found_ = text_of(value);
                going_on_.after(1);
            }
        }
    }

    /// A block at a time, of which the compiler makes vectors.
    template <class T>
    void line_of(const char* at, std::int64_t count, std::int64_t stride) {
        constexpr std::int64_t block = 1 << 12;
        const auto value_at = [&](std::int64_t k) {
            T value;
            std::memcpy(&value, at + k * stride, sizeof value);
            return value;
        };
        for (std::int64_t k0 = 0; k0 < count && !found_; k0 += block) {
            const std::int64_t k1 = std::min(k0 + block, count);
            bool all = true;
            for (std::int64_t k = k0; k < k1; ++k)
                all &= holds(value_at(k));
            for (std::int64_t k = k0; !all && k < k1 && !found_; ++k)
                if (!holds(value_at(k)))
                    found_ = text_of(value_at(k));
            going_on_.after(k1 - k0);
        }
    }

    const View places_;
    const std::int64_t length_;
    GoingOn& going_on_;
    std::optional<std::string> found_;
};

std::string lengths_of_table(const IndexedTable& indexed) {
    return std::to_string(indexed.length) + " " + indexed.of +
           (indexed.length == 1 ? "" : "s");
}

void check(const IndexArray& array, GoingOn& going_on) {
    const IndexedTable& indexed = *array.indexed;
    const auto found = Search(array.view, indexed.length, going_on).run();
    if (found)
        fail(Code::IndexOutOfRange,
             {array.name, *found, indexed.table, lengths_of_table(indexed)});
}

bool is_gather(const ir::Node& node) {
    return has_row(node.op) && row_of(node.op).shape == ir::ShapeRule::Gather;
}

IndexedTable indexed(const ir::Graph& graph, const ir::Node& node,
                     std::size_t operand, std::int32_t place) {
    const ir::Node& table = graph[node.operands[0]];
    IndexedTable result;
    result.index = place;
    result.table = table.op == Op::Argument
                       ? graph.arguments[std::size_t(table.first)].name
                       : "the table";
    const bool by_row = operand == 1;
    result.length = by_row ? table.type.rows : table.type.columns;
    result.of = node.op == Op::Gather ? "component" : by_row ? "row" : "column";
    return result;
}

} // namespace

std::vector<IndexedTable> tables_indexed(const Program& program) {
    std::vector<IndexedTable> all;
    const ir::Graph& graph = program.graph();
    for (const ir::Node& node : graph.nodes) {
        if (!is_gather(node))
            continue;
        for (std::size_t k = 1; k < node.arity; ++k) {
            const ir::Node& index = graph[node.operands[k]];
            if (index.op != Op::Argument)
                continue;
            const std::int32_t place =
                program.argument_order()[std::size_t(index.first)];
            if (place >= 0)
                all.push_back(indexed(graph, node, k, place));
        }
    }
    return all;
}

std::vector<std::int32_t> tables_of(const Executable& executable) {
    std::vector<std::int32_t> places;
    if (executable.sweeps)
        for (const ExecutablePointer& kernel : executable.sweeps->kernels)
            std::ranges::copy(tables_of(*kernel), std::back_inserter(places));
    const ir::Graph& graph = executable.program.graph();
    for (const ir::Node& node : graph.nodes)
        if (is_gather(node) && graph[node.operands[0]].op == Op::Argument)
            places.push_back(executable.program.argument_order()[std::size_t(
                graph[node.operands[0]].first)]);
    return places;
}

std::vector<IndexArray> index_arrays(const Executable& executable,
                                     const BoundArguments& readings) {
    std::vector<IndexArray> arrays;
    for (const IndexedTable& indexed : executable.indices) {
        if (std::size_t(indexed.index) >= readings.size())
            continue;
        const BoundArgument& reading = readings[std::size_t(indexed.index)];
        arrays.push_back({std::string(reading.name), *reading.view, &indexed});
    }
    if (executable.sweeps)
        for (const ExecutablePointer& kernel : executable.sweeps->kernels)
            std::ranges::move(index_arrays(*kernel, readings),
                              std::back_inserter(arrays));
    return arrays;
}

void check_indices(std::span<const IndexArray> arrays, const GoesOn& goes_on) {
    GoingOn going_on(goes_on);
    for (const IndexArray& array : arrays)
        check(array, going_on);
}

} // namespace tilefold
