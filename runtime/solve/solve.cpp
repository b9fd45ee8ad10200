// runtime/solve/solve.cpp - see solve.h; krylov.h has the methods.

#include "runtime/solve/solve.h"

#include "runtime/solve/krylov.h"
#include "runtime/solve/symmetry.h"

namespace tilefold {
namespace {

/// Solves by a method that is not Auto.
void run(krylov::Columns& columns, Method method) {
    columns.precondition(method);
    while (columns.any_active()) {
        if (method == Method::MinimalResiduals)
            krylov::descend_by_minimal_residuals(columns);
        else
            krylov::descend_by_conjugate_gradients(columns);
        columns.check();
        columns.grow();
    }
}

} // namespace

Solution solve(const LinearOperator& matrix, std::span<const double> b,
               std::int64_t columns, const SolveOptions& options) {
    check_options(options);
    const bool direct = options.method == Method::MinimalResiduals;
    krylov::Columns state(matrix, b, columns, options);
    run(state, direct ? Method::MinimalResiduals : Method::ConjugateGradients);
    if (options.method == Method::Auto && state.reopen(SolveStatus::Indefinite))
        run(state, Method::MinimalResiduals);
    Solution found = state.solution();
    const SolveStatus worst = found.worst();
    const bool failed =
        worst != SolveStatus::Converged && worst != SolveStatus::NotFinite;
    if (failed && !is_symmetric(matrix, columns))
        for (SolveStatus& outcome : found.outcomes)
            outcome = outcome == SolveStatus::Converged
                          ? outcome
                          : SolveStatus::Asymmetric;
    return found;
}

} // namespace tilefold
