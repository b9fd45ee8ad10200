// runtime/bind/batch_sum.cpp - one run for all batches, then their sums.

#include "runtime/bind/batch_sum.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/outputs.h"
#include "runtime/schedule/device_backend.h"

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

BoundBatchSum::BoundBatchSum(const Binding& binding)
    : BoundKernel(Binding(binding)) {
    check_summed(call_.dtype());
    summed_ = summed_of(binding.options.sum_batch, call_.batch_dimensions);
    shape_ = without_summed(call_.shape, summed_);
}

/// The run and the sums, on a device.
void BoundBatchSum::queue(const Output& out, const RunOptions& options) const {
    DeviceBackend& backend = context().session->devices.of(location());
    const View results = View::of(nullptr, call_.dtype(), call_.shape);
    const DeviceMemoryPointer memory = backend.allocate(
        location().number,
        std::size_t(results.elements()) * size_of(results.dtype),
        options.stream, "the results before they are summed over batches",
        "pass fewer batches at a time, with accumulate=True");
    call_.queue(
        target_of(call_, Output::of(memory->data(), results.dtype, call_.shape),
                  false),
        options.stream);
    StridedReduction sums;
    sums.from = memory->data();
    sums.from_dtype = results.dtype;
    for (std::size_t d = 0; d < call_.shape.size(); ++d)
        (d < summed_.size() && summed_[d] ? sums.summed : sums.kept)
            .push_back({call_.shape[d], results.strides[d]});
    write_to(sums, out, options.accumulate);
    backend.gather(location().number, sums, options.stream);
}

void BoundBatchSum::compute(std::span<const Output> outs,
                            const RunOptions& options) const {
    const Output& out = outs[0];
    check_out(shape_, call_.dtype(), location(), call_.inputs, out);
    if (!location().is_host())
        return queue(out, options);
    sum_results(out, options, summed_,
                "the results before they are summed over batches",
                "pass fewer batches at a time, with accumulate=True");
}

} // namespace tilefold
