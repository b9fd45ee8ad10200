// runtime/c/systems.cpp - ranges, linear systems and neighbours of the C
// interface.

#include "runtime/c/arrays.h"
#include "runtime/c/sized.h"
#include "runtime/core/element.h"
#include "runtime/schedule/ranges.h"
#include "runtime/session/inspect.h"
#include "runtime/session/kernel_algebra.h"
#include "runtime/session/kernel_shape.h"
#include "runtime/solve/kernel_solve.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace tilefold;
using namespace tilefold::c;

namespace {

/// Throws Error(BadCount, RangesInterval, RangesOverlap).
TileList tiles_of(std::span<const std::int64_t> row_ends,
                  const std::int64_t* offsets, const std::int64_t* columns) {
    TileList list;
    list.first.push_back(0);
    std::int64_t row = 0, range = 0;
    for (std::size_t tile = 0; tile < row_ends.size(); ++tile) {
        list.rows.push_back({row, row_ends[tile]});
        row = row_ends[tile];
        const std::int64_t end = offsets[tile + 1];
        if (offsets[tile] != range || end < range || end > most_elements)
            fail(Code::BadCount, {"offsets", "a list that does not ascend",
                                  "row_tiles + 1 numbers from 0 on"});
        for (; range < end; ++range)
            list.columns.push_back(
                {columns[2 * range], columns[2 * range + 1]});
        list.first.push_back(list.columns.size());
    }
    return list;
}

SolveOptions options_of(const tilefold_solve_options* given) {
    const auto read = read_sized("tilefold_solve_options", given);
    require_choice("method", read.method, TILEFOLD_METHOD_AUTO + 1);
    require_choice("preconditioner", read.preconditioner,
                   TILEFOLD_PRECONDITIONER_NYSTROM + 1);
    SolveOptions options;
    options.ridge = read.ridge;
    if (read.rtol != 0)
        options.rtol = read.rtol;
    if (read.maxiter != 0)
        options.maxiter = read.maxiter;
    options.method = Method(read.method);
    options.preconditioner = Preconditioner(read.preconditioner);
    check_options(options);
    return options;
}

/// K · b, where b is an argument of that name.
Formula product_with(const tilefold_formula& pair, const std::string& side) {
    const Session& session = *pair.session;
    const Operand operands[] = {{"operand", pair.formula, {}}};
    return session.formula(
        substitute(session.formula("sum_j(operand*" + side + "_j)"), operands));
}

/// A pair term that is a formula by itself.
const tilefold_formula& pair_term_of(const tilefold_formula* formula) {
    const tilefold_formula& pair = handle("pair_term", formula);
    if (!derivation_of(pair.formula).empty())
        fail(Code::BadCount, {"pair_term", "a derivative",
                              "a formula with the derivative written in it"});
    return pair;
}

/// Where a solution is written: the arrays of one output, or of both parts.
void check_solution(const Outputs& x, const KernelSystem& system) {
    const Output& out = x.all().front();
    if (out.shape != system.shape())
        fail(Code::BadTensor, {"x", "its shape is " + spelling_of(out.shape) +
                                        ", that of the solution " +
                                        spelling_of(system.shape())});
    if (kind_of(out.dtype) != DTypeKind::Float)
        fail(Code::BadTensor, {"x", "a solution is of floating-point numbers"});
}

} // namespace

tilefold_error* tilefold_ranges_create(const std::int64_t* row_ends,
                                       std::int64_t row_tiles,
                                       const std::int64_t* offsets,
                                       const std::int64_t* columns,
                                       tilefold_ranges** out) noexcept {
    return guarded([&] {
        tilefold_ranges*& made = output(out);
        const auto ends =
            list_of("row_ends", row_ends, row_tiles, most_elements);
        static_cast<void>(
            required("offsets", offsets, "row_tiles + 1 numbers from 0 on"));
        if (offsets[ends.size()] > 0)
            static_cast<void>(
                required("columns", columns, "two numbers for each range"));
        std::vector<TileList> lists{tiles_of(ends, offsets, columns)};
        made = new tilefold_ranges{
            std::make_shared<const Ranges>(Extents(), std::move(lists))};
    });
}

void tilefold_ranges_free(tilefold_ranges* ranges) noexcept {
    delete ranges;
}

tilefold_error* tilefold_solve(const tilefold_formula* pair_term,
                               const tilefold_argument* arguments,
                               std::int64_t count, const DLTensor* right,
                               const tilefold_solve_options* options,
                               const DLTensor* x,
                               tilefold_solve_outcome* outcome) noexcept {
    return guarded([&] {
        const tilefold_formula& pair = pair_term_of(pair_term);
        const SolveOptions how = options_of(options);
        if (outcome)
            require_size("tilefold_solve_outcome", outcome->size);
        std::vector<NamedView> views = views_of(arguments, count);
        const Extents shape = shape_of_kernel(pair.formula, views);
        if (value_shape(pair.formula, views).is_complex)
            fail(Code::BadCount, {"pair_term", "complex", "a real kernel"});
        const std::string side = unused_name(pair.formula, "b");
        add_array(side.c_str(),
                  required("right", right, "an array of shape (N,) or (N, E)"),
                  views);
        const KernelSystem system({product_with(pair, side), pair.formula},
                                  shape, views, side);
        Outputs written;
        written.add(x, system.is_complex());
        check_solution(written, system);
        const Solution solution = system.solve(how, {});
        system.store(solution, written.all().front(), written.all().back());
        if (outcome)
            write_sized("tilefold_solve_outcome",
                        tilefold_solve_outcome{
                            0, solution.iterations, solution.largest_residual(),
                            solution.worst() == SolveStatus::Converged, 0},
                        *outcome);
    });
}

tilefold_error* tilefold_radius_neighbors(const tilefold_formula* pair_term,
                                          const tilefold_argument* arguments,
                                          std::int64_t count, double radius,
                                          std::int32_t with_values,
                                          tilefold_neighbors** out) noexcept {
    return guarded([&] {
        const tilefold_formula& pair = handle("pair_term", pair_term);
        tilefold_neighbors*& made = output(out);
        const bool keeps = truth_of("with_values", with_values);
        if (std::isnan(radius))
            fail(Code::BadCount, {"radius", "nan", "a number"});
        PairsWithin found = pairs_within(
            pair.formula, views_of(arguments, count), radius, keeps);
        auto list = std::make_unique<tilefold_neighbors>();
        list->has_values = keeps;
        list->offsets.resize(std::size_t(found.rows()) + 1);
        list->columns.resize(std::size_t(found.size()));
        found.write_starts(list->offsets);
        const std::size_t bytes = size_of(found.dtype);
        std::vector<std::byte> values(keeps ? list->columns.size() * bytes : 0);
        found.take(list->columns, keeps ? values.data() : nullptr);
        if (keeps)
            for (std::size_t k = 0; k < list->columns.size(); ++k)
                list->values.push_back(
                    element_at(values.data() + k * bytes, found.dtype));
        made = list.release();
    });
}

std::int64_t
tilefold_neighbors_rows(const tilefold_neighbors* neighbors) noexcept {
    return neighbors ? std::int64_t(neighbors->offsets.size()) - 1 : 0;
}

const std::int64_t*
tilefold_neighbors_offsets(const tilefold_neighbors* neighbors) noexcept {
    return neighbors ? neighbors->offsets.data() : nullptr;
}

const std::int64_t*
tilefold_neighbors_columns(const tilefold_neighbors* neighbors) noexcept {
    return neighbors ? neighbors->columns.data() : nullptr;
}

const double*
tilefold_neighbors_values(const tilefold_neighbors* neighbors) noexcept {
    return neighbors && neighbors->has_values ? neighbors->values.data()
                                              : nullptr;
}

void tilefold_neighbors_free(tilefold_neighbors* neighbors) noexcept {
    delete neighbors;
}
