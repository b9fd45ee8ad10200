// python_bindings/solve_options.h - the methods of solvers by their names.
#pragma once

#include "runtime/session/kernel_shape.h"
#include "runtime/session/session.h"
#include "runtime/solve/linear_system.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::python {

/// "auto", "none", "cholesky", "pivoted_cholesky" or "nystrom"; throws Error
/// (BadOption) for any other name.
Preconditioner preconditioner_named(const std::string& name);
/// "cg", "minres" or "auto"; throws as above.
Method method_named(const std::string& name);

/// The arguments but for one.
std::vector<NamedView> without(std::span<const NamedView> arguments,
                               std::string_view name);

} // namespace tilefold::python
