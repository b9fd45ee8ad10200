// python_bindings/borrow_check.h - tensors whose memory is read again later.
#pragma once

#include "runtime/core/view.h"

#include <dlpack/dlpack.h>
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace tilefold::python {

namespace nb = nanobind;

/// What keeps the memory of an array where it is: a reference to a tensor does
/// not keep set_, `data =` or resize_ from giving it other memory. As where
/// torch lends memory to NumPy, resize_ is refused from then on. Nothing where
/// `value` is no tensor of torch.
void hold_memory(PyObject* value, std::vector<nb::object>& held);

/// Tensors whose memory is read again later: resize_ or set_ may have put
/// them elsewhere by then, which no reference to them prevents.
class BorrowCheck {
public:
    /// Holds a reference to the tensor.
    void add(std::string_view name, PyObject* tensor);
    /// Throws where a tensor has other memory, shape or strides than when it
    /// was added.
    void check() const;
    /// See hold_memory.
    void hold(std::vector<nb::object>& held) const {
        for (const Lent& lent : lent_)
            hold_memory(lent.tensor.ptr(), held);
    }
    /// Calls visit(object) for each reference that is held.
    template <class Visit> void each_reference(Visit visit) const {
        for (const Lent& lent : lent_)
            visit(lent.tensor.ptr());
    }

private:
    struct Lent {
        std::string name;
        nb::object tensor;
        const DLPackExchangeAPI* exchange; ///< null: lends through a capsule
        View view;
    };
    static bool moved(const Lent& lent);

    std::vector<Lent> lent_;
};

} // namespace tilefold::python
