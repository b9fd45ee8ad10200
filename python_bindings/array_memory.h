// python_bindings/array_memory.h - memory of large NumPy arrays.
//
// A new array of many megabytes costs as much as what is computed into it: the
// system clears each page when it is first written, and takes all of them back
// when the array goes. So the memory of large results is kept for the next one
// of the size, and lent to the system meanwhile (MADV_FREE), which takes it
// where memory is short. 10^7 results of one term each take 4 ms so, 7 ms
// otherwise; a matrix of 5,000 x 5,000 pairs 5 ms and 11 (two cores of a Zen
// 5).
//
// NumPy calls what is here to make and free an array's memory (NEP 49): the
// array is like any other, and owns it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace tilefold::python {

/// Arrays that are made while one lives on this thread have such memory, if
/// `bytes`, those of an array, are many; else it does nothing.
class LargeArrays {
public:
    explicit LargeArrays(double bytes);
    ~LargeArrays();
    LargeArrays(const LargeArrays&) = delete;
    LargeArrays& operator=(const LargeArrays&) = delete;

private:
    PyObject* before_ =
        nullptr; ///< NumPy's handler of memory; null: ours is not
};

} // namespace tilefold::python
