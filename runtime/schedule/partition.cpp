// runtime/schedule/partition.cpp - sizes to pieces; see partition.h for what
// must hold.

#include "runtime/schedule/partition.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilefold {
namespace {

/// Constants of the cut, with what chose them (Zen 4, 2 cores).
namespace constants {
/// State of a block, most of which stays in L2 beside a panel. With a quarter,
/// attention of 512 components packed all columns anew for each 64 rows, for a
/// fifth of its time.
constexpr std::int64_t block_state = 1 << 20;
/// Pieces that keep the cores of a machine busy.
constexpr std::int64_t enough_pieces = 16;
/// Fewest rows over which packing a panel of short vectors is under 3% of the
/// work; and its share where vectors are long, if pieces stay enough.
constexpr std::int64_t least_rows = 256;
constexpr double column_share = 0.04;
/// Fewest panels of a segment, and the largest share of it that packing its
/// rows, and init and merge of its state may take: more where else there are
/// not pieces enough. Of 64 components, state took a sixth of a segment of
/// 1024 columns.
constexpr std::int64_t least_panels = 4;
constexpr double slot_nanoseconds = 1;
constexpr double row_share = 0.03, largest_row_share = 0.06;
/// A kernel call: the stop flag is read, and the callback due, between calls.
/// Packing the rows again is 0.3% of it; of long vectors at most 2%, unless
/// the call took too long.
constexpr double call_nanoseconds = 0.5e6;
constexpr double packing_share = 0.02;
constexpr double longest_call_nanoseconds = 20e6;
} // namespace constants

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0);
}

std::int64_t rounded_up(std::int64_t a, std::int64_t multiple) {
    return divided_up(a, multiple) * multiple;
}

/// Pieces the whole job is worth.
std::int64_t pieces_wanted(const Job& job, std::int64_t batches) {
    double total = double(batches) * job.nanoseconds();
    return std::int64_t(std::clamp(total / Job::piece_nanoseconds, 1.0,
                                   double(Job::most_pieces)));
}

/// Rows of a block: the kernel's, less where its state would leave the cache
/// or where rows would make too few blocks.
std::int64_t block_rows(const Job& job, std::int64_t batches,
                        std::int64_t wanted) {
    const Layout& layout = job.kernel->layout;
    std::int64_t multiple = layout.row_multiple;
    std::int64_t row_bytes =
        std::max<std::int64_t>(job.kernel->slots(job.width) * 8, 1);
    std::int64_t block =
        std::min(layout.row_block, constants::block_state / row_bytes);
    double share = double(job.rows) * double(batches) / double(wanted);
    double worth =
        layout.column_nanoseconds /
        (constants::column_share * job.kernel->nanoseconds(job.width));
    double most =
        double(job.rows) * double(batches) / double(constants::enough_pieces);
    std::int64_t fair = std::max(
        constants::least_rows,
        std::int64_t(std::min(std::max(share, std::min(worth, most)), 1e9)));
    block = std::min(
        {block, rounded_up(fair, multiple), rounded_up(job.rows, multiple)});
    return std::max(block / multiple * multiple, multiple);
}

void cut_rows(Partition& partition, std::int64_t blocks_of_piece) {
    partition.whole_rows = partition.rows / partition.block * partition.block;
    partition.row_span = blocks_of_piece * partition.block;
    partition.row_pieces =
        divided_up(partition.whole_rows, partition.row_span) +
        (partition.rows > partition.whole_rows);
}

void cut_columns(Partition& partition, std::int64_t panel,
                 std::int64_t segments) {
    std::int64_t panels = divided_up(partition.columns, panel);
    segments = std::clamp<std::int64_t>(segments, 1,
                                        std::max<std::int64_t>(panels, 1));
    partition.column_span =
        std::max<std::int64_t>(divided_up(panels, segments), 1) * panel;
    partition.column_pieces = std::max<std::int64_t>(
        divided_up(partition.columns, partition.column_span), 1);
}

/// Segments of columns where rows and batches give fewer pieces than wanted.
std::int64_t segments(const Job& job, const Partition& partition,
                      std::int64_t wanted) {
    std::int64_t made =
        std::max<std::int64_t>(partition.batches * partition.row_pieces, 1);
    std::int64_t slots = job.kernel->slots(job.width);
    std::int64_t state = partition.block * slots * 8;
    double of_row = double(slots) * constants::slot_nanoseconds +
                    job.kernel->layout.row_nanoseconds;
    double share = made >= constants::enough_pieces
                       ? constants::row_share
                       : constants::largest_row_share;
    std::int64_t columns = std::max(
        job.kernel->layout.panel * constants::least_panels,
        std::int64_t(of_row / (share * job.kernel->nanoseconds(job.width))));
    return std::min(
        {wanted / made, job.columns / columns,
         Partition::most_state / std::max<std::int64_t>(made * state, 1)});
}

/// Columns are cut at nodes of the tree over the job's segments.
void cut_columns_at_nodes(const Job& job, Partition& partition,
                          std::int64_t pieces) {
    const std::int64_t leaves = divided_up(partition.columns, job.segment);
    const auto leaves_of_piece =
        std::int64_t(std::bit_ceil(std::uint64_t(std::max<std::int64_t>(
            divided_up(leaves, std::max<std::int64_t>(pieces, 1)), 1))));
    partition.leaf_columns = job.segment;
    partition.column_span = leaves_of_piece < leaves
                                ? leaves_of_piece * job.segment
                                : std::max<std::int64_t>(partition.columns, 1);
    partition.column_pieces = std::max<std::int64_t>(
        divided_up(partition.columns, partition.column_span), 1);
}

void split_reduce(const Job& job, Partition& partition, std::int64_t wanted) {
    cut_rows(partition, 1);
    const std::int64_t pieces = segments(job, partition, wanted);
    if (job.segment > 0)
        cut_columns_at_nodes(job, partition, pieces);
    else
        cut_columns(partition, job.kernel->layout.panel, pieces);
    partition.parts = partition.column_pieces;
    partition.wave = std::max<std::int64_t>(partition.groups(), 1);
}

/// States of folded pieces that are alive at once.
std::int64_t groups_of_wave(const Job& job, const Partition& partition) {
    std::int64_t group_bytes =
        job.kernel->slots(job.width) * 8 *
        rounded_up(partition.parts, job.kernel->layout.row_multiple);
    return std::clamp<std::int64_t>(
        Partition::most_state / std::max<std::int64_t>(group_bytes, 1), 1,
        std::max<std::int64_t>(partition.batches, 1));
}

/// Rows of a fold in segments: these are pieces where they are all there is;
/// else blocks are, of which each meets all columns.
void split_fold_in_segments(const Job& job, Partition& partition) {
    partition.row_span = job.has_one_axis ? job.segment : partition.block;
    partition.whole_rows =
        job.has_one_axis ? partition.rows
                         : partition.rows / partition.block * partition.block;
    partition.row_pieces = std::max<std::int64_t>(
        divided_up(partition.rows, partition.row_span), 1);
    cut_columns_at_nodes(job, partition, 1);
    partition.parts = partition.row_pieces;
    partition.wave = groups_of_wave(job, partition);
}

/// Blocks that a piece takes onto one state: as many as make its init and its
/// fold a small share, while pieces stay enough.
std::int64_t blocks_of_piece(const Job& job, const Partition& partition) {
    const std::int64_t blocks = divided_up(partition.rows, partition.block);
    const double of_pairs = job.kernel->nanoseconds(job.width) *
                            double(std::max<std::int64_t>(job.columns, 1));
    const double of_state =
        double(job.kernel->slots(job.width)) * constants::slot_nanoseconds;
    const auto worth = std::int64_t(
        std::min(of_state / (constants::row_share * of_pairs), 1e9));
    return std::max({divided_up(blocks, Job::most_pieces),
                     std::min(worth, blocks / constants::enough_pieces),
                     std::int64_t(1)});
}

/// Rows end in one state, so that a piece may take several blocks.
void split_fold(const Job& job, Partition& partition, std::int64_t wanted) {
    if (job.segment > 0)
        return split_fold_in_segments(job, partition);
    cut_rows(partition, blocks_of_piece(job, partition));
    partition.row_pieces = std::max<std::int64_t>(partition.row_pieces, 1);
    cut_columns(partition, job.kernel->layout.panel,
                segments(job, partition, wanted));
    partition.parts = partition.row_pieces * partition.column_pieces;
    partition.wave = groups_of_wave(job, partition);
}

/// Columns of one call, in whole panels.
std::int64_t columns_of_call(const Job& job, std::int64_t rows) {
    std::int64_t panel = job.kernel->layout.panel;
    double column = job.kernel->nanoseconds(job.width) *
                    double(std::max<std::int64_t>(rows, 1));
    double packing = job.kernel->layout.row_nanoseconds * double(rows) /
                     constants::packing_share;
    double panels = std::clamp(packing, constants::call_nanoseconds,
                               constants::longest_call_nanoseconds) /
                    (column * double(panel));
    return std::max<std::int64_t>(std::int64_t(std::min(panels, 1e9)), 1) *
           panel;
}

void split_dense(const Job& job, Partition& partition) {
    cut_rows(partition, 1);
    std::int64_t span = columns_of_call(job, partition.block);
    cut_columns(partition, job.kernel->layout.panel,
                divided_up(job.columns, span));
}

/// Pieces of chosen pairs: in Reduce each piece is a group.
void split_chosen(const Job& job, Partition& partition) {
    partition.row_tasks =
        cut_row_tasks(job, partition.batches, partition.block);
    const auto pieces = std::int64_t(partition.row_tasks->pieces());
    if (job.loop == LoopKind::FoldRows) {
        partition.row_pieces =
            pieces / std::max<std::int64_t>(partition.batches, 1);
        partition.parts = partition.row_pieces;
        partition.wave = groups_of_wave(job, partition);
    } else {
        partition.batches = 1;
        partition.row_pieces = pieces;
        if (job.segment > 0)
            cut_columns_at_nodes(job, partition, 1);
    }
}

} // namespace

double pairs_of(const Job& job, const Partition& partition) {
    return partition.row_tasks ? partition.row_tasks->pairs
                               : double(partition.batches) * job.pairs();
}

double nanoseconds_of(const Job& job, const Partition& partition) {
    return pairs_of(job, partition) * job.kernel->nanoseconds(job.width) +
           double(partition.batches) * Job::call_nanoseconds;
}

WorkItem Partition::piece(std::int64_t number) const {
    std::int64_t column = number % column_pieces;
    std::int64_t row = number / column_pieces % row_pieces;
    WorkItem piece;
    piece.batch = number / (column_pieces * row_pieces);
    piece.i0 = std::min(row * row_span, whole_rows);
    piece.i1 = piece.i0 < whole_rows ? std::min(piece.i0 + row_span, whole_rows)
                                     : rows;
    piece.j0 = column * column_span;
    piece.j1 = std::min(piece.j0 + column_span, columns);
    return piece;
}

std::int64_t Partition::tree_states() const {
    if (leaf_columns == 0 || column_span <= leaf_columns)
        return 0;
    return std::bit_width(
        std::uint64_t(divided_up(column_span, leaf_columns) - 1));
}

namespace {

/// Rows of a block where they are a part of the order of merges: those of the
/// whole axis, or of a segment of it.
std::int64_t block_of_axis(const Job& job) {
    Job whole = job;
    whole.rows = job.has_one_axis ? job.segment : job.rows_of_axis();
    return block_rows(whole, 1, constants::enough_pieces);
}

} // namespace

Partition partition_of(const Job& job) {
    Partition partition;
    partition.rows = job.rows;
    partition.columns = job.columns;
    partition.batches = job.batches->count();
    std::int64_t wanted = pieces_wanted(job, partition.batches);
    partition.block = job.segment > 0 && job.loop == LoopKind::FoldRows
                          ? block_of_axis(job)
                          : block_rows(job, partition.batches, wanted);
    partition.call_columns =
        columns_of_call(job, std::min(partition.block, job.rows));
    switch (job.loop) {
    case LoopKind::Reduce:
    case LoopKind::FoldRows:
        if (job.chosen)
            split_chosen(job, partition);
        else if (job.loop == LoopKind::Reduce)
            split_reduce(job, partition, wanted);
        else
            split_fold(job, partition, wanted);
        break;
    case LoopKind::Pairwise:
        cut_rows(partition, 1);
        break;
    case LoopKind::Dense:
        split_dense(job, partition);
        break;
    }
    if (partition.parts == 1) // no state outlives its piece
        partition.wave = std::max<std::int64_t>(partition.groups(), 1);
    return partition;
}

} // namespace tilefold
