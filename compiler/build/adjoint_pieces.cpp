// compiler/build/adjoint_pieces.cpp - see adjoint_pieces.h.

#include "compiler/build/adjoint_pieces.h"

#include "compiler/ir/broadcast.h"

#include <algorithm>
#include <vector>

namespace tilefold {

using ir::Builder;
using ir::no_value;
using ir::ValueId;

namespace {

/// A list of pieces that lie one behind the other, and of zeros between.
class List {
public:
    explicit List(Builder& builder) : builder_(builder) {}

    bool ends_before(const Piece& piece) const { return end_ <= piece.first; }

    void append(const Piece& piece) {
        fill(piece.first);
        const bool is_number = builder_.type(piece.value).rank == 0;
        all_ = joined(builder_, all_,
                      is_number ? builder_.slice(piece.value, 0, 1, false)
                                : piece.value);
        end_ = piece.last;
    }

    ValueId filled(std::int64_t components) {
        fill(components);
        return all_;
    }

private:
    void fill(std::int64_t end) {
        if (end > end_)
            all_ = joined(builder_, all_, zeros(builder_, end - end_));
        end_ = end;
    }

    Builder& builder_;
    ValueId all_ = no_value;
    std::int64_t end_ = 0;
};

} // namespace

ValueId put_together(Builder& builder, std::int64_t components,
                     std::span<const Piece> pieces) {
    std::vector<Piece> sorted(pieces.begin(), pieces.end());
    std::ranges::stable_sort(sorted, {}, &Piece::first);
    std::vector<List> lists;
    for (const Piece& piece : sorted) {
        auto list = std::ranges::find_if(
            lists, [&](const List& one) { return one.ends_before(piece); });
        if (list == lists.end()) {
            lists.emplace_back(builder);
            list = lists.end() - 1;
        }
        list->append(piece);
    }
    ValueId sum = no_value;
    for (List& list : lists)
        sum = plus(builder, sum, list.filled(components));
    return sum;
}

ValueId joined(Builder& builder, ValueId a, ValueId b) {
    if (a == no_value || b == no_value)
        return a == no_value ? b : a;
    return builder.concat(a, b);
}

ValueId zeros(Builder& builder, std::int64_t components) {
    return builder.broadcast(builder.constant(0), components);
}

} // namespace tilefold
