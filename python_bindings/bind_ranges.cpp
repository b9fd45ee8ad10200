// python_bindings/bind_ranges.cpp - the chosen pairs behind tilefold.Ranges.
#include "python_bindings/call.h"
#include "python_bindings/range_lists.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <utility>
#include <vector>

namespace tilefold::python {

namespace {

using NumberArray =
    nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const std::int64_t> span_of(const NumberArray& numbers) {
    return {numbers.data(), numbers.size()};
}

/// See RangeLists.
void make_ranges(RangesHandle* self, const std::vector<std::int64_t>& batch,
                 const NumberArray& tiles, const NumberArray& rows,
                 const NumberArray& counts, const NumberArray& columns) {
    auto ranges = ranges_of(
        Extents(batch.begin(), batch.end()),
        {span_of(tiles), span_of(rows), span_of(counts), span_of(columns)});
    new (self) RangesHandle{std::move(ranges)};
}

/// [(first row, last row, first column, last column)] of one batch.
nb::list blocks_of(const RangesHandle& handle, std::size_t batch) {
    nb::list blocks;
    const TileList& list = handle.ranges->list(batch, false);
    for (std::size_t tile = 0; tile < list.rows.size(); ++tile)
        for (Interval columns : list.columns_of(tile))
            blocks.append(nb::make_tuple(list.rows[tile].first,
                                         list.rows[tile].last, columns.first,
                                         columns.last));
    return blocks;
}

using Owned = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;

Owned array_of(std::vector<std::int64_t> numbers) {
    auto* kept = new std::vector<std::int64_t>(std::move(numbers));
    const nb::capsule owner(kept, [](void* memory) noexcept {
        delete static_cast<std::vector<std::int64_t>*>(memory);
    });
    return Owned(kept->data(), {kept->size()}, owner);
}

/// What make_ranges() takes.
nb::tuple reduce_to_lists(const RangesHandle& handle) {
    const Extents& batch = handle.ranges->batch();
    std::int64_t count = 1;
    for (const std::int64_t extent : batch)
        count *= extent;
    std::vector<std::int64_t> tiles, rows, counts, columns;
    const auto put = [](std::vector<std::int64_t>& numbers, Interval interval) {
        numbers.insert(numbers.end(), {interval.first, interval.last});
    };
    for (std::size_t b = 0; b < std::size_t(count); ++b) {
        const TileList& list = handle.ranges->list(b, false);
        tiles.push_back(std::int64_t(list.rows.size()));
        for (std::size_t tile = 0; tile < list.rows.size(); ++tile) {
            put(rows, list.rows[tile]);
            counts.push_back(std::int64_t(list.columns_of(tile).size()));
            for (const Interval met : list.columns_of(tile))
                put(columns, met);
        }
    }
    const nb::object lists = nb::make_tuple(
        std::vector<std::int64_t>(batch.begin(), batch.end()),
        array_of(std::move(tiles)), array_of(std::move(rows)),
        array_of(std::move(counts)), array_of(std::move(columns)));
    return nb::make_tuple(nb::type<RangesHandle>(), lists);
}

RangesHandle transposed(const RangesHandle& handle) {
    return {std::make_shared<const Ranges>(handle.ranges->transposed())};
}

} // namespace

void bind_ranges(nb::module_& module) {
    nb::class_<RangesHandle>(module, "_Ranges", nb::is_weak_referenceable())
        .def("__init__", &make_ranges, nb::arg("batch"), nb::arg("tiles"),
             nb::arg("rows"), nb::arg("counts"), nb::arg("columns"),
             nb::sig("def __init__(self, batch: typing.Sequence[int], "
                     "tiles: typing.Any, rows: typing.Any, "
                     "counts: typing.Any, columns: typing.Any) -> None"))
        .def("transposed", &transposed)
        .def("blocks", &blocks_of, nb::arg("batch"),
             nb::sig("def blocks(self, batch: int) -> "
                     "list[tuple[int, int, int, int]]"))
        .def_prop_ro(
            "pairs",
            [](const RangesHandle& handle) { return handle.ranges->pairs(); })
        .def("__reduce__", &reduce_to_lists,
             nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

} // namespace tilefold::python
