// compiler/backends/llvm/pack/entry.cpp - see entry.h.

#include "compiler/backends/llvm/pack/entry.h"

#include <algorithm>
#include <cmath>

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
    if (writer.kernel.calls_sines)
        functions.sine = [this](External which, Value* x) -> Value* {
            return b.CreateCall(this->writer.sine(which), {x, call});
        };
    functions.sines = [this](External which, Value* x, Value* count) {
        b.CreateCall(this->writer.sines(which), {x, count, call});
    };
    if (has_width(writer.graph))
        width =
            writer.field(b, call, offsetof(tilefold_kernel_call, width), false);
    constants = std::make_unique<Constants>(writer, lanes, call);
}

Evaluator Entry::evaluator(Leaves leaves, const LoopChains* chains) {
    Evaluator values(writer.graph, lanes, functions, writer.plan.unroll, width,
                     std::move(leaves));
    if (chains)
        values.cut_loops(*chains);
    const std::set<ir::ValueId>& watched = writer.kernel.placement.watched;
    if (!watched.empty())
        values.watch_operands(
            [this, &watched](ir::ValueId id, llvm::ArrayRef<Value*> operands) {
                if (watched.contains(id))
                    watch_divisor(operands[1]);
            });
    return values;
}

void Entry::watch_divisor(Value* divisor) {
    const DType dtype = lanes.dtype_of(divisor);
    if (dtype != DType::F32 && dtype != DType::F64)
        return; // whole numbers are not that large
    const double limit = lanes.real() == DType::F32 ? 0x1p126 : 0x1p1022;
    Value* size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, divisor);
    Value* flushed =
        b.CreateAnd(b.CreateFCmpOGT(size, lanes.number(dtype, limit)),
                    b.CreateFCmpOLT(size, lanes.number(dtype, INFINITY)));
    Value* place =
        writer.field(b, call, offsetof(tilefold_kernel_call, flushed), true);
    Value* before = b.CreateLoad(b.getInt64Ty(), place);
    Value* found = b.CreateZExt(lanes.any(flushed), b.getInt64Ty());
    b.CreateStore(b.CreateOr(before, found), place);
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
