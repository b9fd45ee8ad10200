// runtime/schedule/split.cpp - sizes to pieces; see split.h for what must hold.

#include "runtime/schedule/split.h"

#include <algorithm>
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

void cut_rows(Split& cut, std::int64_t blocks_of_piece) {
    cut.whole_rows = cut.rows / cut.block * cut.block;
    cut.row_span = blocks_of_piece * cut.block;
    cut.row_pieces =
        divided_up(cut.whole_rows, cut.row_span) + (cut.rows > cut.whole_rows);
}

void cut_columns(Split& cut, std::int64_t panel, std::int64_t segments) {
    std::int64_t panels = divided_up(cut.columns, panel);
    segments = std::clamp<std::int64_t>(segments, 1,
                                        std::max<std::int64_t>(panels, 1));
    cut.column_span =
        std::max<std::int64_t>(divided_up(panels, segments), 1) * panel;
    cut.column_pieces =
        std::max<std::int64_t>(divided_up(cut.columns, cut.column_span), 1);
}

/// Segments of columns where rows and batches give fewer pieces than wanted.
std::int64_t segments(const Job& job, const Split& cut, std::int64_t wanted) {
    std::int64_t made = std::max<std::int64_t>(cut.batches * cut.row_pieces, 1);
    std::int64_t slots = job.kernel->slots(job.width);
    std::int64_t state = cut.block * slots * 8;
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
         Split::most_state / std::max<std::int64_t>(made * state, 1)});
}

void split_reduce(const Job& job, Split& cut, std::int64_t wanted) {
    cut_rows(cut, 1);
    cut_columns(cut, job.kernel->layout.panel, segments(job, cut, wanted));
    cut.parts = cut.column_pieces;
    cut.wave = std::max<std::int64_t>(cut.groups(), 1);
}

/// States of folded pieces that are alive at once.
std::int64_t groups_of_wave(const Job& job, const Split& cut) {
    std::int64_t group_bytes =
        job.kernel->slots(job.width) * 8 *
        rounded_up(cut.parts, job.kernel->layout.row_multiple);
    return std::clamp<std::int64_t>(Split::most_state /
                                        std::max<std::int64_t>(group_bytes, 1),
                                    1, std::max<std::int64_t>(cut.batches, 1));
}

/// Rows end in one state, so that a piece may take several blocks.
void split_fold(const Job& job, Split& cut, std::int64_t wanted) {
    std::int64_t blocks = divided_up(cut.rows, cut.block);
    std::int64_t most =
        std::max<std::int64_t>(divided_up(blocks, Job::most_pieces), 1);
    cut_rows(cut, most);
    cut.row_pieces = std::max<std::int64_t>(cut.row_pieces, 1);
    cut_columns(cut, job.kernel->layout.panel, segments(job, cut, wanted));
    cut.parts = cut.row_pieces * cut.column_pieces;
    cut.wave = groups_of_wave(job, cut);
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

void split_dense(const Job& job, Split& cut) {
    cut_rows(cut, 1);
    std::int64_t span = columns_of_call(job, cut.block);
    cut_columns(cut, job.kernel->layout.panel, divided_up(job.columns, span));
}

/// Pieces of chosen pairs: in Reduce each piece is a group.
void split_chosen(const Job& job, Split& cut) {
    cut.strips = cut_strips(job, cut.batches, cut.block);
    const auto pieces = std::int64_t(cut.strips->pieces());
    if (job.work == Work::FoldRows) {
        cut.row_pieces = pieces / std::max<std::int64_t>(cut.batches, 1);
        cut.parts = cut.row_pieces;
        cut.wave = groups_of_wave(job, cut);
    } else {
        cut.batches = 1;
        cut.row_pieces = pieces;
    }
}

} // namespace

double pairs_of(const Job& job, const Split& cut) {
    return cut.strips ? cut.strips->pairs : double(cut.batches) * job.pairs();
}

double nanoseconds_of(const Job& job, const Split& cut) {
    return pairs_of(job, cut) * job.kernel->nanoseconds(job.width) +
           double(cut.batches) * Job::call_nanoseconds;
}

Piece Split::piece(std::int64_t number) const {
    std::int64_t column = number % column_pieces;
    std::int64_t row = number / column_pieces % row_pieces;
    Piece piece;
    piece.batch = number / (column_pieces * row_pieces);
    piece.i0 = std::min(row * row_span, whole_rows);
    piece.i1 = piece.i0 < whole_rows ? std::min(piece.i0 + row_span, whole_rows)
                                     : rows;
    piece.j0 = column * column_span;
    piece.j1 = std::min(piece.j0 + column_span, columns);
    return piece;
}

Split split(const Job& job) {
    Split cut;
    cut.rows = job.rows;
    cut.columns = job.columns;
    cut.batches = job.batches->count();
    std::int64_t wanted = pieces_wanted(job, cut.batches);
    cut.block = block_rows(job, cut.batches, wanted);
    cut.call_columns = columns_of_call(job, std::min(cut.block, job.rows));
    switch (job.work) {
    case Work::Reduce:
    case Work::FoldRows:
        if (job.chosen)
            split_chosen(job, cut);
        else if (job.work == Work::Reduce)
            split_reduce(job, cut, wanted);
        else
            split_fold(job, cut, wanted);
        break;
    case Work::Zip:
        cut_rows(cut, 1);
        break;
    case Work::Dense:
        split_dense(job, cut);
        break;
    }
    if (cut.parts == 1) // no state outlives its piece
        cut.wave = std::max<std::int64_t>(cut.groups(), 1);
    return cut;
}

} // namespace tilefold
