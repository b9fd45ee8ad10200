// formulas/notations.h - what notations of elsewhere are written as here.
#pragma once

#include "formulas/diagnostic.h"
#include "formulas/vocabulary.h"

#include <optional>
#include <string>
#include <string_view>

namespace tilefold {

/// A refusal and what to write instead.
struct Meant {
    Code code;
    std::string text;
};

/// Says what `sum_{j≠i}` and `sum_{j=1}` mean: a mask, or the axis alone.
/// Returns nothing where `reduction` is no reduction, or `braces` hold
/// something else.
std::optional<Meant> meant_below(std::string_view reduction,
                                 std::string_view braces);

/// Returns our name of a reduction that is known under another name elsewhere,
/// as "mean" for "avg" and "sum" for "Sum". It is empty where there is none,
/// or where the name is our own.
std::string meant_reduction(std::string_view name,
                            const Vocabulary& vocabulary);

/// Returns how a reduction takes the number of terms it keeps, as
/// "argkmin_j(f, 10)" for "argmin", and "sum_j f" for one that takes none. It
/// is empty where `name` is no reduction.
std::string numbered_reduction(std::string_view name, std::string_view axis,
                               std::string_view number,
                               const Vocabulary& vocabulary);

/// Whether the name is `median` or one of its kind, which are no reductions
/// here.
bool is_order_statistic(std::string_view name);

/// Returns a call of a function of catalogue.def, as "gaussian(x_i, y_j, l)";
/// it is empty where the name is none.
std::string named_call(std::string_view name);

/// Returns such a call of another function that takes `count` arguments and
/// whose name begins with `name`: "cosine_similarity(x_i, y_j)" for `cosine`
/// and 2.
std::string named_alternative(std::string_view name, std::size_t count);

} // namespace tilefold
