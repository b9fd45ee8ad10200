// compiler/backends/llvm/lanes/polynomial.h - polynomials on lanes, whose
// coefficients come lowest first.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

#include <span>

namespace tilefold::llvm_backend {

/// Evaluates the polynomial by Horner's rule.
llvm::Value* horner(Lanes& lanes, std::span<const double> coefficients,
                    llvm::Value* x);
/// Evaluates the polynomial in pairs of terms, by Horner's rule in x²: half as
/// long a chain for one operation more.
llvm::Value* horner_of_pairs(Lanes& lanes, std::span<const double> coefficients,
                             llvm::Value* x);

} // namespace tilefold::llvm_backend
