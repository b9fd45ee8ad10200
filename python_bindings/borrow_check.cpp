// python_bindings/borrow_check.cpp - see borrow_check.h.
#include "python_bindings/borrow_check.h"

#include "formulas/diagnostic.h"
#include "python_bindings/arguments.h"
#include "python_bindings/errors.h"

namespace tilefold::python {

namespace {

bool lies_at(const DLTensor& tensor, const View& view) {
    const char* data = static_cast<const char*>(tensor.data);
    if ((data ? data + tensor.byte_offset : nullptr) != view.data ||
        std::size_t(tensor.ndim) != view.shape.size())
        return false;
    for (std::size_t d = 0; d < view.shape.size(); ++d)
        if (tensor.shape[d] != view.shape[d] || !tensor.strides ||
            tensor.strides[d] * (tensor.dtype.bits / 8) != view.strides[d])
            return false;
    return true;
}

} // namespace

void hold_memory(PyObject* value, std::vector<nb::object>& held) {
    if (array_kind(Py_TYPE(value)).library != "torch")
        return;
    const nb::object plain = nb::handle(value).attr("detach")();
    held.push_back(plain.attr("untyped_storage")());
    if (text_of(plain.attr("device").attr("type")) != "cpu")
        return; // torch gives memory of a device back in the stream's order
    // No elements of it, as bytes: NumPy knows neither bfloat16 nor views.
    const nb::object bytes = nb::module_::import_("torch").attr("uint8");
    held.push_back(
        plain.attr("as_strided")(nb::make_tuple(0), nb::make_tuple(1))
            .attr("view")(bytes)
            .attr("numpy")());
}

void BorrowCheck::add(std::string_view name, PyObject* tensor) {
    Pin pin;
    lent_.push_back({std::string(name), nb::borrow(tensor),
                     array_kind(Py_TYPE(tensor)).exchange,
                     view_of(name, tensor, pin)});
}

bool BorrowCheck::moved(const Lent& lent) {
    DLTensor tensor;
    if (lent.exchange &&
        lent.exchange->dltensor_from_py_object_no_sync(lent.tensor.ptr(),
                                                       &tensor) == 0 &&
        lies_at(tensor, lent.view))
        return false;
    forget_error(); // slowly: it may have no strides, no elements, no table
    try {
        Pin pin;
        const View now = view_of(lent.name, lent.tensor.ptr(), pin);
        return now.data != lent.view.data || now.shape != lent.view.shape ||
               now.strides != lent.view.strides;
    } catch (const Error& error) {
        if (error.code() != Code::NotLent)
            throw;
        return true; // it has no memory any more
    }
}

void BorrowCheck::check() const {
    for (const Lent& lent : lent_)
        if (moved(lent))
            fail(Code::TensorMoved, {lent.name});
}

} // namespace tilefold::python
