// tests/c/failing_malloc.h - memory that is refused when a test says so.
#pragma once

#include <cstdint>

namespace tilefold::test {

/// From now on the allocation of this thread that is number `first`, and the
/// ones after it, fail: `count` of them, until a block of 16 MB or more is
/// given back, and then large ones. Other threads' never do.
void let_allocations_fail(std::int64_t first, std::int64_t count);
/// Ends that; how many failed.
std::int64_t stop_failing();

} // namespace tilefold::test
