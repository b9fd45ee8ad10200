// compiler/pipeline.h - everything from text to the cache key, without LLVM.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/build/build.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/stage.h"
#include "compiler/key.h"
#include "compiler/passes/sweeps.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilefold {

/// What a program does with the pair term.
enum class Mode : std::uint8_t {
    Reduce, ///< the formula as it stands
    Chosen, ///< the same, over pairs that the call chooses by ranges
    Values, ///< a pair term (no reduction): zip, dense, maps
};

/// One output axis structure: the kept axis (if any), then components.
struct Result {
    Axes axes = Axes::None; ///< kept: I, J (as the user wrote), IJ, None
    DType dtype = DType::F64;
    std::uint8_t rank = 0; ///< components after the axes (and K) …
    std::int32_t rows = 1; ///< … how many; `dynamic`: the width argument's
};

/// A formula compiled for argument types, up to the cache key.
struct Program {
    ir::Graph graph; ///< canonical, oriented: rows i, columns j
    Plan plan;
    Key key;
    Result result;
    bool swapped = false;       ///< graph's i is the user's j
    bool single_column = false; ///< nothing depends on columns: M = 1
    bool folds_rows = false;    ///< rows are merged to one (`_ij`)
    /// The user's axis of which the graph is for one point; None: for all.
    Axes one_point = Axes::None;
    /// Components that the graph takes for points: so many for each of the
    /// user's.
    std::int32_t flat_width = 1;
    ir::Pairs pairs = ir::Pairs::All; ///< of (row, column) as oriented
    /// The graph argument whose width is call->width, or -1.
    std::int32_t width_argument = -1;
    /// For each graph argument, its place in the list given to compile(), or
    /// one of the two numbers below.
    std::vector<std::int32_t> argument_order;
    /// For calls with divisors near the largest number, whose reciprocals are
    /// 0: the same with quotients divided in pairs, which is slower. Null where
    /// nothing is divided ahead of the pairs.
    std::shared_ptr<const Program> divided;
};
/// Arguments that nobody passes: how many points are on i and on j, as the
/// user wrote the axes.
inline constexpr std::int32_t points_on_i = -1, points_on_j = -2;

/// Which pairs the reductions of a mode meet.
ir::Pairs pairs_of(Mode mode);

/// What of a call's sizes and arrays a kernel may be made for.
struct Specialization {
    /// An axis of few points, where the other has many: lanes are to run over
    /// the other, whichever is reduced.
    Axes axis = Axes::None;
    /// At most so many points are on an axis: tiles need not be taller. 0: any
    /// number.
    std::int32_t most_i = 0, most_j = 0;
    /// A width that would be left open is fixed where it is 1: one sum needs
    /// no loop over components.
    bool one_component = false;
    /// The components of all vectors on an axis lie one after the other, those
    /// of a point behind those of the point before.
    bool adjoin = false;
};

struct CompileOptions {
    Isa isa = Isa::X86_64_V4;
    std::optional<Plan> plan = {}; ///< forced instead of the model's choice
    Specialization purpose = {};
    /// Error that products of float32 vectors may have; see Options.
    double tolerance = 0;
};

/// The flat list of passes. Throws Error.
Program compile(const ast::Formula& formula,
                std::span<const ArgumentType> arguments, Mode mode,
                const CompileOptions& options);

/// A program for each sweep of a formula's derivatives, or of a formula whose
/// reductions need one another. Their arguments are those given to
/// compile_sweeps(), then the parts that earlier sweeps left behind, in order.
struct SweepProgram {
    Program program;
    std::vector<SweepPart> parts;
};
struct SweepPrograms {
    std::vector<SweepProgram> sweeps;
    std::vector<ResultPlace> results;
    std::vector<std::string> labels; ///< as of DerivedGraph
    std::vector<Type> types;         ///< that the results are to have
};
SweepPrograms compile_sweeps(const ast::Formula& formula,
                             const Derivation& derivation,
                             std::span<const ArgumentType> arguments, Mode mode,
                             const CompileOptions& options);
/// The same program by another plan of its nest.
Program with_plan(const Program& program, const Plan& plan);
/// Whether compile() cannot do it: derivatives are asked for, or a reduction
/// needs the result of another one, or is over other axes.
bool needs_sweeps(const ast::Formula& formula, const Derivation& derivation,
                  std::span<const ArgumentType> arguments, Mode mode);

/// What a backend in another library is given and gives back; see
/// backends/llvm/factory.h. Texts are ir::print and print(Plan).
struct CompileRequest {
    std::string graph;
    std::string plan;
};
CompileRequest request_of(const Program& program);

/// Each stage of `formula` as text, in order: reading, AST, IR, canonical IR,
/// split by axes, plan with its cost.
std::vector<ExplainSection> explain(const ast::Formula& formula,
                                    std::span<const ArgumentType> arguments,
                                    Mode mode, const CompileOptions& options);
/// The same of one sweep, from what it leaves behind on.
std::vector<ExplainSection> explain(const SweepProgram& sweep);

} // namespace tilefold
