// compiler/tiles.cpp - see tiles.h.

#include "compiler/tiles.h"

#include "formulas/diagnostic.h"

#include <algorithm>
#include <array>

namespace tilefold {
namespace {

enum class Vectors : std::uint8_t { Any, Few, Shared, Halves, Apart };
enum class Numbers : std::uint8_t { Both, F32, F64 };

struct Row {
    Work work;
    Vectors vectors;
    Numbers numbers;
    std::array<Tile, 6> tiles; ///< none from one of no row vectors on
};

constexpr Row table[] = {
#define TILES(work, vectors, numbers, ...)                                     \
    {Work::work, Vectors::vectors, Numbers::numbers, {{__VA_ARGS__}}},
#include "compiler/tiles.def"
#undef TILES
};

Vectors vectors_of(const IsaRow& isa) {
    if (isa.registers < 32)
        return Vectors::Few;
    switch (isa.ports) {
    case Ports::Shared:
        return Vectors::Shared;
    case Ports::Halves:
        return Vectors::Halves;
    case Ports::Apart:
        return Vectors::Apart;
    }
    internal_error("ports of no kind");
}

/// What a work that has no row is like.
Work likeness(Work work) {
    switch (work) {
    case Work::LongSoftmax:
    case Work::LongList:
    case Work::LongLocation:
        return Work::Long;
    case Work::Gradients:
        return Work::Gradient;
    case Work::Plain:
    case Work::Crowded:
        return Work::Short;
    case Work::Values:
    case Work::Fold:
    case Work::Long:
    case Work::Blocks:
    case Work::Softmax:
    case Work::List:
    case Work::Wide:
    case Work::Extreme:
    case Work::Location:
    case Work::Gradient:
    case Work::Short:
        return work;
    }
    internal_error("no such work");
}

const Row* find_row(Work work, Vectors vectors, DType real) {
    const Numbers numbers = real == DType::F32 ? Numbers::F32 : Numbers::F64;
    const auto* row = std::ranges::find_if(table, [&](const Row& candidate) {
        return candidate.work == work && candidate.vectors == vectors &&
               (candidate.numbers == Numbers::Both ||
                candidate.numbers == numbers);
    });
    return row == std::end(table) ? nullptr : row;
}

} // namespace

std::span<const Tile> tiles_for(Work work, const IsaRow& isa, DType real) {
    const Vectors own = vectors_of(isa);
    const Vectors most = own == Vectors::Few ? own : Vectors::Shared;
    for (Vectors vectors : {own, most, Vectors::Any})
        for (Work like : {work, likeness(work)})
            if (const Row* row = find_row(like, vectors, real)) {
                const auto end =
                    std::ranges::find(row->tiles, 0, &Tile::row_vectors);
                return {row->tiles.begin(), end};
            }
    internal_error("no tiles for this work");
}

} // namespace tilefold
