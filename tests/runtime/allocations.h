// tests/runtime/allocations.h - how often the program asks for memory.
#pragma once

#include <cstdint>

namespace tilefold::test {

/// Calls of malloc, calloc, realloc and aligned_alloc so far, on any thread.
std::int64_t allocations();

} // namespace tilefold::test
