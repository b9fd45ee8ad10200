// runtime/bind/sweeps.cpp - runs the kernels of a formula in order.
//
// 1. A kernel writes straight into a result where that is all it leaves
//    behind; else into an array of its own, from which results are gathered.
// 2. The gradient of an argument that was broadcast along batch dimensions is
//    the sum over these, added in their order, in double precision; so are
//    results of sum_batch.

#include "runtime/bind/sweeps.h"

#include "compiler/build/part.h"
#include "formulas/diagnostic.h"
#include "formulas/names.h"
#include "runtime/bind/batch_sum.h"
#include "runtime/bind/bind_job.h"
#include "runtime/bind/outputs.h"
#include "runtime/bind/row_states.h"
#include "runtime/core/element.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace tilefold {
namespace detail {

/// What one kernel left behind.
struct Intermediate {
    std::vector<std::byte> bytes;  ///< empty where a result holds it …
    DeviceMemoryPointer on_device; ///< … null there, and on the host
    View view;                     ///< batch, points, components
    std::size_t batch = 0;         ///< leading dimensions
};

class SweepRun {
public:
    SweepRun(const SweepCall& call, std::span<const Output> outs,
             const RunOptions& options)
        : call_(call), executables_(call.sweeps()),
          outs_(outs.begin(), outs.end()), accumulate_(options.accumulate),
          stream_(options.stream), written_(outs.size()) {
        for (const SweepCall::Argument& argument : call_.arguments) {
            readings_.push_back(argument.reading);
            readings_.back().name = argument.name;
            readings_.back().view = &argument.view;
        }
        for (std::size_t k = 0; k < executables_.kernels.size(); ++k)
            bind_kernel(k);
        for (std::size_t r = 0; r < outs_.size(); ++r)
            batch_strides_.push_back(batch_strides(r));
    }

    /// Whether it writes to `outs`, whose shapes and dtypes are checked.
    bool writes_to(std::span<const Output> outs, bool accumulate) const {
        return accumulate == accumulate_ &&
               std::ranges::equal(
                   outs, outs_, [](const Output& a, const Output& b) {
                       return a.data == b.data && a.strides == b.strides;
                   });
    }

    void run(const Poll& poll) {
        for (std::size_t k = 0; k < executables_.kernels.size(); ++k)
            run_kernel(k, poll);
        for (std::size_t r = 0; r < outs_.size(); ++r)
            if (!written_[r])
                gather(r);
    }

    /// The same, of states that are the one kernel's.
    void finalise(const double* states, const Poll& poll) {
        finalise_states(kernels_[0], states, kernels_[0].job.target, poll);
        for (std::size_t r = 0; r < outs_.size(); ++r)
            if (!written_[r])
                gather(r);
    }

    // A check asks for what follows.

    const KernelCall& kernel(std::size_t number) const {
        return kernels_[number];
    }
    Output left(std::size_t kernel) const {
        const View& view = left_[kernel].view;
        return {const_cast<void*>(view.data), view.dtype, view.shape,
                view.strides};
    }
    /// The number of the result's batch, for each batch of a kernel.
    std::vector<std::int64_t> groups(std::size_t result) const {
        std::vector<std::int64_t> groups;
        find_groups(result, groups);
        return groups;
    }

private:
    const Location& location() const { return call_.context.location; }
    DeviceBackend& backend() const {
        return call_.context.session->devices.of(location());
    }

    void bind_kernel(std::size_t number) {
        KernelCall& kernel =
            kernels_.emplace_back(call_.context, executables_.kernels[number]);
        check_left(kernel.executable->program);
        fill_job(kernel, readings_, call_.lengths,
                 {.ranges = call_.ranges, .window = call_.window});
        Intermediate& left = left_.emplace_back();
        left.batch = kernel.batch_dimensions;
        Output out = Output::of(nullptr, kernel.dtype(), kernel.shape);
        left.view = View::of(nullptr, out.dtype, out.shape);
        if (const int result = sole_result(number, left); result >= 0) {
            out = outs_[std::size_t(result)];
            left.view.strides = out.strides;
            written_[std::size_t(result)] = true;
        } else {
            out.data = allocate(left);
        }
        left.view.location = location();
        left.view.data = out.data;
        kernel.job.target = target_of(kernel, out, false);
        for (const SweepPart& part : executables_.parts[number])
            add_reading(part, left);
    }

    /// What earlier kernels left is of the dtype that a kernel reads it as.
    void check_left(const Program& program) const {
        for (std::size_t k = 0; k < program.argument_order().size(); ++k) {
            const std::int32_t place = program.argument_order()[k];
            if (place >= std::int32_t(call_.arguments.size()) &&
                readings_[std::size_t(place)].dtype !=
                    program.graph().arguments[k].dtype)
                internal_error("a sum between sweeps of another dtype");
        }
    }

    /// The result that is all a kernel leaves, and may be written by it; or
    /// -1.
    int sole_result(std::size_t number, const Intermediate& left) const {
        if (accumulate_ || executables_.parts[number].size() != 1)
            return -1;
        const SweepPart& part = executables_.parts[number][0];
        int found = -1;
        for (std::size_t r = 0; r < outs_.size(); ++r)
            if (executables_.results[r].sweep == int(number))
                found = found == -1 ? int(r) : -2;
        if (found < 0)
            return -1;
        const Output& out = outs_[std::size_t(found)];
        const Type& type = executables_.types[std::size_t(found)];
        const bool same = std::ranges::equal(out.shape, left.view.shape) &&
                          holds(out.dtype, left.view.dtype) &&
                          part.type.axes == type.axes &&
                          part.type.rank == type.rank;
        return same ? found : -1;
    }

    /// Whether a result may be written as `left`: kernels leave the bits of
    /// uint64 numbers.
    static bool holds(DType result, DType left) {
        return result == left || (result == DType::U64 && left == DType::I64);
    }

    void* allocate(Intermediate& left) const {
        constexpr const char* what = "a sum between two sweeps over the pairs";
        const char* cure = call_.context.parsed->derivation().empty()
                               ? "pass fewer batches at a time, or float32"
                               : "differentiate by fewer arguments at a time";
        const double needed = left.view.dense_bytes();
        const auto out_of_memory = [&] {
            fail(Code::OutOfMemory,
                 {what, std::to_string(std::int64_t(needed / 1e6)) + " MB",
                  cure});
        };
        if (needed > 0x1p62)
            out_of_memory();
        const auto bytes = std::size_t(needed);
        if (!location().is_host()) {
            left.on_device = backend().allocate(location().number, bytes,
                                                stream_, what, cure);
            return left.on_device->data();
        }
        try {
            left.bytes.resize(bytes);
        } catch (const std::bad_alloc&) {
            out_of_memory();
        }
        return left.bytes.data();
    }

    /// Progress of all kernels together, each an equal share.
    void run_kernel(std::size_t number, const Poll& poll) {
        const KernelCall& kernel = kernels_[number];
        if (!location().is_host())
            return kernel.queue(kernel.job.target, stream_);
        if (!poll)
            return kernel.run(kernel.job, {});
        const double before = double(number), count = double(kernels_.size());
        const auto share = [&](double done, double total) {
            return poll((before + done / total) * total / count, total);
        };
        kernel.run(kernel.job, std::ref(share));
    }

    /// What later kernels read a part as.
    void add_reading(const SweepPart& part, const Intermediate& left) {
        BoundArgument reading;
        reading.name = part.name;
        reading.axes = part.type.axes;
        reading.dtype = left.view.dtype;
        reading.rank = part.type.rank;
        reading.rows = part.type.rows;
        reading.view = &left.view;
        reading.batch = left.batch;
        const Extents& strides = left.view.strides;
        std::size_t axis = left.batch;
        if (part.type.axes != Axes::None) {
            reading.points = left.view.shape[axis];
            reading.operand.stride = strides[axis++];
        }
        std::int64_t component = 0;
        if (axis < strides.size())
            component = strides[axis];
        reading.operand.component = component;
        reading.operand.base =
            static_cast<const char*>(left.view.data) + part.first * component;
        readings_.push_back(reading);
    }

    /// The place of a part's number for a point and a component, in its batch.
    struct Source {
        const char* base;
        std::int64_t point, component;
    };
    Source source_of(const SweepPart& part, const Intermediate& left) const {
        const Extents& strides = left.view.strides;
        Source source{static_cast<const char*>(left.view.data), 0, 0};
        std::size_t axis = left.batch;
        if (part.type.axes != Axes::None)
            source.point = strides[axis++];
        if (axis < strides.size()) {
            source.base += part.first * strides[axis];
            source.component = part.type.rank == 0 ? 0 : strides[axis];
        }
        return source;
    }

    /// Writes a result that no kernel wrote.
    void gather(std::size_t number) {
        const Output& out = outs_[number];
        if (!location().is_host())
            return gather_on_device(number);
        const std::int64_t elements = out.elements();
        const int sweep = executables_.results[number].sweep;
        sums_.reset(std::size_t(elements),
                    sweep < 0 ? out.dtype
                              : left_[std::size_t(sweep)].view.dtype);
        if (sweep >= 0 && elements > 0)
            add_batches(number);
        sums_.store(out, accumulate_);
    }

    void gather_on_device(std::size_t number) {
        const ResultPlace place = executables_.results[number];
        StridedReduction gathering;
        write_to(gathering, outs_[number], accumulate_);
        if (place.sweep < 0)
            gathering.kept = gathering.written; // zeros
        else
            read_batches(number, gathering);
        backend().gather(location().number, gathering, stream_);
    }

    /// Batches first, then points and components.
    void read_batches(std::size_t number, StridedReduction& gathering) const {
        const ResultPlace place = executables_.results[number];
        const Type& type = executables_.types[number];
        const Intermediate& left = left_[std::size_t(place.sweep)];
        const Source source = source_of(
            executables_
                .parts[std::size_t(place.sweep)][std::size_t(place.part)],
            left);
        gathering.from = source.base;
        gathering.from_dtype = left.view.dtype;
        for (std::size_t d = 0; d < left.batch; ++d)
            (batch_strides_[number][d] == 0 ? gathering.summed : gathering.kept)
                .push_back({left.view.shape[d], left.view.strides[d]});
        if (type.axes != Axes::None)
            gathering.kept.push_back(
                {call_.lengths.on(type.axes), source.point});
        if (type.rank != 0)
            gathering.kept.push_back({type.rows, source.component});
    }

    static std::span<const std::int64_t> batches_of(const Intermediate& left) {
        return {left.view.shape.data(), left.batch};
    }

    void find_groups(std::size_t result,
                     std::vector<std::int64_t>& groups) const {
        const int sweep = executables_.results[result].sweep;
        groups.clear();
        each_element(batches_of(left_[std::size_t(sweep)]),
                     batch_strides_[result],
                     [&](std::int64_t group) { groups.push_back(group); });
    }

    void add_batches(std::size_t number) {
        const ResultPlace place = executables_.results[number];
        const Type& type = executables_.types[number];
        const Intermediate& left = left_[std::size_t(place.sweep)];
        const SweepPart& part =
            executables_
                .parts[std::size_t(place.sweep)][std::size_t(place.part)];
        const Source source = source_of(part, left);
        const std::int64_t points =
            type.axes == Axes::None ? 1 : call_.lengths.on(type.axes);
        const std::int64_t components = type.rank == 0 ? 1 : type.rows;
        find_groups(number, groups_);
        std::size_t batch = 0;
        each_element(
            batches_of(left), left.view.strides, [&](std::int64_t from) {
                auto to = std::size_t(groups_[batch++] * points * components);
                for (std::int64_t p = 0; p < points; ++p)
                    for (std::int64_t c = 0; c < components; ++c)
                        sums_.add(to++, source.base + from + p * source.point +
                                            c * source.component);
            });
    }

    /// The distance between two batches of a result, in blocks of its points,
    /// for each batch dimension; 0 where it is summed.
    Extents batch_strides(std::size_t number) const {
        const SweepCall::Result& result = call_.results[number];
        Extents strides(call_.batch.size(), 0);
        Extents own = call_.batch;
        if (result.argument >= 0) {
            const BoundArgument& like = readings_[std::size_t(result.argument)];
            own.assign(like.view->shape.begin(),
                       like.view->shape.begin() + std::ptrdiff_t(like.batch));
        }
        std::int64_t stride = 1;
        for (std::size_t d = own.size(); d-- > 0;) {
            const std::size_t to = d + strides.size() - own.size();
            if (!call_.summed.empty() && call_.summed[to])
                continue;
            strides[to] = own[d] == 1 ? 0 : stride;
            stride *= own[d];
        }
        return strides;
    }

    const SweepCall& call_;
    const ExecutableSweeps& executables_;
    std::vector<Output> outs_;
    bool accumulate_;
    Stream stream_; ///< of a device
    std::vector<bool> written_;
    BoundArguments readings_;
    std::deque<Intermediate> left_; ///< by kernel; readings point into it
    std::deque<KernelCall> kernels_;
    std::vector<Extents> batch_strides_; ///< by result
    ElementSums sums_;                   ///< of one result
    std::vector<std::int64_t> groups_;   ///< of it; kept from run to run
};

} // namespace detail

using detail::SweepRun;

namespace {

/// Results are summed where they are gathered.
void sum_batches(SweepCall& call, std::span<const std::int64_t> dimensions) {
    call.summed = summed_of(dimensions, call.batch.size());
    for (SweepCall::Result& result : call.results) {
        if (result.argument >= 0)
            fail(Code::SumBatchOf,
                 {"a derivative", "the gradient of a sum takes the cotangent "
                                  "of the sum for every batch"});
        check_summed(result.dtype);
        result.shape = without_summed(result.shape, call.summed);
    }
}

/// A result of the call: its shape is that of the argument that its label
/// names, or the formula's own.
SweepCall::Result result_of(const SweepCall& call,
                            const BoundArguments& arguments, std::size_t r) {
    const std::string& label = call.sweeps().labels[r];
    const Type& type = call.sweeps().types[r];
    SweepCall::Result result;
    result.dtype = type.dtype;
    result.is_imaginary = is_imaginary(label);
    const auto like = std::ranges::find_if(arguments, [&](auto& argument) {
        return !label.empty() &&
               spelled(normalise_name(argument.name), argument.part) == label;
    });
    if (like != arguments.end()) {
        result.argument = int(like - arguments.begin());
        result.shape = like->view->shape;
        return result;
    }
    result.shape = call.batch;
    if (type.axes != Axes::None)
        result.shape.push_back(call.lengths.on(type.axes));
    if (type.rank == 1)
        result.shape.push_back(type.rows);
    return result;
}

InputArrays inputs_of(const std::vector<SweepCall::Argument>& arguments) {
    InputArrays inputs;
    for (const auto& [name, view, reading] : arguments)
        if (view.data)
            inputs.push_back(
                {name,
                 bytes_of(view.data, view.dtype, view.shape, view.strides),
                 view.location});
    return inputs;
}

} // namespace

BoundSweeps::BoundSweeps(Binding&& binding)
    : BoundState(binding), call_(context(), std::move(binding.executable)) {
    const BoundArguments& arguments = binding.arguments;
    const std::shared_ptr<const Ranges>& ranges = binding.options.ranges;
    for (const BoundArgument& argument : arguments)
        call_.arguments.push_back(
            {std::string(argument.name), *argument.view, argument});
    call_.inputs = inputs_of(call_.arguments);
    call_.lengths = binding.lengths;
    call_.ranges = ranges;
    call_.window = binding.options.window;
    call_.batch = batch_shape(arguments, ranges.get());
    for (std::size_t r = 0; r < call_.sweeps().types.size(); ++r)
        call_.results.push_back(result_of(call_, arguments, r));
    if (!binding.options.sum_batch.empty())
        sum_batches(call_, binding.options.sum_batch);
    if (!call_.window || call_.sweeps().kernels.size() != 1)
        return;
    std::vector<Output> nowhere;
    for (const SweepCall::Result& result : call_.results)
        nowhere.push_back(Output::of(nullptr, result.dtype, result.shape));
    states_ = std::make_unique<SweepRun>(call_, nowhere, RunOptions{});
}

BoundSweeps::~BoundSweeps() = default;

double BoundSweeps::pairs() const {
    return double(call_.lengths.i) * double(call_.lengths.j);
}

const KernelCall* BoundSweeps::kernel_of_states() const {
    return states_ ? &states_->kernel(0) : nullptr;
}

void BoundSweeps::check_outs(std::span<const Output> outs) const {
    for (std::size_t r = 0; r < outs.size(); ++r)
        check_out(call_.results[r].shape, call_.results[r].dtype, location(),
                  call_.inputs, outs[r]);
}

void BoundSweeps::finalise(const double* states, std::span<const Output> outs,
                           const RunOptions& options) const {
    check_outs(outs);
    SweepRun(call_, outs, {}).finalise(states, options.poll);
}

void BoundSweeps::compute(std::span<const Output> outs,
                          const RunOptions& options) const {
    check_outs(outs);
    for (const Output& out : outs)
        check_accumulate(out.dtype, options.accumulate);
    // A device's memory is that of one stream, for one run.
    if (!location().is_host())
        return SweepRun(call_, outs, options).run({});
    std::unique_ptr<SweepRun> run = spare_.take();
    if (!run || !run->writes_to(outs, options.accumulate))
        run = std::make_unique<SweepRun>(call_, outs, options);
    run->run(options.poll);
    spare_.give(std::move(run));
}

SweepTrace::SweepTrace(const SweepCall& call, const GoesOn& goes_on)
    : call_(call) {
    for (const SweepCall::Result& result : call.results) {
        const View view = View::of(nullptr, result.dtype, result.shape);
        results_.emplace_back(std::size_t(view.elements()) *
                              size_of(view.dtype));
        outs_.push_back(
            Output::of(results_.back().data(), result.dtype, result.shape));
    }
    run_ = std::make_unique<SweepRun>(call, outs_, RunOptions{});
    Poll poll;
    if (goes_on)
        poll = [&goes_on](double, double) { return goes_on(); };
    run_->run(poll);
    for (std::size_t k = 0; k < kernels(); ++k)
        left_.push_back(run_->left(k));
    find_readers();
}

SweepTrace::~SweepTrace() = default;

/// A kernel's arguments are those of the call, then parts of all kernels.
void SweepTrace::find_readers() {
    const ExecutableSweeps& executable = call_.sweeps();
    const std::size_t given = call_.arguments.size();
    std::vector<std::size_t> kernel_of;
    for (std::size_t k = 0; k < kernels(); ++k)
        kernel_of.insert(kernel_of.end(), executable.parts[k].size(), k);
    is_read_.assign(kernels(), false);
    for (const ExecutablePointer& kernel : executable.kernels)
        for (const std::int32_t place : kernel->program.argument_order())
            if (place >= std::int32_t(given))
                is_read_[kernel_of[std::size_t(place) - given]] = true;
}

std::size_t SweepTrace::kernels() const {
    return call_.sweeps().kernels.size();
}

const KernelCall& SweepTrace::kernel(std::size_t number) const {
    return run_->kernel(number);
}

SweepTrace::Source SweepTrace::source_of(std::size_t result) const {
    const ExecutableSweeps& executable = call_.sweeps();
    const ResultPlace place = executable.results[result];
    if (place.sweep < 0)
        return {};
    const Type& type = executable.types[result];
    const SweepPart& part =
        executable.parts[std::size_t(place.sweep)][std::size_t(place.part)];
    return {place.sweep, part.first, type.rank == 0 ? 1 : type.rows,
            run_->groups(result)};
}

} // namespace tilefold
