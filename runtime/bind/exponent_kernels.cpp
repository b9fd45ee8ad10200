// runtime/bind/exponent_kernels.cpp - reads the exponents of a call, and makes
// kernels for them.

#include "runtime/bind/exponent_kernels.h"

#include "compiler/passes/passes.h"
#include "runtime/core/element.h"

#include <algorithm>

namespace tilefold {
namespace {

/// Whether all batches of the job read the same parameter.
bool is_of_all_batches(const Job& job, std::size_t argument) {
    const Batches& batches = *job.batches;
    for (std::size_t d = 0; d < batches.extents.size(); ++d)
        if (batches.strides[d * job.operands.size() + argument] != 0)
            return false;
    return true;
}

} // namespace

ExponentKernels::Fixed ExponentKernels::fixed_in(const Program& program,
                                                 const Job& job) const {
    Fixed fixed;
    for (ir::ValueId exponent : exponents_) {
        bool is_one_number = true;
        const double value = ir::value_of_exponent(
            program.graph(), exponent,
            [&](std::size_t argument, std::int64_t component) {
                is_one_number &= is_of_all_batches(job, argument);
                const tilefold_kernel_operand& operand = job.operands[argument];
                return element_at(operand.base + component * operand.component,
                                  program.graph().arguments[argument].dtype);
            });
        fixed.push_back(is_one_number ? ir::half_exponent(value)
                                      : ir::open_exponent);
    }
    return fixed;
}

AlternativePointer ExponentKernels::find(const Program& program, const Job& job,
                                         double pairs, const Make& make) {
    // States of callers are merged and finished by the call's own kernel.
    if (job.left.data || job.given.data || pairs < pairs_worth_a_kernel)
        return nullptr;
    const Fixed fixed = fixed_in(program, job);
    if (std::ranges::count(fixed, ir::open_exponent) ==
        std::ptrdiff_t(fixed.size()))
        return nullptr;
    {
        std::lock_guard lock(mutex_);
        const auto known = std::ranges::find(
            kernels_, fixed, &std::pair<Fixed, AlternativePointer>::first);
        if (known != kernels_.end())
            return known->second;
    }
    AlternativePointer made = make(with_graph(
        program,
        ir::canonicalise(ir::with_exponents(program.graph(), exponents_,
                                            {fixed.data(), fixed.size()}))));
    std::lock_guard lock(mutex_);
    if (kernels_.size() == most_kernels)
        kernels_.clear();
    kernels_.emplace_back(fixed, made);
    return made;
}

std::shared_ptr<ExponentKernels> exponent_kernels(const Program& program,
                                                  std::mutex& mutex) {
    std::vector<ir::ValueId> exponents = ir::uniform_exponents(program.graph());
    return exponents.empty()
               ? nullptr
               : std::make_shared<ExponentKernels>(std::move(exponents), mutex);
}

} // namespace tilefold
