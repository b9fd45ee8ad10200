// compiler/backends/reference/fold_function.h - a user's function on numbers.
#pragma once

#include "compiler/ir/ir.h"

#include <memory>
#include <span>

namespace tilefold::reference {

/// A function of a Fold, given by its graph: two states, or a state and a
/// term, give a state.
class FoldFunction {
public:
    explicit FoldFunction(const ir::Graph& graph);
    FoldFunction(FoldFunction&&) noexcept;
    ~FoldFunction();

    /// Applies the function; the result stays valid until the next call.
    std::span<const double> operator()(std::span<const double> left,
                                       std::span<const double> right,
                                       std::span<const double> given);

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

} // namespace tilefold::reference
