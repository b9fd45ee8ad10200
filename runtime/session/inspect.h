// runtime/session/inspect.h - what is behind the handles of session.h: trees,
// programs and kernels, for bindings, solvers and tests.
#pragma once

#include "compiler/artifact/artifact.h"
#include "compiler/backends/cpu/plan.h"
#include "compiler/pipeline.h"
#include "runtime/session/session.h"

#include <cstdint>
#include <vector>

namespace tilefold {

/// What handles hold, for the functions below and for what runs on the threads
/// of a handle's session.
struct Inspection {
    static const detail::FormulaState& of(const Formula& formula) {
        return *formula.state_;
    }
    static const detail::BoundState& of(const Bound& bound) {
        return *bound.state_;
    }
};

const ast::Formula& tree_of(const Formula& formula);
/// The steps by which it was differentiated.
const Derivation& derivation_of(const Formula& formula);

/// The program of the kernel, of several the last one's.
const Program& program_of(const Bound& bound);
/// The same; its arrays are the host's.
const Artifact& artifact_of(const Bound& bound);

/// A kernel of a call, and how the call is cut for it.
struct KernelUse {
    Plan plan;
    PlanKind kind = PlanKind::Values;
    bool takes_column_tiles = false;
    Layout layout;
    std::int64_t scratch = 0, state = 0; ///< bytes: of a thread, of a row
    /// The sizes as the kernel sees them. Of one of several sweeps they are 0,
    /// and so is all below.
    std::int64_t rows = 0, columns = 0, width = 0;
    std::int64_t batches = 0;
    std::int64_t block = 0;         ///< rows of a state
    std::int64_t row_pieces = 0;    ///< of a batch
    std::int64_t column_pieces = 0; ///< of a piece of rows
    std::int64_t row_tasks = 0;     ///< of chosen pairs
    bool folds_rows = false;
    bool is_for_one_point = false; ///< of an axis of few
    std::int32_t flat_width = 1;   ///< components that it takes for points
};

/// What its run calls, on the host.
std::vector<KernelUse> kernels_of(const Bound& bound);

} // namespace tilefold
