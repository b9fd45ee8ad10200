// runtime/c/arrays.h - DLTensors as the runtime's views and outputs.
#pragma once

#include "runtime/c/handles.h"
#include "runtime/core/view.h"

#include <boost/container/small_vector.hpp>

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

/// The outputs of a call; two of them take no memory of the heap.
class Outputs {
public:
    /// Adds an array, or both parts of one. Throws Error(BadTensor, OutDType).
    void add(const DLTensor* tensor, bool is_complex);
    /// Adds one for each result of `bound`. Throws Error(BadCount).
    void add_results(const tilefold_bound& bound, const DLTensor* const* outs,
                     std::int64_t count);
    std::span<const Output> all() const {
        return {outputs_.data(), outputs_.size()};
    }

private:
    boost::container::small_vector<Output, 2> outputs_;
};

} // namespace tilefold::c
