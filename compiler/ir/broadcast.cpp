// compiler/ir/broadcast.cpp - see broadcast.h.

#include "compiler/ir/broadcast.h"

namespace tilefold::ir {

ValueId plus(Builder& builder, ValueId a, ValueId b) {
    if (a == no_value || b == no_value)
        return a == no_value ? b : a;
    return builder.apply(Op::Add, {a, b});
}

ValueId broadcast_or_reduce(Builder& builder, ValueId value, Type type) {
    const std::uint8_t rank = builder.type(value).rank;
    const std::int64_t components = std::int64_t(type.rows) * type.columns;
    if (type.rank == 0)
        return rank == 0 ? value : builder.apply(Op::CompSum, {value});
    return rank == 0 ? builder.broadcast(value, components) : value;
}

} // namespace tilefold::ir
