// formulas/names.h - what a name means: its axis, its one spelling, and the
// names near it.
#pragma once

#include "formulas/ast.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tilefold {

/// A name split from its axes: `x_train_i` is `x_train` on i. A name without a
/// final `_i`, `_j` or `_ij` is all stem.
struct SubscriptedName {
    std::string stem;
    ast::Axes axes = ast::Axes::None;
};
SubscriptedName split_subscript(std::string_view folded);

/// Returns a name as it is shown: NFKC, with lowered characters as ASCII
/// subscripts (`x₁ᵢ` is `x_1_i`) and Greek letters kept.
std::string fold_name(std::string_view typed);

/// The spelling under which a name is stored: NFKC, `λ` and `lambda_` alike,
/// so that formula names and argument names meet. Also used for arguments.
std::string normalise_name(std::string_view name);

/// A normalised name with the Greek letters that `text` was typed with:
/// `sigma_f` as `σ_f` where `σ` stands in the text.
std::string greek_as_typed(std::string_view name, std::string_view text);

/// Returns "_i", "_j", "_ij", or nothing.
std::string_view subscript(ast::Axes axes);

/// The candidate a mistyped `name` most likely means, if any is near.
std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> names);

/// Returns names as "x, y and l"; "no arguments" of none.
std::string listed(std::span<const std::string> names);

/// Returns the names that begin with `name`, as "matern12, matern32 or
/// matern52" for `matern`; else the nearest one, if any.
std::optional<std::string> names_like(std::string_view name,
                                      std::span<const std::string> names);

} // namespace tilefold
