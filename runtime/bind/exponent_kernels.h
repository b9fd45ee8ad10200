// runtime/bind/exponent_kernels.h - kernels of a program for calls whose
// exponents are whole, or half of an odd number.
#pragma once

#include "compiler/passes/exponents.h"
#include "runtime/bind/executable.h"
#include "runtime/schedule/job.h"

#include <boost/container/small_vector.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tilefold {

/// What a call's exponents are. Thread-safe; `mutex` is the session's, so that
/// fork() has one to hold.
class ExponentKernels {
public:
    ExponentKernels(std::vector<ir::ValueId> exponents, std::mutex& mutex)
        : exponents_(std::move(exponents)), mutex_(mutex) {}

    /// Plans a program of the call's arguments, and makes its kernel.
    using Make = std::function<AlternativePointer(Program)>;

    /// Returns `program`, the call's, with the exponents of the job as numbers;
    /// null where none of them can be one, and where `pairs`, those of the job,
    /// are not worth a kernel of their own.
    AlternativePointer find(const Program& program, const Job& job,
                            double pairs, const Make& make);

private:
    /// Kernels kept; beyond, all are dropped.
    static constexpr std::size_t most_kernels = 64;
    using Fixed = boost::container::small_vector<ir::HalfExponent, 4>;

    Fixed fixed_in(const Program& program, const Job& job) const;

    const std::vector<ir::ValueId> exponents_;
    std::mutex& mutex_;
    std::vector<std::pair<Fixed, AlternativePointer>> kernels_;
};

/// Of a program that a host computes: null where no exponent is uniform.
std::shared_ptr<ExponentKernels> exponent_kernels(const Program& program,
                                                  std::mutex& mutex);

} // namespace tilefold
