// compiler/passes/program.h - what becomes of a formula before a backend plans
// its loops: a graph, and how a call's axes and arguments meet it.
#pragma once

#include "compiler/ir/ir.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilefold {

/// How the output's axes lie: the kept axis (if any), then the components.
struct Result {
    Axes axes = Axes::None; ///< kept: I, J (as the user wrote), IJ, None
    DType dtype = DType::F64;
    std::uint8_t rank = 0; ///< components after the axes (and K) …
    std::int32_t rows = 1; ///< … how many; `dynamic`: the width argument's
};

/// These stand for arguments that nobody passes: how many points are on i and
/// on j, by the axes of the user's formula.
inline constexpr std::int32_t points_on_i = -1, points_on_j = -2;

/// A canonical, oriented graph (rows i, columns j), and where its arguments
/// come from. Both are made at once and replaced at once, so that the order is
/// never that of another graph.
class ProgramGraph {
public:
    ProgramGraph() = default;
    /// Finds the graph's arguments among `names`, the list given to compile().
    /// Throws InternalError where one is missing.
    ProgramGraph(ir::Graph graph, std::span<const std::string> names);

    const ir::Graph& graph() const { return graph_; }
    /// For each graph argument, its place in the list given to compile(), or
    /// one of the two numbers above.
    const std::vector<std::int32_t>& argument_order() const { return order_; }
    /// The graph argument whose width is call->width, or -1.
    std::int32_t width_argument() const { return width_argument_; }

    /// Takes another graph of its arguments, or of some of them. Throws
    /// InternalError where that one reads anything else.
    void replace(ir::Graph graph);

private:
    ir::Graph graph_;
    std::vector<std::int32_t> order_;
    std::int32_t width_argument_ = -1;
};

/// A formula compiled for argument types. Nothing in it depends on a processor
/// or a card: what computes it plans it, by backends/cpu/cpu_program.h or by
/// backends/cuda/plan/choose_plan.h.
struct Program : ProgramGraph {
    Result result;
    bool swapped = false;       ///< graph's i is the user's j
    bool single_column = false; ///< nothing depends on columns: M = 1
    bool single_row = false;    ///< nothing depends on rows: N = 1
    bool folds_rows = false;    ///< rows are merged to one (`_ij`)
    /// The user's axis of which the graph is for one point. None: it is for
    /// all.
    Axes one_point = Axes::None;
    /// How many components of each of the user's points the graph takes for
    /// points.
    std::int32_t flat_width = 1;
    ir::Pairs pairs = ir::Pairs::All; ///< of (row, column) as oriented
    /// A call has at most so many rows and columns; 0: any number.
    std::int32_t most_rows = 0, most_columns = 0;
    /// A call in which a product that was put together by axes left the range
    /// (passes/split.h: Watched), such as the reciprocal of a divisor near the
    /// largest number, runs this program instead. It takes the same arguments
    /// in any order and multiplies and divides as the formula is written, which
    /// is slower. It is null where nothing is put together so.
    std::shared_ptr<const Program> as_written = nullptr;
};
/// Returns the program with another graph of its arguments, or of some of them.
Program with_graph(Program program, ir::Graph graph);

} // namespace tilefold
