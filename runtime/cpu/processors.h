// runtime/cpu/processors.h - how many processors this process may use.
#pragma once

namespace tilefold {

/// Processors this process may use: the smaller of its affinity and its
/// control group's quota, at least 1.
int usable_processors();

} // namespace tilefold
