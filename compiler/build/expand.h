// compiler/build/expand.h - formulas of tables inside a growing graph.
//
// Rules of derivatives are written in the language and evaluated as formulas
// are (graph_build.cpp), which may take derivatives in turn: only their
// interface stands here, so that neither includes the other.
#pragma once

#include "compiler/ir/ir.h"
#include "formulas/ast.h"

#include <cstdint>
#include <map>
#include <string>

namespace tilefold {

/// Values that a rule of ops.def or reductions.def speaks of.
struct Bindings {
    std::map<std::string, ir::ValueId> values;
    Span span = {}; ///< for messages, and of the nodes made
    /// The axes that a reduction's rule calls j; `count` is what it calls K.
    Axes over = Axes::None;
    std::int64_t count = 0;
    ir::Pairs pairs = ir::Pairs::All;
};

/// Evaluates a rule inside a growing graph.
ir::ValueId expand(ir::Builder& builder, const ast::Formula& rule,
                   const Bindings& bindings);

/// Returns how many points an axis has, as a number on {}: an argument that
/// the runtime gives.
ir::ValueId length_of(ir::Builder& builder, Axes axes);

/// Returns how many points a reduction meets: as many as there are, or as were
/// chosen.
ir::ValueId count_of(ir::Builder& builder, Axes over, ir::Pairs pairs);

} // namespace tilefold
