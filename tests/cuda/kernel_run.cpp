// tests/cuda/kernel_run.cpp - arrays, launches, and the interpreter beside
// them.

#include "tests/cuda/kernel_run.h"

#include "compiler/backends/cuda/plan/choose_plan.h"
#include "compiler/ir/queries.h"
#include "runtime/core/element.h"
#include "runtime/cuda/row_tiles.h"
#include "tests/numerics/guarded.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace tilefold::tests {
namespace {

using test::Flush;
using test::Guarded;

std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
    return x ^ (x >> 32);
}

/// A number in [1/16, 1) that the dtype holds: of 6 bits, of 20 where it is no
/// half, so that sums of shorter factors have something to add; or a small
/// integer.
double number_of(const ir::Argument& argument, std::int64_t batch,
                 std::int64_t point, std::int64_t component) {
    std::uint64_t seed = std::hash<std::string>()(argument.name);
    for (std::int64_t word : {batch, point, component})
        seed = mixed(seed + std::uint64_t(word) + 1);
    const bool is_half =
        argument.dtype == DType::F16 || argument.dtype == DType::BF16;
    switch (kind_of(argument.dtype)) {
    case DTypeKind::Float:
        return double(4 + seed % 60) / 64 +
               (is_half ? 0 : double(seed >> 40 & 0x3fff) / 0x1p20);
    case DTypeKind::Signed:
        return double(seed % 9) - 3;
    case DTypeKind::Unsigned:
        return double(seed % 6);
    case DTypeKind::Truth:
        return double(seed % 2);
    }
    return 0;
}

std::int64_t components_of(const Type& type, std::int32_t width) {
    if (type.rank == 0)
        return 1;
    return type.rows == dynamic ? width
                                : std::int64_t(type.rows) * type.columns;
}

struct Array {
    std::unique_ptr<Guarded> memory;
    cuda::Operand operand{};
};

/// Every other array lies backwards, component by component.
Array array_of(const CudaCase& of, std::size_t number, const RunSizes& sizes) {
    const ir::Argument& a = of.graph.arguments[number];
    const std::int64_t points =
        std::max({std::int64_t(1), contains(a.axes, Axes::I) ? sizes.rows : 0,
                  contains(a.axes, Axes::J) ? sizes.columns : 0});
    const std::int64_t rows = a.rows == dynamic ? of.width : a.rows;
    const std::int64_t components = rows * a.columns;
    const auto size = std::int64_t(size_of(a.dtype));
    const std::int64_t count = sizes.batches * points * components;
    Array array;
    array.memory = std::make_unique<Guarded>(
        std::size_t(count * size), number % 2 ? Flush::Front : Flush::Back,
        std::size_t(size));
    const bool backwards = number % 2;
    const std::int64_t point = backwards ? -size : components * size;
    const std::int64_t row =
        backwards ? -points * size * a.columns : size * a.columns;
    const std::int64_t column = backwards ? -points * size : size;
    char* base = array.memory->data() + (backwards ? (count - 1) * size : 0);
    const std::int64_t batch = points * components * (backwards ? -size : size);
    for (std::int64_t b = 0; b < sizes.batches; ++b)
        for (std::int64_t p = 0; p < points; ++p)
            for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t c = 0; c < a.columns; ++c)
                    store_element(
                        number_of(a, b, p, r * a.columns + c), a.dtype,
                        base + b * batch + p * point + r * row + c * column);
    array.operand = {base, a.axes == Axes::None ? 0 : point, row, column, {}};
    array.operand.batch[cuda::batch_dimensions - 1] = batch;
    return array;
}

/// What the kernels write, and the sizes of it.
struct Results {
    std::int64_t kept, components, size;
    explicit Results(const CudaCase& of, const RunSizes& sizes) {
        const Type& type = of.graph[of.graph.result].type;
        kept = (contains(type.axes, Axes::I) ? sizes.rows : 1) *
               (contains(type.axes, Axes::J) ? sizes.columns : 1);
        components = components_of(type, of.width);
        size = std::int64_t(size_of(type.dtype));
    }
    std::int64_t bytes(std::int64_t batches) const {
        return batches * kept * components * size;
    }
};

class Launch {
public:
    Launch(const HostModule& module, std::size_t number,
           const HostKernels& kernels, unsigned blocks, int order)
        : module_(module), number_(number), kernels_(kernels), blocks_(blocks),
          order_(order) {}

    void operator()(const std::string& kernel, const cuda::Call& call,
                    const Blocks& blocks) const {
        if (!module_.run(number_, kernel, call, blocks, order_))
            throw std::runtime_error("threads part at a barrier of " + kernel);
    }
    /// One that strides over its work; of each run by itself.
    void operator()(const std::string& kernel, cuda::Call& call) const {
        for (call.first_run = 0; call.first_run < call.parts * call.batches;
             ++call.first_run)
            (*this)(kernel, call, {blocks_, 1, 1});
        call.first_run = 0;
    }
    /// Whether the only block of a grid writes its results itself.
    bool finishes_at_once() const { return blocks_ == 1; }
    const cuda::Shape& shape() const { return kernels_.emitted.shape; }
    const cuda::Plan& plan() const { return kernels_.plan; }

private:
    const HostModule& module_;
    std::size_t number_;
    const HostKernels& kernels_;
    unsigned blocks_;
    int order_;
};

/// Three tiles of rows between which rows meet nothing, of one interval of
/// columns, two, and none; fewer where there are fewer rows.
TileList tiles_of(const RunSizes& sizes) {
    const std::int64_t n = sizes.rows, m = sizes.columns;
    TileList list;
    list.first.push_back(0);
    const auto add = [&](Interval rows, std::vector<Interval> columns) {
        std::erase_if(columns, [](Interval i) { return i.size() <= 0; });
        if (rows.size() <= 0)
            return;
        list.rows.push_back(rows);
        list.columns.insert(list.columns.end(), columns.begin(), columns.end());
        list.first.push_back(list.columns.size());
    };
    add({n / 9, n / 3 + 1}, {{m / 3, m}});
    add({n / 3 + 1, n * 2 / 3}, {{0, m / 4}, {m / 2, m - m / 9}});
    add({n * 3 / 4 + 1, n - 1}, {});
    return list;
}

bool meets(const TileList& list, std::int64_t i, std::int64_t j) {
    const auto holds = [](Interval interval, std::int64_t at) {
        return interval.first <= at && at < interval.last;
    };
    for (std::size_t tile = 0; tile < list.rows.size(); ++tile)
        if (holds(list.rows[tile], i))
            for (Interval columns : list.columns_of(tile))
                if (holds(columns, j))
                    return true;
    return false;
}

/// Chosen pairs, where the graph asks for them.
struct Chosen {
    Chosen(const CudaCase& of, const RunSizes& sizes, std::int64_t block_rows)
        : any(ir::chooses_pairs(of.graph)) {
        const TileList list = tiles_of(sizes);
        const std::vector<const TileList*> lists(std::size_t(sizes.batches),
                                                 &list);
        tiles = cuda::chosen_tiles(lists, sizes.rows, block_rows);
    }
    bool any;
    cuda::ChosenTiles tiles;
};

/// All columns; of several segments, the first ones and the last one by
/// themselves, as where columns come in pieces.
void accumulate(const Launch& launch, const cuda::Call& of_all,
                std::int64_t row_blocks, std::int64_t runs) {
    cuda::Call call = of_all;
    long long segments = std::max(1ll, call.segments - 1);
    while (call.first_segment < call.segments) {
        segments = std::min(segments, call.segments - call.first_segment);
        const long long last = (call.first_segment + segments) * call.segment;
        call.first_column =
            std::min(call.first_segment * call.segment, of_all.columns);
        call.columns = std::min(last, of_all.columns) - call.first_column;
        launch("accumulate", call,
               {unsigned(row_blocks), unsigned(segments), unsigned(runs)});
        call.first_segment += segments;
    }
}

/// accumulate, merge_states until few states are left, finish.
void reduce(const Launch& launch, const Chosen& chosen, cuda::Call& call) {
    const std::int64_t tile = launch.plan().tile_columns;
    const std::int64_t tiles = (call.columns + tile - 1) / tile;
    call.segment =
        std::max<std::int64_t>(1, (tiles + call.segments - 1) / call.segments) *
        tile;
    const std::int64_t block = launch.plan().block_rows();
    std::int64_t row_blocks = (call.rows + block - 1) / block;
    if (chosen.any) {
        row_blocks = std::int64_t(chosen.tiles.rows.size());
        call.row_tiles = chosen.tiles.rows.data();
        call.intervals = chosen.tiles.intervals.data();
    }
    const std::int64_t runs = call.parts * call.batches;
    const bool folds = launch.shape().folds_rows;
    call.run =
        (launch.shape().folds_blocks ? row_blocks : call.rows) * call.segments;
    call.finishes = launch.finishes_at_once() && call.segments == 1 &&
                    (launch.shape().folds_blocks
                         ? row_blocks == 1
                         : launch.plan().lanes == cuda::Lanes::Columns);
    call.states = call.run * runs;
    const auto bytes = [&](std::int64_t states) {
        return std::size_t(states * launch.shape().slots) * 8;
    };
    auto states = std::make_unique<Guarded>(bytes(call.states), Flush::Back, 8);
    call.state = reinterpret_cast<double*>(states->data());
    accumulate(launch, call, row_blocks, chosen.any ? call.parts : runs);
    if (call.finishes)
        return;
    constexpr std::int64_t group = 5;
    while (folds && call.run > group) {
        const std::int64_t left = (call.run + group - 1) / group;
        auto merged =
            std::make_unique<Guarded>(bytes(left * runs), Flush::Back, 8);
        call.merged = reinterpret_cast<double*>(merged->data());
        call.group = group;
        call.groups = left;
        call.lanes = 2;
        launch("merge_states", call);
        states = std::move(merged);
        call.state = call.merged;
        call.run = left;
        call.states = left * runs;
    }
    call.group = folds ? call.run : call.segments;
    call.lanes = std::int64_t(std::bit_floor(std::uint64_t(call.segments)));
    launch("finish", call);
}

/// The pair term as it stands; all batches at once.
void write_pairs(const Launch& launch, bool dense, const cuda::Call& call) {
    const long long columns =
        (long long)launch.plan().threads * launch.plan().columns_unrolled;
    const unsigned blocks = unsigned((call.columns + columns - 1) / columns);
    if (!dense)
        launch("zip", call, {2, 1, unsigned(call.batches)});
    else if (blocks)
        launch("dense", call, {blocks, 2, unsigned(call.batches)});
}

/// A reader for the interpreter, of one batch.
reference::Reader reader_of(const CudaCase& of, std::int64_t batch) {
    return [&of, batch](std::size_t number, std::int64_t point,
                        std::int32_t row, std::int32_t column) {
        const ir::Argument& a = of.graph.arguments[number];
        return number_of(a, batch, point,
                         std::int64_t(row) * a.columns + column);
    };
}

std::vector<double> expected(const CudaCase& of, const RunSizes& sizes,
                             std::int64_t batch) {
    const Axes axes = of.graph[of.graph.result].type.axes;
    std::vector<std::int64_t> points, columns;
    const std::int64_t rows = contains(axes, Axes::I) ? sizes.rows : 1;
    const std::int64_t others = contains(axes, Axes::J) ? sizes.columns : 1;
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < others; ++j) {
            points.push_back(i);
            columns.push_back(j);
        }
    reference::Sizes of_graph{sizes.rows, sizes.columns, of.width, {}};
    const TileList list = tiles_of(sizes);
    if (ir::chooses_pairs(of.graph))
        of_graph.chosen = [&](std::int64_t i, std::int64_t j) {
            return meets(list, i, j);
        };
    return reference::evaluate(of.graph, of_graph, reader_of(of, batch), points,
                               columns);
}

double tolerance_of(const CudaCase& of) {
    if (of.tolerance != 0)
        return of.tolerance;
    return of.graph.real == DType::F32 ? 4e-6 : 1e-12;
}

} // namespace

HostKernels small_kernels(const CudaCase& of) {
    const cuda::Plans plans = cuda::choose_plans(
        of.graph, cuda::width_block_of(of.width), of.product_error);
    cuda::Plan plan = of.column_parallel && plans.few ? *plans.few : plans.many;
    const bool is_tiled = plan.is_tiled();
    const bool has_rows = plan.lanes == cuda::Lanes::Rows;
    const bool is_single = !is_tiled && has_rows && !ir::folds_rows(of.graph);
    plan.threads = is_single ? 32 : 64; // two warps, which nothing joins
    if (is_tiled) // the plan may have taken half as many threads
        plan.shared_bytes *= 2;
    plan.tiles_held = 2;
    if (!is_tiled)
        plan.tile_columns = has_rows ? std::min(plan.tile_columns, 16) : 96;
    return {cuda::emit(of.graph, plan), plan};
}

std::string run_kernels(const HostModule& module, std::size_t number,
                        const CudaCase& of, const HostKernels& kernels,
                        const RunSizes& sizes, int order) {
    const Launch launch(module, number, kernels, sizes.blocks, order);
    std::vector<Array> arrays;
    for (std::size_t k = 0; k < of.graph.arguments.size(); ++k)
        arrays.push_back(array_of(of, k, sizes));
    const Results results(of, sizes);
    const Guarded out(std::size_t(results.bytes(sizes.batches)), Flush::Back,
                      std::size_t(results.size));
    const Guarded constants(
        std::size_t(launch.shape().constants * sizes.batches) * 8, Flush::Back,
        8);
    cuda::Call call{};
    for (std::size_t k = 0; k < arrays.size(); ++k)
        call.operands[k] = arrays[k].operand;
    call.constants = reinterpret_cast<double*>(constants.data());
    call.constants_stride = launch.shape().constants;
    call.literals = of.graph.literals.data();
    call.out = out.data();
    call.rows = sizes.rows;
    call.columns = call.all_columns = sizes.columns;
    call.width = of.width;
    call.batches = sizes.batches;
    call.parts =
        (of.width + launch.plan().width_block - 1) / launch.plan().width_block;
    if (launch.plan().width_block == 1 && call.parts > 1 &&
        of.graph[of.graph.result].type.rows != dynamic)
        call.parts = 1;
    if (launch.shape().is_open)
        call.parts = (of.width + launch.plan().width_block - 1) /
                     launch.plan().width_block;
    const bool is_one_segment = ir::chooses_pairs(of.graph) ||
                                launch.plan().lanes == cuda::Lanes::Points;
    call.segments = is_one_segment ? 1 : sizes.segments;
    std::fill(std::begin(call.batch), std::end(call.batch), 1);
    call.batch[cuda::batch_dimensions - 1] = sizes.batches;
    const bool pairs = of.graph[of.graph.result].type.axes == Axes::IJ;
    call.out_component = results.size;
    call.out_column = results.components * results.size;
    call.out_row = call.out_column * (pairs ? sizes.columns : 1);
    call.out_batch[cuda::batch_dimensions - 1] = results.bytes(1);
    const Guarded offsets(
        std::size_t(launch.shape().offsets() * sizes.batches) * 8, Flush::Back,
        8);
    if (sizes.batches > 1)
        call.offsets = reinterpret_cast<long long*>(offsets.data());
    launch("prepare", call, {unsigned(sizes.batches), 1, 1});
    if (launch.shape().reduces)
        reduce(launch, Chosen(of, sizes, launch.plan().block_rows()), call);
    else
        write_pairs(launch, pairs, call);
    return {out.data(), out.size()};
}

std::string compare(const CudaCase& of, const RunSizes& sizes,
                    const std::string& results) {
    const Results shape(of, sizes);
    const DType dtype = of.graph[of.graph.result].type.dtype;
    std::ostringstream text;
    std::size_t at = 0;
    for (std::int64_t batch = 0; batch < sizes.batches; ++batch) {
        const std::vector<double> wanted = expected(of, sizes, batch);
        double largest = 0;
        for (double value : wanted)
            if (std::isfinite(value))
                largest = std::max(largest, std::fabs(value));
        for (double value : wanted) {
            const double got = element_at(results.data() + at, dtype);
            at += std::size_t(shape.size);
            const bool same =
                got == value || (std::isnan(got) && std::isnan(value));
            if (!same &&
                !(std::fabs(got - value) <= tolerance_of(of) * largest))
                text << "byte " << at << ": " << got << ", not " << value
                     << "; ";
        }
    }
    if (at != results.size())
        text << "results of another size";
    return text.str().substr(0, 300);
}

} // namespace tilefold::tests
