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
    constants = std::make_unique<ConstantLeaves>(writer, lanes, call);
}

Value* Entry::least(Value* a, Value* b_) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b_);
}

} // namespace tilefold::llvm_backend
