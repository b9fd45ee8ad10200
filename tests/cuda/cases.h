// tests/cuda/cases.h - what the emitter is tried on.
#pragma once

#include "tests/cuda/kernel_run.h"

#include <vector>

namespace tilefold::tests {

/// The formulas of tests/compiler/cases.cpp.
std::vector<CudaCase> formula_cases();
/// Every row of ops.def, in float and double; every row of reductions.def.
std::vector<CudaCase> table_cases();
/// Pairs that meet in long vectors, in every way to multiply.
std::vector<CudaCase> product_cases();
/// Sums of weighted vectors and softmax, as products of matrices.
std::vector<CudaCase> wide_cases();
/// Reductions over chosen pairs.
std::vector<CudaCase> chosen_cases();
/// NaN, infinities, ties and subnormal numbers in reductions.
std::vector<CudaCase> edge_cases();
/// Random graphs, from a seed on.
std::vector<CudaCase> random_cases(std::uint64_t seed, int count);

/// A formula in Mode::Reduce, or Values where it reduces nothing.
CudaCase cuda_case(std::string_view name, std::string_view formula,
                   std::string_view arguments);

} // namespace tilefold::tests
