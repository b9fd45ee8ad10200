// compiler/backends/llvm/pack/entry.cpp - see entry.h.

#include "compiler/backends/llvm/pack/entry.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::Node;
using llvm::Value;

bool has_width(const ir::Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node& n) { return n.type.rows == dynamic; });
}

Entry::Entry(ModuleWriter& writer, const std::string& name,
             std::string_view parameters, int lane_count)
    : writer(writer), b(writer.module().getContext()),
      lanes(writer.lanes(b, lane_count)),
      function(writer.begin(b, name, parameters)), call(function->getArg(0)) {
    functions = writer.functions(b, call);
    if (writer.calls_sines)
        functions.sine = [this](External which, Value* x) -> Value* {
            return b.CreateCall(this->writer.sine(which), {x, call});
        };
    functions.sines = [this](External which, Value* x, Value* count) {
        b.CreateCall(this->writer.sines(which), {x, count, call});
    };
    if (has_width(writer.graph))
        width = writer.field(b, call, offsetof(tilefold_call, width), false);
    constants = std::make_unique<Constants>(writer, lanes, call);
}

Evaluator Entry::evaluator(Leaves leaves) {
    return {writer.graph,       lanes, functions,
            writer.plan.unroll, width, std::move(leaves)};
}

Evaluator Entry::evaluator() {
    return evaluator([this](ir::ValueId id) { return constants->leaf(id); });
}

Value* Entry::least(Value* a, Value* b_) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b_);
}

Leaves packed_leaves(Entry& entry, const Pack& rows, const Pack& columns,
                     Value* scratch, Value* row, Value* column) {
    return [=, &entry, &rows, &columns](ir::ValueId id) -> Leaf {
        if (Leaf constant = entry.constants->leaf(id); constant)
            return constant;
        const bool is_row = rows.has(id);
        if (!is_row && !columns.has(id))
            return {};
        return {[=, &entry, &rows, &columns](Component at, int, int) {
            if (is_row && row)
                return entry.lanes.broadcast(
                    entry.writer.packed_dtype(id),
                    rows.address(entry.lanes, scratch, id, at, row));
            return (is_row ? rows : columns)
                .read_points(entry.lanes, scratch, id, at, column);
        }};
    };
}

} // namespace tilefold::llvm_backend
