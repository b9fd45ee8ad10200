// tests/cuda/function_slots.h - what functions take of a card, counted from the
// machine code that NVRTC makes of a sum over pairs.
#pragma once

#include "compiler/backends/cuda/plan/pair_cost.h"
#include "compiler/ir/ir.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/cuda/sass.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::tests {

/// A function of u = |x_i - y_j|² as the language writes it.
struct PairFunction {
    std::string_view name, text;
    std::optional<ir::Op> op = {}; ///< the one operation that it is
};
std::span<const PairFunction> pair_functions();

/// What functions add to a pair of three dimensions, on the shortest and on the
/// longest way through their code for sm_90; see turn_of.
class AddedTurns {
public:
    explicit AddedTurns(cuda::Nvrtc& nvrtc) : nvrtc_(nvrtc) {}
    Turn of(const PairFunction& function, DType dtype);

private:
    cuda::Nvrtc& nvrtc_;
    std::map<DType, Turn> without_; ///< of the sum of u
};

/// Returns how many pairs a second a card computes of a D = 3 sum of a function
/// that takes so much, as the model counts them.
double rate_of(const Slots& slots, DType dtype, const cuda::Card& card = {});

/// A row of function_slots.csv.
struct StoredTurn {
    std::string function, dtype;
    int least = 0; ///< instructions of the shortest way
    Slots longest;
};
std::vector<StoredTurn> stored_turns();

} // namespace tilefold::tests
