// command/values.h - what is given to a formula on the command line.
#pragma once

#include "command/npy.h"

#include <deque>
#include <string>

namespace tilefold::command {

/// Arguments with the arrays that they are of.
class Values {
public:
    /// Adds NAME=VALUE: a number, numbers between commas, a file x.npy, or a
    /// type and a shape, float32[1000,3], which is an array of zeros. Throws
    /// std::invalid_argument, and what read_npy throws.
    void add(const std::string& word);
    const Arguments& arguments() const { return arguments_; }

private:
    void add_array(const std::string& name, OwnedArray array);

    std::deque<OwnedArray> arrays_; ///< which stay where they are
    Arguments arguments_;
};

/// A result as text, a row a line; of many rows the first and the last.
std::string print(const Tensor& result);

} // namespace tilefold::command
