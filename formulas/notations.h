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

/// For `sum_{j≠i}` and `sum_{j=1}`: a mask, or the axis alone. Nothing where
/// `reduction` is none, or `braces` hold something else.
std::optional<Meant> meant_below(std::string_view reduction,
                                 std::string_view braces);

/// The reduction known under another name elsewhere: "mean" for "avg", and
/// "sum" for "Sum"; empty: none, or its own name.
std::string meant_reduction(std::string_view name,
                            const Vocabulary& vocabulary);

/// `median` and its kind, which are no reductions here.
bool is_order_statistic(std::string_view name);

/// "gaussian(x_i, y_j, l)" for a function of catalogue.def; empty: none.
std::string named_call(std::string_view name);

/// The same of another one that takes `count` arguments and whose name begins
/// with `name`: "cosine_similarity(x_i, y_j)" for `cosine` and 2.
std::string named_alternative(std::string_view name, std::size_t count);

} // namespace tilefold
