// compiler/backends/reference/fold_function.h - a user's function on numbers.
#pragma once

#include "compiler/ir/ir.h"

#include <memory>
#include <span>

namespace tilefold::reference {

/// A graph of a Fold: two states, or a state and a term, to a state.
class FoldFunction {
public:
    explicit FoldFunction(const ir::Graph& graph);
    FoldFunction(FoldFunction&&) noexcept;
    ~FoldFunction();

    /// Good until the next call.
    std::span<const double> operator()(std::span<const double> left,
                                       std::span<const double> right,
                                       std::span<const double> given);

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

} // namespace tilefold::reference
