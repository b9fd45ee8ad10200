// runtime/cuda/job.cpp - operands, batches and results of a call, for run.h.

#include "runtime/cuda/job.h"

#include "runtime/cuda/run.h"

#include <algorithm>
#include <vector>

namespace tilefold::cuda {
namespace {

/// The batch dimensions [first, first + count) of a job as the innermost ones
/// of a kernel's.
class Batched {
public:
    Batched(const tilefold::Job& job, std::size_t literals,
            std::span<const Bytes> on_host)
        : job_(job), inner_(std::min<std::size_t>(job.batches->extents.size(),
                                                  most_batch_dimensions)),
          outer_(job.batches->extents.size() - inner_) {
        made_ = without_arrays(job, literals);
        fill_strides();
        fill_operands(on_host);
    }

    template <class Run> void each(Run run) {
        std::int64_t count = 1;
        for (std::size_t d = 0; d < outer_; ++d)
            count *= job_.batches->extents[d];
        const std::vector<DeviceOperand> first = operands_;
        for (std::int64_t batch = 0; batch < count; ++batch) {
            move_to(batch, first);
            run(made_);
        }
    }

private:
    void fill_strides() {
        made_.out_row = job_.target.row;
        made_.out_column = job_.target.column;
        made_.out_component = job_.target.component;
        for (std::size_t d = 0; d < inner_; ++d) {
            const std::size_t to = most_batch_dimensions - inner_ + d;
            made_.batch[to] = job_.batches->extents[outer_ + d];
            made_.out_batch[to] = job_.target.batch[outer_ + d];
        }
    }

    std::int64_t stride(std::size_t dimension, std::size_t operand) const {
        return job_.batches
            ->strides[dimension * job_.operands.size() + operand];
    }

    void fill_operands(std::span<const Bytes> on_host) {
        for (std::size_t k = 0; k < job_.operands.size(); ++k) {
            const tilefold_kernel_operand& from = job_.operands[k];
            DeviceOperand& to = operands_.emplace_back();
            to.data = from.base;
            to.stride = from.stride;
            to.component = from.component;
            to.column = from.column;
            to.host_bytes = std::size_t(on_host[k].high - on_host[k].low);
            if (to.host_bytes)
                to.host_before = from.base - on_host[k].low;
            for (std::size_t d = 0; d < inner_; ++d)
                to.batch[most_batch_dimensions - inner_ + d] =
                    stride(outer_ + d, k);
        }
        made_.operands = operands_;
    }

    /// Moves to one combination of the outer batch dimensions.
    void move_to(std::int64_t batch, const std::vector<DeviceOperand>& first) {
        operands_ = first;
        made_.operands = operands_;
        choose_pairs(batch);
        made_.out = job_.target.data;
        for (std::size_t d = outer_; d-- > 0;) {
            const std::int64_t extent = job_.batches->extents[d];
            const std::int64_t at = batch % extent;
            batch /= extent;
            made_.out += at * job_.target.batch[d];
            for (std::size_t k = 0; k < operands_.size(); ++k) {
                operands_[k].data += at * stride(d, k);
                if (operands_[k].host_bytes)
                    operands_[k].host_before += at * stride(d, k);
            }
        }
    }

    /// The lists of the inner batches of an outer one.
    void choose_pairs(std::int64_t outer) {
        if (!job_.chosen)
            return;
        std::int64_t count = 1;
        for (std::int64_t extent : made_.batch)
            count *= extent;
        lists_.clear();
        for (std::int64_t k = 0; k < count; ++k)
            lists_.push_back(&job_.chosen->list(outer * count + k));
        made_.chosen = lists_;
    }

    const tilefold::Job& job_;
    std::size_t inner_, outer_;
    std::vector<const TileList*> lists_;
    std::vector<DeviceOperand> operands_;
    Job made_;
};

} // namespace

Job without_arrays(const tilefold::Job& job, std::size_t literals) {
    Job made;
    made.literals = {job.literals, literals};
    if (job.row_index)
        made.row_list = {job.row_index, std::size_t(job.rows)};
    if (job.column_index)
        made.column_list = {job.column_index, std::size_t(job.columns)};
    made.rows = job.rows;
    made.columns = job.columns;
    made.width = job.width;
    made.pairs = job.loop == LoopKind::Dense ? Pairs::Dense : Pairs::Pairwise;
    made.accumulate = job.target.accumulate;
    return made;
}

void run(const Module& module, const tilefold::Job& job, std::size_t literals,
         std::span<const Bytes> on_host, CUstream stream) {
    if (job.batches->count() == 0)
        return;
    Batched(job, literals, on_host).each([&](const Job& made) {
        run(module, made, stream);
    });
}

} // namespace tilefold::cuda
