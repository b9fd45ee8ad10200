// compiler/build/quantile.h - the search that quantile_j(f, q) stands on.
#pragma once

#include "compiler/build/expand.h"

namespace tilefold {

/// Adds to the values of a call of quantile, which has f, q and n, what the
/// body of its row in reduction_sugar.def speaks of besides: the rank k =
/// floor(q (n - 1)); s, -1 where the value of rank k is negative, else 1; and
/// lo, such that the value of rank k is s times the smallest s*f that is not
/// below lo. Ranks count from 0.
void search_rank(ir::Builder& builder, Bindings& bindings);

} // namespace tilefold
