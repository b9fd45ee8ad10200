// runtime/cuda/cut.h - a call whose arrays are the host's, as pieces that fit
// a budget of a device's memory.
#pragma once

#include "runtime/core/view.h"
#include "runtime/cuda/device_job.h"

#include <cstdint>

namespace tilefold::cuda {

/// What a call takes of a device's memory. Bytes are those of one batch.
struct Needs {
    Extents batches; ///< extents, outermost first
    std::int64_t rows = 1, columns = 1;
    double row_bytes = 0;    ///< of arrays and results
    double column_bytes = 0; ///< of arrays
    double fixed_bytes = 0;  ///< of arrays that are read as rows and columns
    double state_bytes = 0;  ///< of a row and a segment; 0: no reduction
    bool folds_rows = false;
    /// Lists of points, and chosen pairs, are of whole arrays.
    bool is_whole = false;
};

/// Rows and columns of a piece. Results have the same bits on any number of
/// devices, and those of arrays on a device where columns are not cut and rows
/// are kept.
struct Cut {
    std::size_t outer = 0;    ///< leading batch dimensions, taken one by one
    std::int64_t batches = 1; ///< of the next dimension, at a time
    std::int64_t rows = 1, columns = 1; ///< at a time
    Segments segments;
    std::int64_t row_pieces = 1, batch_pieces = 1;

    bool cuts_rows() const { return row_pieces > 1; }
    std::int64_t pieces() const { return row_pieces * batch_pieces; }
};

/// `runs`: batches, and parts of each; `budget`: bytes of each device. Throws
/// Error(OutOfMemory) where no piece fits.
Cut cut(const Needs& needs, const Plan& plan, std::int64_t runs,
        std::int64_t budget, int devices);

/// A piece is these batches of the dimension after `outer`, at the indices `at`
/// of those before.
struct WorkItem {
    Extents at;
    Interval batches, rows;
    std::int64_t batch_piece = 0, row_piece = 0;
};
WorkItem piece_of(const Needs& needs, const Cut& cut, std::int64_t number);

} // namespace tilefold::cuda
