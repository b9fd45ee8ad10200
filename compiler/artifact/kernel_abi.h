// compiler/artifact/kernel_abi.h - what a kernel image and its caller agree on:
// plain C structures and function types. Every field is 8 bytes wide.
//
// A kernel works on one batch at a time; the caller offsets the pointers.
// Rows are the kept axis (lanes), columns the reduced one. Pointers and
// strides are in bytes; strides may be 0 or negative.
//
// State of a block of rows: `slots` arrays of `stride` 8-byte elements (f64
// or i64), slot s of row r at state[s * stride + r], r counted from i0.
// `stride` is a multiple of Layout::row_multiple and at least the number of
// rows; rows beyond the last hold garbage that nobody reads.
#pragma once

#include <cstdint>

extern "C" {

/// One argument as the kernel reads it.
struct tilefold_kernel_operand {
    const char* base;       ///< of this batch
    std::int64_t stride;    ///< from point to point (0 for a parameter)
    std::int64_t component; ///< from component to component (matrix: row)
    std::int64_t column;    ///< from column to column of a matrix
};

/// One call; read by every entry, written only by prepare (`constants`).
struct tilefold_kernel_call {
    const tilefold_kernel_operand* operands; ///< one per argument of the graph
    const double* literals;                  ///< by slot
    double* constants;                       ///< Layout::constants doubles
    const std::int64_t* row_index;           ///< listed rows; null: 0, 1, 2 …
    const std::int64_t* column_index; ///< listed columns; null: 0, 1, 2 …
    std::int64_t rows;                ///< N as the reduction sees it
    std::int64_t columns;             ///< M
    std::int64_t width;               ///< E where the graph has `dynamic`
    const void* const* functions;     ///< see externals.def
    char* out;                        ///< of this batch
    std::int64_t out_row;             ///< bytes from row to row
    std::int64_t out_column;          ///< dense only: from column to column
    std::int64_t out_component;       ///< from component to component
    std::int64_t accumulate;          ///< 1: add to what `out` holds
    /// Two counts of tiles of pairs: those that were met, and those that were
    /// left out. Accumulate adds to both where masks leave some out.
    std::int64_t* tiles;
    /// This is not 0 afterwards where a product that was put together by axes
    /// left the range of its dtype, such as the reciprocal of a divisor near
    /// the largest number. Results mean nothing then; Program::as_written
    /// computes them.
    std::int64_t* left_range;
    /// Asked with `watcher` while prepare takes long; it returns 0 where
    /// prepare should leave off. Null: nobody is asked.
    std::int64_t (*goes_on)(void* watcher);
    void* watcher;
};

/// Computes the values on {}: it reads parameters and literals and writes
/// call->constants, but not all of them where call->goes_on said so.
typedef void tilefold_kernel_prepare(tilefold_kernel_call* call);
/// Writes the monoid's identity to rows [0, stride) of every slot.
typedef void tilefold_kernel_init(const tilefold_kernel_call* call,
                                  double* state, std::int64_t stride);
/// Adds columns [j0, j1) to the state of rows [i0, i1), panel by panel from j0
/// on. At most Layout::row_block rows. Resumes from the state.
typedef void tilefold_kernel_accumulate(const tilefold_kernel_call* call,
                                        std::int64_t i0, std::int64_t i1,
                                        std::int64_t j0, std::int64_t j1,
                                        double* state, std::int64_t stride,
                                        char* scratch);
/// Merges into ⊕= from, for `rows` rows; `from` covers later columns (or
/// rows).
typedef void tilefold_kernel_merge(const tilefold_kernel_call* call,
                                   double* into, const double* from,
                                   std::int64_t stride, std::int64_t rows);
/// Merges rows [0, rows) onto row 0; other rows mean nothing afterwards. There
/// is a fold for sums and the like only; else merge() puts the upper half onto
/// the lower.
typedef void tilefold_kernel_fold(const tilefold_kernel_call* call,
                                  double* state, std::int64_t stride,
                                  std::int64_t rows);
/// Runs the epilogue, which writes the results of rows [i0, i1) to call->out.
typedef void tilefold_kernel_finalise(const tilefold_kernel_call* call,
                                      std::int64_t i0, std::int64_t i1,
                                      const double* state, std::int64_t stride,
                                      char* scratch);
/// Writes the results of rows [i0, i1) from all columns, at most Layout::panel
/// of them, to call->out; at most Layout::row_block rows.
typedef void tilefold_kernel_reduce(const tilefold_kernel_call* call,
                                    std::int64_t i0, std::int64_t i1,
                                    char* scratch);
/// Writes the pair term at (row k, column k) for k in [k0, k1) to call->out.
typedef void tilefold_kernel_zip(const tilefold_kernel_call* call,
                                 std::int64_t k0, std::int64_t k1,
                                 char* scratch);
/// Writes the pair term of rows [i0, i1) and columns [j0, j1) to call->out.
typedef void tilefold_kernel_dense(const tilefold_kernel_call* call,
                                   std::int64_t i0, std::int64_t i1,
                                   std::int64_t j0, std::int64_t j1,
                                   char* scratch);

} // extern "C"
