// compiler/backends/cuda/device/call.cuh - one call, as kernels are given it.
// The runtime includes this file too; `operand_count` is defined before it.
//
// Pointers and strides are in bytes, strides may be 0 or negative. Rows are
// the kept axis, columns the reduced one. A width that the kernel was not
// compiled for is cut into parts of `width_block` components.
//
// The states of all rows: slot s of state k lies at state[s * states + k],
// where k = ((batch * parts + part) * rows + row) * segments + segment.
//
// A call may be given in pieces, whose other rows and columns lie elsewhere:
// operands then begin where the first of all rows, or columns, would lie.

constexpr int batch_dimensions = 4;

/// One argument. `stride`: from point to point (0 for a parameter);
/// `component`: from component to component (of a matrix: row); `column`:
/// from column to column of a matrix.
struct Operand {
    const char* base;
    long long stride, component, column;
    long long batch[batch_dimensions];
};

/// Rows [first, last) of a batch, and the intervals [first_interval,
/// last_interval) of columns that they meet, of a call that chooses pairs.
/// Every row is in one, and none has more rows than a block takes.
struct RowTile {
    long long batch, first, last, first_interval, last_interval;
};
struct ColumnInterval {
    long long first, last;
};

struct Call {
    double* constants;         // those of batch b from b * constants_stride on
    double* state;
    double* merged;            // what `merge` writes
    const long long* row_index;    // listed rows; null: 0, 1, 2 …
    const long long* column_index; // listed columns; null: 0, 1, 2 …
    const double* literals;        // by slot
    long long* offsets; // `prepare` lists them; null: there is one batch
    const RowTile* row_tiles;      // of chosen pairs
    const ColumnInterval* intervals;
    char* out;
    long long constants_stride;
    long long rows, columns, width;
    long long first_row, first_column; // among those of all pieces
    long long all_columns;             // of all pieces
    long long batches, parts, segments;
    long long first_run;     // of the launch: a batch and a part of it each
    long long first_segment; // of the launch
    long long batch[batch_dimensions]; // extents, outermost first
    long long segment;  // columns of a segment, a multiple of the tile's
    long long states;   // stride of `state`
    long long group;    // states that `merge` or `finish` makes one
    long long run;      // states of one (batch, part), which are merged
    long long groups;   // of a run, that `merge` makes of them
    long long out_row, out_column, out_component;
    long long out_batch[batch_dimensions];
    long long accumulate; // 1: add to what `out` holds
    long long finishes;   // 1: `accumulate` writes the results
    long long lanes; // that merge the states of a result: a power of 2, at most 32
    Operand operands[operand_count];
};
