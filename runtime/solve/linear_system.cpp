// runtime/solve/linear_system.cpp - settings of a solve, and the worst of its
// outcomes.

#include "runtime/solve/linear_system.h"

#include "formulas/diagnostic.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

namespace tilefold {

std::string spelled(double number, int digits) {
    std::ostringstream text;
    text.precision(digits);
    text << number;
    return text.str();
}

SolveStatus Solution::worst() const {
    return outcomes.empty()
               ? SolveStatus::Converged
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
    if (options.rank && *options.rank < 1)
        fail(Code::BadOption, {"rank", std::to_string(*options.rank),
                               "pass a whole number, 1 or above"});
}

std::int64_t most_iterations(const SolveOptions& options, std::int64_t size) {
    constexpr std::int64_t per_row = 10, most = 1000;
    return options.maxiter.value_or(size < most / per_row ? per_row * size
                                                          : most);
}

} // namespace tilefold
