// compiler/backends/llvm/pack/entry.cpp - see entry.h.

#include "compiler/backends/llvm/pack/entry.h"

#include <algorithm>
#include <cmath>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::Op;
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
    const Watched& watched = writer.kernel.placement.watched;
    if (watched.products.empty())
        return values;
    values.watch_operations([this, &watched](ir::ValueId id,
                                             llvm::ArrayRef<Value*> operands,
                                             Value* result) {
        const Node& node = writer.graph[id];
        const bool are_real =
            std::ranges::all_of(operands, [](const Value* operand) {
                return operand->getType()->isFPOrFPVectorTy();
            });
        if (!are_real)
            return; // whole numbers are not that large
        if (watched.products.contains(id))
            watch_range(operands, result);
        if (const auto sum = watched.sums.find(id); sum != watched.sums.end())
            watch_sum(node.op, operands[sum->second.operand],
                      operands[1 - sum->second.operand],
                      sum->second.is_of_products);
    });
    return values;
}

void Entry::watch_range(llvm::ArrayRef<Value*> operands, Value* result) {
    const bool is_single = lanes.real() == DType::F32;
    // Beyond this, a product of one number of a row, one of a column and what
    // is of the pair might leave the range, too.
    const double far = is_single ? 0x1p96 : 0x1p511;
    const double tiniest = is_single ? 0x1p-149 : 0x1p-1074;
    const double most = is_single ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    const auto is_within = [&](Value* x, double from, double to) {
        const DType dtype = lanes.dtype_of(x);
        Value* size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
        return b.CreateAnd(b.CreateFCmpOGE(size, lanes.number(dtype, from)),
                           b.CreateFCmpOLE(size, lanes.number(dtype, to)));
    };
    Value* left = b.CreateNot(is_within(result, 1 / far, far));
    for (Value* operand : operands)
        left = b.CreateAnd(left, is_within(operand, tiniest, most));
    note_in_call(left);
}

void Entry::watch_sum(Op op, Value* sum, Value* factor, bool is_of_products) {
    const auto size_of = [&](Value* x) {
        return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    };
    const auto is = [&](llvm::CmpInst::Predicate compares, Value* x,
                        double number) {
        return b.CreateFCmp(compares, x,
                            lanes.number(lanes.dtype_of(x), number));
    };
    using P = llvm::CmpInst;
    Value* is_infinite = is(P::FCMP_OEQ, size_of(factor), INFINITY);
    if (op == Op::Div)
        is_infinite = b.CreateOr(is_infinite, is(P::FCMP_OEQ, factor, 0));
    Value* is_nan = b.CreateFCmpUNO(factor, factor);
    Value* is_of_none = b.CreateAnd(is_nan, is(P::FCMP_OEQ, sum, 0));
    Value* overflows = is(P::FCMP_OEQ, size_of(sum), INFINITY);
    Value* leaves = b.CreateOr(is_infinite, b.CreateOr(is_of_none, overflows));
    if (is_of_products) {
        // Terms that vanished, or lost their last bits, would be numbers with a
        // factor that enlarges them as much. With a smaller one they are lost
        // among the smallest numbers.
        const bool is_single = lanes.real() == DType::F32;
        const double enlarges = is_single ? 0x1p24 : 0x1p53;
        const double small = is_single ? 0x1p-110 : 0x1p-990;
        Value* is_enlarged =
            op == Op::Div ? is(P::FCMP_OLE, size_of(factor), 1 / enlarges)
                          : is(P::FCMP_OGE, size_of(factor), enlarges);
        leaves = b.CreateOr(
            leaves,
            b.CreateAnd(is_enlarged, is(P::FCMP_OLE, size_of(sum), small)));
    }
    note_in_call(leaves);
}

void Entry::note_in_call(Value* lanes_that_left) {
    if (held)
        lanes_that_left = b.CreateAnd(lanes_that_left, lanes.first_lanes(held));
    Value* place =
        writer.field(b, call, offsetof(tilefold_kernel_call, left_range), true);
    Value* before = b.CreateLoad(b.getInt64Ty(), place);
    Value* found = b.CreateZExt(lanes.any(lanes_that_left), b.getInt64Ty());
    b.CreateStore(b.CreateOr(before, found), place);
}

void Entry::each_vector(Value* count, const std::function<void(Value*)>& body) {
    lanes.loop(lanes.constant(0), count, lanes.constant(lanes.width()),
               [&](Value* first) {
                   held = b.CreateSub(count, first);
                   body(first);
               });
    held = nullptr;
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
