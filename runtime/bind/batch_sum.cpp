// runtime/bind/batch_sum.cpp - one run for all batches, then their sums.

#include "runtime/bind/batch_sum.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/outputs.h"
#include "runtime/core/element.h"
#include "runtime/schedule/device_backend.h"

#include <memory>
#include <new>
#include <utility>

namespace tilefold {
namespace {

using detail::BoundState;

/// For each dimension of the results, the distance between their sums.
Extents strides_of_sums(const BoundState& bound) {
    Extents strides(bound.shape.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t d = strides.size(); d-- > 0;) {
        if (d < bound.summed.size() && bound.summed[d])
            continue;
        strides[d] = stride;
        stride *= bound.shape[d];
    }
    return strides;
}

/// Memory for all results, and sums of 0.
std::unique_ptr<BoundState::Sums>
memory_for(const BoundState& bound, const View& results, std::int64_t sums) {
    const double bytes = results.dense_bytes();
    try {
        if (bytes > 0x1p62)
            throw std::bad_alloc();
        auto memory = bound.spare_sums.take();
        if (!memory)
            memory = std::make_unique<BoundState::Sums>();
        memory->results.resize(std::size_t(bytes));
        memory->sums.reset(std::size_t(sums), results.dtype);
        return memory;
    } catch (const std::bad_alloc&) {
        fail(Code::OutOfMemory,
             {"the results before they are summed over batches",
              std::to_string(std::int64_t(bytes / 1e6)) + " MB",
              "pass fewer batches at a time, with accumulate=True"});
    }
}

void run_on_device(const BoundState& bound, const Output& out,
                   const RunOptions& options) {
    DeviceBackend& backend = bound.session->devices.of(bound.location);
    const View results =
        View::of(nullptr, bound.executable->program.result.dtype, bound.shape);
    const DeviceMemoryPointer memory = backend.allocate(
        bound.location.number,
        std::size_t(results.elements()) * size_of(results.dtype),
        options.stream, "the results before they are summed over batches",
        "pass fewer batches at a time, with accumulate=True");
    detail::queue_job(
        bound,
        target_of(bound, Output::of(memory->data(), results.dtype, bound.shape),
                  false),
        options.stream);
    StridedReduction sums;
    sums.from = memory->data();
    sums.from_dtype = results.dtype;
    for (std::size_t d = 0; d < bound.shape.size(); ++d)
        (d < bound.summed.size() && bound.summed[d] ? sums.summed : sums.kept)
            .push_back({bound.shape[d], results.strides[d]});
    write_to(sums, out, options.accumulate);
    backend.gather(bound.location.number, sums, options.stream);
}

} // namespace

void check_summed(DType dtype) {
    if (dtype == DType::Bool)
        fail(Code::SumBatchOf,
             {"true or false", "count, or use any and all of NumPy"});
    if (dtype == DType::U64)
        fail(Code::SumBatchOf,
             {"uint64 numbers", "sum the results, or pass int64 numbers"});
}

std::vector<bool> summed_of(std::span<const std::int64_t> dimensions,
                            std::size_t count) {
    std::vector<bool> summed(count, false);
    for (std::int64_t d : dimensions) {
        if (d < 0 || d >= std::int64_t(count) || summed[std::size_t(d)])
            fail(Code::SumBatchAxis,
                 {std::to_string(d), std::to_string(count)});
        summed[std::size_t(d)] = true;
    }
    return summed;
}

Extents without_summed(const Extents& shape, const std::vector<bool>& summed) {
    Extents left;
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (d >= summed.size() || !summed[d])
            left.push_back(shape[d]);
    return left;
}

void bind_batch_sum(BoundState& bound,
                    std::span<const std::int64_t> dimensions) {
    check_summed(bound.executable->program.result.dtype);
    bound.summed = summed_of(dimensions, bound.batch_dimensions);
    bound.sum_shape = without_summed(bound.shape, bound.summed);
}

void run_batch_sum(const BoundState& bound, const Output& out,
                   const RunOptions& options) {
    const DType dtype = bound.executable->program.result.dtype;
    check_accumulate(dtype, options.accumulate);
    check_out(without_summed(bound.shape, bound.summed), dtype, bound.location,
              {bound.inputs.data(), bound.inputs.size()}, out);
    if (!bound.location.is_host())
        return run_on_device(bound, out, options);
    std::unique_ptr<BoundState::Sums> memory = memory_for(
        bound, View::of(nullptr, dtype, bound.shape), out.elements());
    const std::byte* result = memory->results.data();
    Job job = bound.job;
    job.target = target_of(
        bound, Output::of(memory->results.data(), dtype, bound.shape), false);
    detail::run_job(bound, job, options.poll);
    each_element(bound.shape, strides_of_sums(bound), [&](std::int64_t at) {
        memory->sums.add(std::size_t(at), result);
        result += size_of(dtype);
    });
    memory->sums.store(out, options.accumulate);
    bound.spare_sums.give(std::move(memory));
}

} // namespace tilefold
