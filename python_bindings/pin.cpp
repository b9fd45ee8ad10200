// python_bindings/pin.cpp - see pin.h.
#include "python_bindings/pin.h"

namespace tilefold::python {

Pin::~Pin() {
    give_back();
    if (tensor_ && tensor_->deleter)
        tensor_->deleter(tensor_);
    if (versioned_ && versioned_->deleter)
        versioned_->deleter(versioned_);
}

bool Pin::take_buffer(PyObject* value, int flags) {
    if (PyObject_GetBuffer(value, &buffer_, flags) == 0)
        return true;
    buffer_.obj = nullptr;
    return false;
}

void Pin::give_back() {
    if (buffer_.obj)
        PyBuffer_Release(&buffer_); // which leaves none
}

} // namespace tilefold::python
