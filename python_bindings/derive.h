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

/// `wish`, or the first of wish1, wish2 … that `pair` does not use, for an
/// argument of ours.
std::string unused_name(const Formula& pair, const std::string& wish);
/// The text of `a operator b`, or `b operator a` if `reflected`: b's
/// arguments take the names in `renamed`.
using Renamed = std::map<std::string, std::string>;
std::string combine(const Formula& a, const Formula& b,
                    const std::string& operation, const Renamed& renamed,
                    bool reflected);
/// The text of `function(pair term)`.
std::string applied(const Formula& pair, const std::string& function);
/// Which rows of an axis are read, by names of arguments: those in the array
/// `list`, or where that is "" the rows start, start + step, …
struct Chosen {
    std::string list, start, step;
};
/// The text of the pair term on chosen rows of `axis`: arguments in `renamed`
/// have other names there, and index symbols still are the numbers of rows.
std::string select(const Formula& pair, Axes axis, const Renamed& renamed,
                   const Chosen& chosen);
/// Whether the formula reads the index symbol of an axis.
bool reads_index(const Formula& pair, Axes axis);
/// The text of the pair term with i and j exchanged.
std::string transpose(const Formula& pair);
/// The text of the pair term at (k, k): a map over i.
std::string diagonal(const Formula& pair);

} // namespace tilefold::python
