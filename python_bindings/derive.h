// python_bindings/derive.h - formulas around a kernel's pair term: what
// `K @ b` and `K.sum(1)` compute.
#pragma once

#include "runtime/session.h"

#include <string>
#include <string_view>

namespace tilefold::python {

/// What is put around the pair term.
struct Derivation {
    std::string reduction;  ///< "sum", "argkmin"
    Axes axes = Axes::J;    ///< reduced
    std::int64_t count = 0; ///< the K of kmin and argkmin; 0: none
    std::string weights;    ///< name of a factor on `axes`; "": none
};

/// The text of `reduction_axes (pair term) weights_axes`, roles spelled out.
/// Throws Error(KernelReduces) if `pair` has a reduction of its own.
std::string derive(const Formula& pair, const Derivation& derivation);

/// A name that `pair` does not use, for an argument of ours.
std::string unused_name(const Formula& pair);

} // namespace tilefold::python
