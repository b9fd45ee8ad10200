// python_bindings/result.h - where a call writes, and what it gives back.
#pragma once

#include "python_bindings/arguments.h"

namespace tilefold::python {

/// Either the caller's `out`, or a new array of the library the arguments
/// came from: NumPy, or one that speaks DLPack.
class Result {
public:
    Result() = default;
    ~Result();
    Result(const Result&) = delete;
    Result& operator=(const Result&) = delete;

    /// Writes into `out`; throws Error where it cannot be written.
    void use(PyObject* out);
    /// Throws Error(OutOfMemory).
    void allocate(const ArrayKind* kind, DType dtype, const Extents& shape);
    const Output& output() const { return output_; }
    /// What the call returns; NumPy's scalar where there are no axes.
    nb::object take();

private:
    void allocate_numpy(DType dtype, const Extents& shape);
    void allocate_tensor(const dlpack::Exchange& exchange, DType dtype,
                         const Extents& shape);

    Output output_;
    Pin pin_;
    nb::object object_;
    dlpack::ManagedVersioned* tensor_ = nullptr;
    const ArrayKind* kind_ = nullptr;
    bool given_ = false;
};

} // namespace tilefold::python
