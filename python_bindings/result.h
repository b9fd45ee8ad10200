// python_bindings/result.h - where a call writes, and what it gives back.
#pragma once

#include "python_bindings/arguments.h"
#include "python_bindings/borrow_check.h"
#include "runtime/session/session.h"

namespace tilefold::python {

/// Either the caller's `out`, or a new array of the library the arguments
/// came from: NumPy, or one that speaks DLPack.
class Result {
public:
    Result() = default;
    ~Result();
    Result(const Result&) = delete;
    Result& operator=(const Result&) = delete;

    /// Writes into `out`; throws Error where it cannot be written, or is
    /// complex where the result is not, or the reverse.
    void use(PyObject* out, const ArrayRequest& wanted,
             bool is_complex = false);
    /// A new array where the arrays of `bound` are, written on `stream` where
    /// that is a device. Throws Error(OutOfMemory).
    void make(const Bound& bound, std::size_t number, const ArrayKind* kind,
              void* stream, bool is_complex = false);
    /// Allocates an array of the host. Throws Error(OutOfMemory).
    void allocate(const ArrayKind* kind, DType dtype, const Extents& shape,
                  bool is_complex = false);
    /// The array that is written; the real parts of a complex one.
    const Output& output() const { return output_; }
    Output imaginary() const;
    /// What the call returns; NumPy's scalar where there are no axes.
    nb::object take();
    /// The same, any number of times: an array even where there are no axes.
    nb::object keep();
    /// Adds the array to `watch` where it is a tensor.
    void watch(BorrowCheck& watch) const;
    /// Tells torch that a tensor has changed, which it may have saved for a
    /// gradient.
    void note_written() const;
    /// Calls visit(object) for each reference that is held.
    template <class Visit> void each_reference(Visit visit) const {
        pin_.each_reference(visit);
        visit(object_.ptr());
    }

private:
    nb::object copied();
    void allocate_numpy(DType dtype, const Extents& shape, bool is_complex);
    void allocate_tensor(const DLPackExchangeAPI& exchange, DType dtype,
                         const Extents& shape, bool is_complex);
    void describe(const ArrayKind* kind, DType dtype, const Extents& shape,
                  bool is_complex);

    Output output_;
    Pin pin_;
    nb::object object_;
    DLManagedTensorVersioned* tensor_ = nullptr;
    const ArrayKind* kind_ = nullptr;
    bool given_ = false;
    bool is_lent_ = false; ///< it is a DeviceArray
};

} // namespace tilefold::python
