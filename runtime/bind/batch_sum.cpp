// runtime/bind/batch_sum.cpp - one run for all batches, then their sums.

#include "runtime/bind/batch_sum.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/bind_job.h"
#include "runtime/bind/outputs.h"
#include "runtime/schedule/device_backend.h"

#include <memory>
#include <new>
#include <utility>

namespace tilefold {
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

namespace {

/// The distance between sums of results of `shape`, for each dimension.
Extents strides_of_sums(const Extents& shape, const std::vector<bool>& summed) {
    Extents strides(shape.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t d = strides.size(); d-- > 0;) {
        if (d < summed.size() && summed[d])
            continue;
        strides[d] = stride;
        stride *= shape[d];
    }
    return strides;
}

} // namespace

BoundBatchSum::BoundBatchSum(Binding&& binding)
    : BoundState(binding), call_(context(), std::move(binding.executable)) {
    fill_job(call_, binding.arguments, binding.lengths, binding.options);
    check_summed(call_.dtype());
    summed_ = summed_of(binding.options.sum_batch, call_.batch_dimensions);
    shape_ = without_summed(call_.shape, summed_);
    strides_ = strides_of_sums(call_.shape, summed_);
    results_ = View::of(nullptr, call_.dtype(), call_.shape);
    target_ = target_of(call_, Output::of(nullptr, call_.dtype(), call_.shape),
                        false);
}

double BoundBatchSum::pairs() const {
    return pairs_of(call_.job, call_.partition);
}

/// The run and the sums, on a device.
void BoundBatchSum::queue(const Output& out, const RunOptions& options) const {
    DeviceBackend& backend = context().session->devices.of(location());
    const DeviceMemoryPointer memory = backend.allocate(
        location().number,
        std::size_t(results_.elements()) * size_of(results_.dtype),
        options.stream, "the results before they are summed over batches",
        "pass fewer batches at a time, with accumulate=True");
    Target target = target_;
    target.data = static_cast<char*>(memory->data());
    call_.queue(target, options.stream);
    StridedReduction sums;
    sums.from = memory->data();
    sums.from_dtype = results_.dtype;
    for (std::size_t d = 0; d < call_.shape.size(); ++d)
        (d < summed_.size() && summed_[d] ? sums.summed : sums.kept)
            .push_back({call_.shape[d], results_.strides[d]});
    write_to(sums, out, options.accumulate);
    backend.gather(location().number, sums, options.stream);
}

void BoundBatchSum::compute(std::span<const Output> outs,
                            const RunOptions& options) const {
    const Output& out = outs[0];
    const DType dtype = call_.dtype();
    check_out(shape_, dtype, location(), call_.inputs, out);
    if (!location().is_host())
        return queue(out, options);
    std::unique_ptr<ResultSums> memory = spare_.take();
    if (!memory)
        memory = std::make_unique<ResultSums>(
            results_, target_,
            "the results before they are summed over batches",
            "pass fewer batches at a time, with accumulate=True");
    memory->reset(out.elements(), dtype);
    const std::byte* result = memory->results.data();
    Job job = call_.job;
    job.target = memory->target;
    call_.run(job, options.poll);
    each_element(call_.shape, strides_, [&](std::int64_t at) {
        memory->sums.add(std::size_t(at), result);
        result += size_of(dtype);
    });
    memory->sums.store(out, options.accumulate);
    spare_.give(std::move(memory));
}

} // namespace tilefold
