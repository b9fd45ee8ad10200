// runtime/indices.cpp - arrays that are indices of a table.

#include "runtime/indices.h"

#include "formulas/diagnostic.h"
#include "runtime/element.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>

namespace tilefold {
namespace {

using ir::Op;

/// The first element, as a number, that is not among 0, 1, … length - 1.
class Search {
public:
    Search(const View& view, std::int64_t length)
        : view_(view), length_(length) {}

    std::optional<long double> run() {
        const auto* data = static_cast<const char*>(view_.data);
        if (!data) {
            look(view_.number);
            return found_;
        }
        axis(0, data);
        return found_;
    }

private:
    void look(long double value) {
        if (!(value >= 0 && value < (long double)(length_)) ||
            value != std::floor(value))
            found_ = value;
    }

    void axis(std::size_t number, const char* at) {
        if (number == view_.shape.size())
            return look(exact_element_at(at, view_.dtype));
        const bool last = number + 1 == view_.shape.size();
        if (last && view_.dtype == DType::I64)
            return run_of<std::int64_t>(at);
        if (last && view_.dtype == DType::I32)
            return run_of<std::int32_t>(at);
        for (std::int64_t k = 0; k < view_.shape[number] && !found_; ++k)
            axis(number + 1, at + k * view_.strides[number]);
    }

    /// What index arrays mostly are, without a switch for each element.
    template <class T> void run_of(const char* at) {
        const std::int64_t count = view_.shape.back();
        const std::int64_t stride = view_.strides.back();
        for (std::int64_t k = 0; k < count; ++k) {
            T value;
            std::memcpy(&value, at + k * stride, sizeof value);
            if (value < 0 || value >= length_) {
                found_ = value;
                return;
            }
        }
    }

    const View& view_;
    std::int64_t length_;
    std::optional<long double> found_;
};

std::string text_of(long double value) {
    if (value == std::floor(value) && std::abs(value) < 0x1p64L)
        return value < 0 ? std::to_string(std::int64_t(value))
                         : std::to_string(std::uint64_t(value));
    char digits[32];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, double(value)).ptr;
    return {digits, end};
}

std::string lengths_of_table(const IndexedTable& indexed) {
    return std::to_string(indexed.length) + " " + indexed.of +
           (indexed.length == 1 ? "" : "s");
}

void check(const IndexArray& array) {
    const IndexedTable& indexed = *array.indexed;
    const auto found = Search(array.view, indexed.length).run();
    if (found)
        fail(Code::IndexOutOfRange, {array.name, text_of(*found), indexed.table,
                                     lengths_of_table(indexed)});
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
    const ir::Graph& graph = program.graph;
    for (const ir::Node& node : graph.nodes) {
        if (!is_gather(node))
            continue;
        for (std::size_t k = 1; k < node.arity; ++k) {
            const ir::Node& index = graph[node.operands[k]];
            if (index.op != Op::Argument)
                continue;
            const std::int32_t place =
                program.argument_order[std::size_t(index.first)];
            if (place >= 0)
                all.push_back(indexed(graph, node, k, place));
        }
    }
    return all;
}

std::vector<std::int32_t> tables_of(const Prepared& prepared) {
    std::vector<std::int32_t> places;
    if (prepared.sweeps)
        for (const PreparedPointer& kernel : prepared.sweeps->kernels)
            std::ranges::copy(tables_of(*kernel), std::back_inserter(places));
    const ir::Graph& graph = prepared.program.graph;
    for (const ir::Node& node : graph.nodes)
        if (is_gather(node) && graph[node.operands[0]].op == Op::Argument)
            places.push_back(prepared.program.argument_order[std::size_t(
                graph[node.operands[0]].first)]);
    return places;
}

std::vector<IndexArray> index_arrays(const Prepared& prepared,
                                     const Readings& readings) {
    std::vector<IndexArray> arrays;
    for (const IndexedTable& indexed : prepared.indices) {
        if (std::size_t(indexed.index) >= readings.size())
            continue;
        const Reading& reading = readings[std::size_t(indexed.index)];
        arrays.push_back({std::string(reading.name), *reading.view, &indexed});
    }
    if (prepared.sweeps)
        for (const PreparedPointer& kernel : prepared.sweeps->kernels)
            std::ranges::move(index_arrays(*kernel, readings),
                              std::back_inserter(arrays));
    return arrays;
}

void check_indices(std::span<const IndexArray> arrays) {
    for (const IndexArray& array : arrays)
        check(array);
}

} // namespace tilefold
