// bench/roofline/sweep.h - correctness at the sizes where tails go wrong.
#pragma once

namespace roofline {

/// Runs every n and m around the sizes of vectors, tiles, panels and blocks,
/// for several d and numbers of threads, in both types, and the limits (NaN,
/// infinity, far and coincident points). Prints the first failure of each
/// kind; true if there is none.
bool sweep();

} // namespace roofline
