// runtime/bind/bind_job.cpp - from what the user calls i and j to the kernel's
// rows and columns.

#include "runtime/bind/bind_job.h"

#include "compiler/ir/queries.h"
#include "formulas/diagnostic.h"

#include <algorithm>
#include <span>
#include <utility>

namespace tilefold {
namespace {

/// An axis as the user sees it: its length and the rows listed of it.
struct AxisRows {
    std::int64_t length = -1; ///< -1: no array says
    std::optional<Rows> listed;
    std::int64_t first = 0;  ///< the number of the first of its points
    std::int64_t total = -1; ///< of the whole axis; -1: no more than these

    bool known() const { return listed || length >= 0; }
    std::int64_t count() const {
        return listed ? listed->size : std::max<std::int64_t>(length, 0);
    }
    std::int64_t count_of_axis() const { return total < 0 ? count() : total; }
    Interval points() const { return {first, first + count()}; }
};

/// The ranges' batches, read like an argument's.
BoundArgument batches_of(const Ranges& ranges, View& view) {
    view = View::of(nullptr, DType::Bool, ranges.batch());
    BoundArgument reading;
    reading.name = "ranges";
    reading.batch = view.shape.size();
    reading.view = &view;
    return reading;
}

/// Fills one call.
class JobBinder {
public:
    JobBinder(KernelCall& call, const BoundArguments& readings,
              const Lengths& lengths, const BindOptions& options)
        : call_(call), program_(call.executable->program), readings_(readings),
          query_(options.query), i_{lengths.i, options.i},
          j_{lengths.j, options.j} {
        if (program_.pairs != ir::Pairs::All)
            call_.ranges = options.ranges;
        if (options.window) {
            place(i_, options.window->i, "i");
            place(j_, options.window->j, "j");
        }
    }

    void run() {
        bind_operands();
        bind_width();
        bind_sizes();
        bind_batches();
        bind_ranges();
        bind_shape();
        const Executable& executable = *call_.executable;
        call_.job.literals = program_.graph().literals.data();
        if (!executable.kernel)
            return; // of a device
        call_.job.kernel = &executable.kernel->image.kernel();
        call_.job.functions = executable.functions;
        call_.partition = partition_of(call_.job);
    }

private:
    const BoundArgument& reading(std::size_t graph_argument) const {
        return readings_[std::size_t(
            program_.argument_order()[graph_argument])];
    }
    /// The kernel asks how many points there are: nobody passes that.
    bool is_length(std::size_t graph_argument) const {
        return program_.argument_order()[graph_argument] < 0;
    }
    /// Whether the program reads the first of an argument's points.
    bool reads_first_point(std::size_t graph_argument) const {
        return std::ranges::any_of(
            program_.graph().nodes, [&](const ir::Node& node) {
                return node.op == ir::Op::Argument &&
                       node.type.axes == Axes::None &&
                       node.first == std::int64_t(graph_argument);
            });
    }
    /// … although it has none.
    bool lacks_first_point(std::size_t graph_argument) const {
        return !is_length(graph_argument) &&
               std::ranges::count(reading(graph_argument).view->shape, 0) > 0 &&
               reads_first_point(graph_argument);
    }
    /// The kernel reads a point of the axis as a parameter.
    bool is_on_one_point(std::size_t graph_argument) const {
        return program_.one_point != Axes::None && !is_length(graph_argument) &&
               reading(graph_argument).axes == program_.one_point;
    }
    const char* add_number(double number) {
        call_.numbers.push_back(number);
        return reinterpret_cast<const char*>(&call_.numbers.back());
    }
    static Bytes bytes_of_number(const char* number) {
        return {number, number + sizeof(double)};
    }
    static void place(AxisRows& axis, const Window::Axis& in, const char* name);
    void move_back(tilefold_kernel_operand& operand,
                   std::size_t graph_argument) const;
    AxisRows& rows() { return program_.swapped ? j_ : i_; }
    AxisRows& columns() { return program_.swapped ? i_ : j_; }

    void bind_operands();
    void bind_width();
    void bind_sizes();
    void bind_reduction();
    void bind_map();
    void bind_values();
    void bind_batches();
    void bind_points_as_batches();
    void bind_ranges();
    void bind_shape();
    void check_shape() const;
    void bind_lists(bool with_columns);
    const std::int64_t* bind_list(const AxisRows& axis,
                                  std::vector<std::int64_t>& resolved);
    void require(const AxisRows& axis) const;
    std::int64_t paired_rows();
    void add_axis(int& place, std::int64_t extent);

    KernelCall& call_;
    const Program& program_;
    const BoundArguments& readings_;
    Query query_;
    AxisRows i_, j_;
};

void JobBinder::place(AxisRows& axis, const Window::Axis& in,
                      const char* name) {
    const std::int64_t total =
        in.total < 0 ? in.first + axis.count() : in.total;
    if (in.first < 0 || in.first > total - axis.count())
        fail(Code::BadOption,
             {name,
              "(" + std::to_string(in.first) + ", " + std::to_string(total) +
                  ") of " + std::to_string(axis.count()) + " points",
              "pass the number of the first of them, and how many points the "
              "whole axis has"});
    axis.first = in.first;
    axis.total = total;
}

/// Points are addressed by their numbers on the whole axis.
void JobBinder::move_back(tilefold_kernel_operand& operand,
                          std::size_t graph_argument) const {
    const BoundArgument& from = reading(graph_argument);
    if (from.axes == Axes::None)
        return;
    const AxisRows& axis = from.axes == Axes::I ? i_ : j_;
    if (axis.total < 0)
        return;
    if (reads_first_point(graph_argument))
        fail(Code::BadOption,
             {"tolerance",
              "one by which distances are computed from the first of all '" +
                  std::string(from.name) + "'",
              "leave tolerance=0 where arrays are parts of longer ones"});
    operand.base -= axis.first * operand.stride;
}

void JobBinder::bind_operands() {
    std::size_t count = program_.argument_order().size();
    call_.numbers.reserve(count); // operands point into it
    for (std::size_t k = 0; k < count; ++k) {
        if (is_length(k)) {
            const bool of_i = program_.argument_order()[k] == points_on_i;
            const double points = double((of_i ? i_ : j_).count_of_axis());
            tilefold_kernel_operand length{};
            length.base = add_number(points);
            call_.operands.push_back(length);
            call_.on_host.push_back(bytes_of_number(length.base));
            continue;
        }
        const BoundArgument& from = reading(k);
        tilefold_kernel_operand operand = from.operand;
        if (is_on_one_point(k)) // the points are batches
            operand.stride = 0;
        if (program_.flat_width > 1 && from.axes != Axes::None)
            operand.stride = std::exchange(operand.component, 0);
        if (!operand.base && from.view->shape.empty()) {
            operand.base = add_number(from.view->number);
            call_.on_host.push_back(bytes_of_number(operand.base));
        } else {
            const Bytes bytes = bytes_of(from.view->data, from.dtype,
                                         from.view->shape, from.view->strides);
            call_.inputs.push_back(
                {std::string(from.name), bytes, from.view->location});
            call_.on_host.push_back(from.view->location.is_host() ? bytes
                                                                  : Bytes{});
        }
        if (lacks_first_point(k)) { // every component is 0
            operand.base = add_number(0);
            operand.stride = operand.component = operand.column = 0;
        }
        move_back(operand, k);
        call_.operands.push_back(operand);
    }
    call_.job.operands = {call_.operands.data(), call_.operands.size()};
}

/// Every argument of dynamic width has the one width of the call.
void JobBinder::bind_width() {
    if (program_.width_argument() < 0)
        return;
    const BoundArgument& first =
        reading(std::size_t(program_.width_argument()));
    call_.job.width = first.rows;
    for (std::size_t k = 0; k < program_.graph().arguments.size(); ++k)
        if (program_.graph().arguments[k].rows == dynamic &&
            reading(k).rows != first.rows)
            fail(Code::WrongComponents,
                 {std::string(reading(k).name), std::to_string(reading(k).rows),
                  std::to_string(first.rows)});
}

void JobBinder::require(const AxisRows& axis) const {
    if (!axis.known())
        fail(Code::UnknownAxis, {call_.context.parsed->text(), Span{}},
             {&axis == &i_ ? "i" : "j", "the formula"});
}

/// The axis' list with negative numbers counted from its end.
const std::int64_t* JobBinder::bind_list(const AxisRows& axis,
                                         std::vector<std::int64_t>& resolved) {
    if (!axis.listed)
        return nullptr;
    std::span list(axis.listed->numbers, std::size_t(axis.listed->size));
    std::int64_t length = axis.length;
    bool negative = false;
    for (std::int64_t row : list) {
        if (row < (length < 0 ? 0 : -length) || (length >= 0 && row >= length))
            fail(Code::KeyRowOutOfRange,
                 {std::to_string(row), std::to_string(length)});
        negative |= row < 0;
    }
    if (!negative)
        return list.data();
    resolved.assign(list.begin(), list.end());
    for (std::int64_t& row : resolved)
        row += row < 0 ? length : 0;
    return resolved.data();
}

void JobBinder::bind_lists(bool with_columns) {
    if (!program_.single_row)
        call_.job.row_index = bind_list(rows(), call_.row_list);
    if (with_columns)
        call_.job.column_index = bind_list(columns(), call_.column_list);
}

void JobBinder::bind_reduction() {
    Job& job = call_.job;
    job.loop = program_.folds_rows ? LoopKind::FoldRows : LoopKind::Reduce;
    if (!program_.single_row)
        require(rows());
    job.rows = program_.single_row ? 1 : rows().count() * program_.flat_width;
    if (!program_.single_column)
        require(columns());
    job.columns = program_.single_column ? 1 : columns().count();
    job.has_one_axis = program_.single_column;
    job.segment = call_.context.settings->options.segment.value_or(0);
    job.total_rows = 1;
    if (!program_.single_row) {
        job.first_row = rows().first;
        job.total_rows = rows().total;
    }
    if (!program_.single_column) {
        job.first_column = columns().first;
        job.total_columns = columns().total;
    }
    const std::optional<Plan>& plan = call_.executable->plan;
    if (plan && plan->nest == Nest::SinglePanel && job.columns > plan->panel)
        fail(Code::BadPlan,
             {"nest",
              "single_panel, of at most " + std::to_string(plan->panel) +
                  " columns, and these have " + std::to_string(job.columns)});
    bind_lists(!program_.single_column);
}

/// No reduction: one result a point of the one axis, or one in all.
void JobBinder::bind_map() {
    Job& job = call_.job;
    job.loop = LoopKind::Pairwise;
    job.rows = 1;
    if (program_.result.axes != Axes::None) {
        require(rows());
        job.rows = rows().count();
        bind_lists(false);
    }
    job.columns = job.rows;
}

/// Points k of which (k, k), or (rows[k], columns[k]), is asked for.
std::int64_t JobBinder::paired_rows() {
    if (!i_.known())
        i_ = j_;
    if (!j_.known())
        j_ = i_;
    require(i_);
    if (i_.count() == j_.count())
        return i_.count();
    if (query_ == Query::Pairs)
        fail(Code::BadOption,
             {"rows and columns",
              "lists of " + std::to_string(i_.count()) + " and " +
                  std::to_string(j_.count()) + " numbers",
              "pass two lists of the same length"});
    auto on = [&](Axes axis) {
        return std::string(std::ranges::find_if(readings_, [&](auto& r) {
                               return contains(r.axes, axis);
                           })->name);
    };
    fail(Code::LengthMismatch,
         {on(Axes::I), std::to_string(i_.count()), "the diagonal", on(Axes::J),
          std::to_string(j_.count())});
}

/// The pair term for some pairs.
void JobBinder::bind_values() {
    Job& job = call_.job;
    if (query_ == Query::Dense) {
        job.loop = LoopKind::Dense;
        require(i_);
        require(j_);
        job.rows = rows().count();
        job.columns = columns().count();
    } else {
        job.loop = LoopKind::Pairwise;
        job.rows = job.columns = paired_rows();
    }
    bind_lists(true);
}

void JobBinder::bind_sizes() {
    if (query_ != Query::Result)
        bind_values();
    else if (!ir::reduces(program_.graph()))
        bind_map();
    else
        bind_reduction();
}

/// Ranges choose points by their numbers on the axes, which are those of a
/// part's own from here on.
void JobBinder::bind_ranges() {
    if (!call_.ranges)
        return;
    call_.ranges->check_lengths(i_.count_of_axis(), j_.count_of_axis());
    if (i_.total >= 0 || j_.total >= 0)
        call_.ranges = std::make_shared<const Ranges>(
            call_.ranges->part(i_.points(), j_.points()));
    View view;
    const BoundArgument reading = batches_of(*call_.ranges, view);
    call_.chosen.ranges = call_.ranges.get();
    call_.chosen.transposed = program_.pairs == ir::Pairs::ChosenTransposed;
    for (std::size_t d = 0; d < call_.batch_dimensions; ++d)
        if (call_.shape[d] != 1)
            call_.chosen.strides.push_back(
                batch_stride(reading, call_.shape, d));
    call_.chosen.extents = call_.batches.extents;
    call_.job.chosen = &call_.chosen;
}

/// Batch dimensions of extent 1 are no loop.
void JobBinder::bind_batches() {
    call_.shape = batch_shape(readings_, call_.ranges.get());
    call_.batch_dimensions = call_.shape.size();
    for (std::size_t d = 0; d < call_.shape.size(); ++d) {
        if (call_.shape[d] == 1)
            continue;
        call_.batches.extents.push_back(call_.shape[d]);
        for (std::size_t k = 0; k < call_.operands.size(); ++k) {
            std::int64_t stride =
                is_length(k) || lacks_first_point(k)
                    ? 0
                    : batch_stride(reading(k), call_.shape, d);
            call_.batches.strides.push_back(stride);
            call_.batches.moves_parameters |=
                stride != 0 && reads_first_point(k);
        }
    }
    if (program_.one_point != Axes::None)
        bind_points_as_batches();
    call_.job.batches = &call_.batches;
}

/// The points of an axis whose kernel is for one are the innermost batches.
void JobBinder::bind_points_as_batches() {
    const std::int64_t points =
        (program_.one_point == Axes::I ? i_ : j_).count();
    call_.shape.push_back(points);
    call_.batch_dimensions = call_.shape.size();
    if (points == 1)
        return;
    call_.batches.extents.push_back(points);
    for (std::size_t k = 0; k < call_.operands.size(); ++k)
        call_.batches.strides.push_back(
            is_on_one_point(k) ? reading(k).operand.stride : 0);
    call_.batches.moves_parameters = true;
}

void JobBinder::add_axis(int& place, std::int64_t extent) {
    place = int(call_.shape.size());
    call_.shape.push_back(extent);
}

/// Appends to the batches the kept axes as the user wrote them, then
/// components.
void JobBinder::bind_shape() {
    const Job& job = call_.job;
    const Result& result = program_.result;
    if (job.loop == LoopKind::Dense) {
        add_axis(program_.swapped ? call_.column_axis : call_.row_axis,
                 i_.count());
        add_axis(program_.swapped ? call_.row_axis : call_.column_axis,
                 j_.count());
    } else if (program_.one_point == Axes::None &&
               (query_ != Query::Result || result.axes != Axes::None)) {
        add_axis(call_.row_axis, job.rows);
    }
    if (result.rank == 1)
        add_axis(call_.component_axis,
                 result.rows == dynamic ? job.width : result.rows);
    check_shape();
}

/// Arrays that are broadcast may be as long as anybody writes; the bytes of the
/// results, be these summed or not, are counted by one integer.
void JobBinder::check_shape() const {
    double bytes = double(size_of(program_.result.dtype));
    for (std::int64_t extent : call_.shape)
        bytes *= double(extent);
    if (bytes < 0x1p63)
        return;
    fail(Code::OutOfMemory, {"a result of shape " + spelling_of(call_.shape),
                             "8 EiB or more", "pass fewer points at a time"});
}

} // namespace

Extents batch_shape(const BoundArguments& readings, const Ranges* ranges) {
    if (!ranges)
        return batch_shape(readings);
    View view;
    BoundArguments all = readings;
    all.push_back(batches_of(*ranges, view));
    return batch_shape(all);
}

void fill_job(KernelCall& call, const BoundArguments& readings,
              const Lengths& lengths, const BindOptions& options) {
    JobBinder(call, readings, lengths, options).run();
}

} // namespace tilefold
