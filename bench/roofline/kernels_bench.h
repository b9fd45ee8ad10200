// bench/roofline/kernels_bench.h - the kernels beside the Gaussian sum.
#pragma once

#include "timing.h"

namespace roofline {

/// Checks and times each; false if one is wrong.
bool run_kernels(const Effort& effort);

} // namespace roofline
