// runtime/c/calls.cpp - see calls.h.

#include "runtime/c/calls.h"

#include "runtime/c/handles.h"
#include "runtime/c/sized.h"

namespace tilefold::c {
namespace {

std::optional<Rows> rows_of(const char* name, const std::int64_t* numbers,
                            std::int64_t count) {
    const auto rows = list_of(name, numbers, count, most_elements);
    if (!numbers)
        return std::nullopt;
    return Rows{rows.data(), count};
}

} // namespace

BindOptions bind_options_of(const tilefold_bind_options* given) {
    const auto read = read_sized("tilefold_bind_options", given);
    BindOptions options;
    require_choice("want", read.want, TILEFOLD_DENSE + 1);
    options.query = Query(read.want);
    options.on_host = truth_of("on_host", read.on_host);
    options.i = rows_of("rows_i", read.rows_i, read.rows_i_count);
    options.j = rows_of("rows_j", read.rows_j, read.rows_j_count);
    if (read.ranges)
        options.ranges = read.ranges->ranges;
    options.sum_batch =
        list_of("sum_batch", read.sum_batch, read.sum_batch_count, most_names);
    return options;
}

RunOptions run_options_of(const tilefold_run_options* given) {
    RunOptions options;
    if (!given)
        return options;
    const auto read = read_sized("tilefold_run_options", given);
    options.accumulate = truth_of("accumulate", read.accumulate);
    require_unused("reserved", read.reserved);
    options.stream = read.stream;
    if (read.poll)
        options.poll = [poll = read.poll,
                        context = read.context](double done, double total) {
            return poll(context, done, total) != 0;
        };
    return options;
}

} // namespace tilefold::c
