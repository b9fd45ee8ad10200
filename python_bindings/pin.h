// python_bindings/pin.h - what keeps a borrowed array alive, and how one is
// asked for.
#pragma once

#include <dlpack/dlpack.h>
#include <nanobind/nanobind.h>

#include <optional>
#include <string_view>
#include <utility>

namespace tilefold::python {

namespace nb = nanobind;

/// Keeps one borrowed array alive and readable; neither copied nor moved.
class Pin {
public:
    Pin() { buffer_.obj = nullptr; }
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    /// Fills `buffer()`; false with a Python error set.
    bool take_buffer(PyObject* value, int flags);
    const Py_buffer& buffer() const { return buffer_; }
    void give_back();
    void take_object(nb::object object) { object_ = std::move(object); }
    void take_tensor(DLManagedTensor* tensor) { tensor_ = tensor; }
    void take_tensor(DLManagedTensorVersioned* tensor) { versioned_ = tensor; }
    /// Calls visit(object) for each reference that is held.
    template <class Visit> void each_reference(Visit visit) const {
        visit(buffer_.obj);
        visit(object_.ptr());
    }
    /// The view is of the real parts; each imaginary part follows its own.
    bool is_complex = false;
    /// Nothing was borrowed: what is computed of the array is recorded, as
    /// where it requires a gradient. Only where the request allows it.
    bool is_recorded = false;
    /// A tensor that lent its memory, borrowed, and its argument; else null.
    PyObject* owner = nullptr;
    std::string_view name;

private:
    Py_buffer buffer_;
    nb::object object_;
    DLManagedTensor* tensor_ = nullptr;
    DLManagedTensorVersioned* versioned_ = nullptr;
};

/// The state that torch is in while a call is read: asked for once.
struct TorchState {
    const char* what = nullptr; ///< it sees of all tensors; null: nothing
    bool may_move = false;      ///< tensors may have tangents
    bool records = false;       ///< gradients
};

/// How an array is asked for.
struct ArrayRequest {
    bool writable = false; ///< it is `out`
    /// An array of which its library records what is computed is no mistake:
    /// the Pin says so.
    bool allows_recorded = false;
    bool is_read_again = false; ///< in later calls: what changes is seen there
    nb::handle stream = {};     ///< of Options(stream=…), else the library's
    mutable std::optional<TorchState> torch = {}; ///< once it was asked for
};

} // namespace tilefold::python
