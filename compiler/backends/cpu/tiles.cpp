// compiler/backends/cpu/tiles.cpp - see tiles.h.

#include "compiler/backends/cpu/tiles.h"

#include "formulas/diagnostic.h"

#include <algorithm>
#include <array>

namespace tilefold {
namespace {

enum class Vectors : std::uint8_t { Any, Few, Shared, DoublePumped, Separate };
enum class TileNumbers : std::uint8_t { Both, F32, F64 };

struct Row {
    PlanKind kind;
    Vectors vectors;
    TileNumbers numbers;
    std::array<Tile, 6> tiles; ///< none from one of no row vectors on
};

constexpr Row table[] = {
#define TILES(kind, vectors, numbers, ...)                                     \
    {PlanKind::kind, Vectors::vectors, TileNumbers::numbers, {{__VA_ARGS__}}},
#include "compiler/backends/cpu/tiles.def"
#undef TILES
};

Vectors vectors_of(const IsaRow& isa) {
    if (isa.registers < 32)
        return Vectors::Few;
    switch (isa.ports) {
    case Ports::Shared:
        return Vectors::Shared;
    case Ports::DoublePumped:
        return Vectors::DoublePumped;
    case Ports::Separate:
        return Vectors::Separate;
    }
    internal_error("ports of no kind");
}

const Row* find_row(PlanKind kind, Vectors vectors, DType real) {
    const TileNumbers numbers =
        real == DType::F32 ? TileNumbers::F32 : TileNumbers::F64;
    const auto* row = std::ranges::find_if(table, [&](const Row& candidate) {
        return candidate.kind == kind && candidate.vectors == vectors &&
               (candidate.numbers == TileNumbers::Both ||
                candidate.numbers == numbers);
    });
    return row == std::end(table) ? nullptr : row;
}

} // namespace

std::span<const Tile> tiles_for(PlanKind kind, const IsaRow& isa, DType real) {
    const Vectors own = vectors_of(isa);
    const Vectors most = own == Vectors::Few ? own : Vectors::Shared;
    for (Vectors vectors : {own, most, Vectors::Any})
        for (PlanKind like : {kind, row_of(kind).like})
            if (const Row* row = find_row(like, vectors, real)) {
                const auto end =
                    std::ranges::find(row->tiles, 0, &Tile::row_vectors);
                return {row->tiles.begin(), end};
            }
    internal_error("no tiles for this kind of plan");
}

} // namespace tilefold
