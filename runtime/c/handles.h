// runtime/c/handles.h - what is behind the handles of the C interface.
#pragma once

#include "runtime/session/session.h"
#include "runtime/solve/neighbors.h"

#include <tilefold/tilefold.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct tilefold_session {
    std::shared_ptr<const tilefold::Session> session;
};

struct tilefold_formula {
    std::shared_ptr<const tilefold::Session> session;
    tilefold::Formula formula;
};

struct tilefold_ranges {
    std::shared_ptr<const tilefold::Ranges> ranges;
};

struct tilefold_bound {
    /// A result as C has it: a complex one is two of the bound's.
    struct Result {
        std::size_t first = 0;
        bool is_complex = false;
        /// The array that most callers pass, but for its memory: of the host,
        /// C-contiguous, and not complex.
        tilefold::Output usual;
        tilefold::Extents strides; ///< of `usual`, in elements
        DLDataType type{};         ///< of `usual`
    };

    explicit tilefold_bound(tilefold::Bound bound);

    tilefold::Bound bound;
    std::vector<Result> results;
};

struct tilefold_neighbors {
    std::vector<std::int64_t> offsets, columns;
    std::vector<double> values;
    bool has_values = false;
};
