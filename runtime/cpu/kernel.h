// runtime/cpu/kernel.h - a kernel ready to be called: its entries and its
// layout. An Image makes one from an artifact; tests make them from plain
// functions.
#pragma once

#include "compiler/artifact/artifact.h"
#include "compiler/artifact/kernel_abi.h"

namespace tilefold {

/// Entries the nest lacks are null.
struct Kernel {
    Layout layout;
    tilefold_kernel_prepare* prepare = nullptr;
    tilefold_kernel_init* init = nullptr;
    tilefold_kernel_accumulate* accumulate = nullptr;
    tilefold_kernel_merge* merge = nullptr;
    tilefold_kernel_fold* fold = nullptr;
    tilefold_kernel_finalise* finalise = nullptr;
    tilefold_kernel_reduce* reduce = nullptr;
    tilefold_kernel_zip* zip = nullptr;
    tilefold_kernel_dense* dense = nullptr;

    /// 8-byte state slots of a row at this width.
    std::int64_t slots(std::int64_t width) const {
        return layout.slots + layout.slots_per_width * width;
    }
    /// Bytes of scratch a thread needs at this width.
    std::int64_t scratch(std::int64_t width) const {
        return layout.scratch + layout.scratch_per_width * width;
    }
    /// Estimated nanoseconds of a pair on one core at this width.
    double nanoseconds(std::int64_t width) const {
        return layout.nanoseconds +
               layout.nanoseconds_per_width * double(width);
    }
};

} // namespace tilefold
