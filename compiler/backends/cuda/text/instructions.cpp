// compiler/backends/cuda/text/instructions.cpp - see instructions.h.

#include "compiler/backends/cuda/text/instructions.h"

namespace tilefold::cuda {

using ir::Op;

Instructions instructions_of(Op op) {
    switch (op) {
#define INSTRUCTIONS(name, single, special, twice, wide, function, whole)      \
    case Op::name:                                                             \
        return {single, special, twice, wide, function, whole};
#include "compiler/backends/cuda/text/instructions.def"
#undef INSTRUCTIONS
    case Op::Argument:
    case Op::Literal:
    case Op::Constant:
    case Op::Index:
    case Op::Slice:
    case Op::Submatrix:
    case Op::Concat:
    case Op::Broadcast:
    case Op::Complex:
    case Op::Unsigned:
    case Op::Iota:
    case Op::IntPow:
    case Op::Reduce:
#define COMPOSITE(op, body) case Op::op:
#include "compiler/ir/composites.def"
#undef COMPOSITE
        break;
    }
    return {};
}

Instructions instructions_of_term(ir::Monoid monoid) {
    switch (monoid) {
#define TERM(monoid, single, special, wide)                                    \
    case ir::Monoid::monoid:                                                   \
        return {single, special, wide, wide};
#include "compiler/backends/cuda/text/terms.def"
#undef TERM
    }
    return {};
}

} // namespace tilefold::cuda
