// runtime/solve.cpp - see solve.h; krylov.h has the methods.

#include "runtime/solve.h"

#include "formulas/diagnostic.h"
#include "runtime/krylov.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tilefold {
namespace {

std::string spelled(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
}

/// By a method that is not Auto.
void run(krylov::Columns& columns, Method method) {
    columns.precondition(method);
    while (columns.any_active()) {
        if (method == Method::MinimalResiduals)
            krylov::descend_by_minimal_residuals(columns);
        else
            krylov::descend_by_conjugate_gradients(columns);
        columns.check();
    }
}

} // namespace

Outcome Solution::worst() const {
    return outcomes.empty()
               ? Outcome::Converged
               : *std::max_element(outcomes.begin(), outcomes.end());
}

double Solution::largest_residual() const {
    double largest = 0;
    for (const double residual : residuals)
        largest =
            std::isnan(largest) || residual <= largest ? largest : residual;
    return largest;
}

void check_options(const SolveOptions& options) {
    const bool any = options.method == Method::MinimalResiduals;
    if (!(options.ridge >= 0 || any) || !std::isfinite(options.ridge))
        fail(Code::BadOption,
             {"ridge", spelled(options.ridge),
              any ? "pass a finite number"
                  : "pass a number, 0 or above; method='minres' takes any"});
    if (!(options.rtol > 0))
        fail(Code::BadOption,
             {"rtol", spelled(options.rtol), "pass a number above 0"});
    if (options.maxiter && *options.maxiter < 1)
        fail(Code::BadOption, {"maxiter", std::to_string(*options.maxiter),
                               "pass a whole number, 1 or above"});
}

std::int64_t most_iterations(const SolveOptions& options, std::int64_t size) {
    constexpr std::int64_t per_row = 10, most = 1000;
    return options.maxiter.value_or(size < most / per_row ? per_row * size
                                                          : most);
}

Solution solve(const Products& matrix, std::span<const double> b,
               std::int64_t columns, const SolveOptions& options) {
    check_options(options);
    const bool direct = options.method == Method::MinimalResiduals;
    krylov::Columns state(matrix, b, columns, options);
    run(state, direct ? Method::MinimalResiduals : Method::ConjugateGradients);
    if (options.method == Method::Auto && state.reopen(Outcome::Indefinite))
        run(state, Method::MinimalResiduals);
    return state.solution();
}

} // namespace tilefold
