// compiler/pipeline.h - everything from a tree to a program, which any backend
// plans and computes.
#pragma once

#include "compiler/build/build.h"
#include "compiler/ir/explain_section.h"
#include "compiler/ir/ir.h"
#include "compiler/passes/program.h"
#include "compiler/passes/sweeps.h"

#include <cstdint>
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

/// Which pairs the reductions of a mode meet.
ir::Pairs pairs_of(Mode mode);

/// What of a call's sizes and arrays a kernel may be made for.
struct Specialization {
    /// An axis of few points, where the other has many: lanes are to run over
    /// the other, whichever is reduced.
    Axes axis = Axes::None;
    /// At most so many points are on an axis, so that tiles need not be taller.
    /// 0: any number.
    std::int32_t most_i = 0, most_j = 0;
    /// A width that would be left open is fixed where it is 1, because one sum
    /// needs no loop over components.
    bool one_component = false;
    /// The components of all vectors on an axis lie one after the other, those
    /// of a point behind those of the point before.
    bool contiguous = false;
};

/// Runs the flat list of passes. Throws Error.
Program compile(const ast::Formula& formula,
                std::span<const ArgumentType> arguments, Mode mode,
                const Specialization& purpose = {});

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
                             const Specialization& purpose = {});
/// Whether compile() cannot do it: derivatives are asked for, or a reduction
/// needs the result of another one, or is over other axes.
bool needs_sweeps(const ast::Formula& formula, const Derivation& derivation,
                  std::span<const ArgumentType> arguments, Mode mode);

/// The stages of `formula` up to its graph as text, in order: reading, AST, IR.
std::vector<ExplainSection> explain(const ast::Formula& formula,
                                    std::span<const ArgumentType> arguments,
                                    Mode mode);
/// What any backend is given of the program: canonical IR, and its split by
/// axes.
std::vector<ExplainSection> explain(const Program& program);
/// What a sweep leaves behind for later ones.
ExplainSection explain(std::span<const SweepPart> parts);

} // namespace tilefold
