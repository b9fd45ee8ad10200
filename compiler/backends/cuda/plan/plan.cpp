// compiler/backends/cuda/plan/plan.cpp - see plan.h.

#include "compiler/backends/cuda/plan/plan.h"

#include "formulas/diagnostic.h"

#include <algorithm>

namespace tilefold::cuda {
std::int32_t width_block_of(std::int64_t width) {
    for (std::int32_t block : width_blocks)
        if (width <= block)
            return block;
    return width_blocks[std::size(width_blocks) - 1];
}

std::string_view spelling_of(Multiply multiply) {
    switch (multiply) {
    case Multiply::Alone:
        return "alone";
    case Multiply::Fma:
        return "fma";
    case Multiply::Tf32x3:
        return "tf32x3";
    case Multiply::Bf16x3:
        return "bf16x3";
    case Multiply::Bf16x1:
        return "bf16x1";
    case Multiply::Bf16:
        return "bf16";
    case Multiply::F16:
        return "f16";
    }
    internal_error("a way to multiply without a case");
}

std::string_view spelling_of(Lanes lanes) {
    switch (lanes) {
    case Lanes::Rows:
        return "rows";
    case Lanes::Columns:
        return "columns";
    case Lanes::Points:
        return "points";
    }
    internal_error("lanes without a case");
}

double error_of(Multiply multiply) {
    switch (multiply) {
    case Multiply::Alone:
    case Multiply::Fma:
    case Multiply::Bf16:
    case Multiply::F16:
        return 0;
    case Multiply::Tf32x3:
        return 1e-7;
    case Multiply::Bf16x3:
        return 3e-6;
    case Multiply::Bf16x1:
        return 4e-3;
    }
    internal_error("a way to multiply without a case");
}

std::string print(const Plan& plan) {
    const auto entry = [](const char* key, std::int32_t value) {
        return std::string(key) + "=" + std::to_string(value);
    };
    return entry("threads", plan.threads) + " " +
           (plan.lanes == Lanes::Rows
                ? ""
                : "lanes=" + std::string(spelling_of(plan.lanes)) + " ") +
           entry("rows_per_thread", plan.rows_per_thread) + " " +
           entry("tile_columns", plan.tile_columns) + " " +
           entry("columns_unrolled", plan.columns_unrolled) + " " +
           entry("width_block", plan.width_block) +
           (plan.multiply == Multiply::Alone
                ? ""
                : " multiply=" + std::string(spelling_of(plan.multiply)) + " " +
                      entry("chunk", plan.chunk) + " " +
                      entry("expands", plan.expands)) +
           (plan.is_wide() ? " " + entry("weight_parts", plan.weight_parts) +
                                 " " + entry("value_parts", plan.value_parts) +
                                 " " + entry("warp_tiles", plan.warp_tiles) +
                                 " " + entry("halves", plan.halves) + " " +
                                 entry("copies", plan.copies)
                           : "");
}

} // namespace tilefold::cuda
