// runtime/core/loop_extents.h - numbers by dimension, as loops of a run have
// them.
#pragma once

#include <boost/container/small_vector.hpp>

#include <cstdint>

namespace tilefold {

/// Up to four numbers lie in place, so that repeated runs allocate nothing.
using LoopExtents = boost::container::small_vector<std::int64_t, 4>;

} // namespace tilefold
