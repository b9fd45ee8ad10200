// python_bindings/derive.h - formulas around a kernel's pair term: what
// `K @ b` and `K.sum(1)` compute.
#pragma once

#include "runtime/session.h"

#include <map>
#include <string>
#include <string_view>

namespace tilefold::python {

/// What is put around the pair term.
struct Around {
    std::string reduction;  ///< "sum", "argkmin"
    Axes axes = Axes::J;    ///< reduced
    std::int64_t count = 0; ///< the K of kmin and argkmin; 0: none
    std::string weights;    ///< name of a factor on `axes`; "": none
};

/// The text of `reduction_axes (pair term) weights_axes`, roles spelled out.
/// Throws Error(KernelReduces) if `pair` has a reduction of its own.
std::string derive(const Formula& pair, const Around& around);

/// A name that `pair` does not use, for an argument of ours.
std::string unused_name(const Formula& pair);
/// The text of `a operator b`, or `b operator a` if `reflected`: b's
/// arguments take the names in `renamed`.
using Renamed = std::map<std::string, std::string>;
std::string combine(const Formula& a, const Formula& b,
                    const std::string& operation, const Renamed& renamed,
                    bool reflected);
/// The text of `function(pair term)`.
std::string applied(const Formula& pair, const std::string& function);
/// The text of the pair term with i and j exchanged.
std::string transpose(const Formula& pair);
/// The text of the pair term at (k, k): a map over i.
std::string diagonal(const Formula& pair);

} // namespace tilefold::python
