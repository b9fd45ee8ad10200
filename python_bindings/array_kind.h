// python_bindings/array_kind.h - what is known of a Python type whose values
// are passed as arrays: found once a type, then looked up.
#pragma once

#include <dlpack/dlpack.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace tilefold::python {

namespace nb = nanobind;

/// How a value of the type is read.
enum class Access : std::uint8_t {
    Buffer,    ///< the buffer protocol
    Masked,    ///< numpy.ma: refused
    Tracer,    ///< stands for an array while a function is traced: refused
    Sparse,    ///< scipy.sparse and the like: refused
    Role,      ///< tilefold.Vi, Vj, Pm around a value
    Quantized, ///< tilefold.Quantized: codes, and how they are read
    Exchange,  ///< DLPack's C table (torch)
    Dlpack,    ///< __dlpack__
    Convert,   ///< numpy.asarray: lists, data frames, anything else
};

/// What is known of a Python type. There is one for each, and it lives as long
/// as the process.
struct ArrayKind {
    Access access = Access::Convert;
    /// The library whose arrays results become, "torch"; empty: NumPy.
    std::string library;
    /// Whether the library takes it that its arrays never change: they are no
    /// `out`, and memory that is written again is copied for it.
    bool is_immutable = false;
    /// Whether calls with a value of the type are its library's to compute, of
    /// which tilefold.frameworks knows how.
    bool is_called = false;
    const DLPackExchangeAPI* exchange = nullptr;
    /// The library's from_dlpack; null where `exchange` allocates.
    PyObject* from_dlpack = nullptr;
    /// The function that gives the stream on which the library works on a
    /// device of a number; null where it has none.
    PyObject* current_stream = nullptr;
    /// A class of torch's tensors that sees what is computed of them.
    bool is_subclass = false;
    /// Tells of a value whether it is a tracer, where the type does not:
    /// torch's function for its own; else null.
    PyObject* is_tracer = nullptr;
    /// Tells of a value whether it is one of autograd's own vmap.
    PyObject* is_batched = nullptr;
    /// These are set for torch's tensors: the function that gives what a trace
    /// records, the one that counts the modes that see each operation, the
    /// module that differentiates forwards, the functions that tell whether it
    /// does now and whether gradients are recorded, and the one that adds one
    /// to a tensor's version.
    PyObject* tracing_state = nullptr;
    PyObject* dispatch_modes = nullptr;
    PyObject* forward_mode = nullptr;
    PyObject* is_forward_enabled = nullptr;
    PyObject* is_grad_enabled = nullptr;
    PyObject* increment_version = nullptr;
};

const ArrayKind& array_kind(PyTypeObject* type);

} // namespace tilefold::python
