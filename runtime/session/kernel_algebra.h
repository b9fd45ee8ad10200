// runtime/session/kernel_algebra.h - formulas made of a kernel's pair term:
// what `K @ b`, `K.sum(1)` and `2*K` compute.
#pragma once

#include "runtime/session/session.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace tilefold {

/// `wish`, or the first of wish1, wish2 … that `pair` does not use, for an
/// argument of ours.
std::string unused_name(const Formula& pair, const std::string& wish);
using Renamed = std::map<std::string, std::string>;
/// A pair term that stands for a name of another formula; its arguments take
/// the names in `renamed`.
struct Operand {
    std::string name;
    Formula pair;
    Renamed renamed;
};
/// The text of `formula`, in which names stand for pair terms: of
/// "sum_j(f*b_j)" and a term f, or "f + max(g, 0)". Definitions of one name
/// stay apart.
std::string substitute(const Formula& formula,
                       std::span<const Operand> operands);
/// The text of `function(pair term)`.
std::string applied(const Formula& pair, const std::string& function);
/// Which rows of an axis are read, by names of arguments: those in the array
/// `list`, or where that is "" the rows start, start + step, …
struct ChosenRows {
    std::string list, start, step;
    /// The components of `list` are digits of the numbers, of this base; "": it
    /// has one. Few bits leave the dtype of a result as it is.
    std::string base;
    int digits = 1;
};
/// The text of the pair term on chosen rows of `axis`: arguments in `renamed`
/// have other names there, and index symbols still are the numbers of rows.
std::string select(const Formula& pair, Axes axis, const Renamed& renamed,
                   const ChosenRows& chosen);
/// The text with numbers in place of names that are no arguments, as of D.
std::string with_numbers(const Formula& pair,
                         const std::map<std::string, double>& numbers);
/// Whether the formula reads the index symbol of an axis.
bool reads_index(const Formula& pair, Axes axis);
/// The text with a subscript for each name that it has without one and that is
/// on i or j by `names`.
std::string with_axes(const Formula& pair, std::span<const FreeName> names);
/// The text of the pair term with i and j exchanged.
std::string transpose(const Formula& pair);
/// The text of the pair term at (k, k): a map over i.
std::string diagonal(const Formula& pair);

} // namespace tilefold
