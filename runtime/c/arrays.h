// runtime/c/arrays.h - DLTensors as the runtime's views and outputs.
#pragma once

#include "runtime/c/handles.h"
#include "runtime/core/view.h"

#include <span>
#include <string>
#include <vector>

namespace tilefold::c {

/// The arguments of a call, while the caller's arrays and names live.
std::vector<NamedView> views_of(const tilefold_argument* arguments,
                                std::int64_t count);
/// Adds an array as one view, or as two, its real and its imaginary parts.
/// Throws Error.
void add_array(const char* name, const DLTensor& tensor,
               std::vector<NamedView>& views);

/// The outputs of a call, in memory that the thread keeps.
class Outputs {
public:
    Outputs();
    ~Outputs();
    Outputs(const Outputs&) = delete;
    Outputs& operator=(const Outputs&) = delete;

    /// Adds an array, or both parts of one. Throws Error(BadTensor, OutDType).
    void add(const DLTensor* tensor, bool is_complex);
    /// Adds one for each result of `bound`. Throws Error(BadCount).
    void add_results(const tilefold_bound& bound, const DLTensor* const* outs,
                     std::int64_t count);
    std::span<const Output> all() const { return {outputs_.data(), size_}; }

private:
    Output& next();

    std::vector<Output> outputs_;
    std::size_t size_ = 0; ///< of these are used
};

} // namespace tilefold::c
