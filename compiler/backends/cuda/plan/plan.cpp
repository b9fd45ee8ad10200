// compiler/backends/cuda/plan/plan.cpp - see plan.h.

#include "compiler/backends/cuda/plan/plan.h"

#include "formulas/diagnostic.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tilefold::cuda {
namespace {

struct MultiplyRow {
    std::string_view spelling;
    double error;
    std::string_view doc;
};

const MultiplyRow& row_of(Multiply multiply) {
    static constexpr MultiplyRow rows[] = {
#define MULTIPLY(name, spelling, error, doc) {spelling, error, doc},
#include "compiler/backends/cuda/plan/multiply.def"
#undef MULTIPLY
    };
    return rows[std::size_t(multiply)];
}

} // namespace

std::int32_t width_block_of(std::int64_t width) {
    for (std::int32_t block : width_blocks)
        if (width <= block)
            return block;
    return width_blocks[std::size(width_blocks) - 1];
}

std::string_view spelling_of(Multiply multiply) {
    return row_of(multiply).spelling;
}

std::string_view doc_of(Multiply multiply) {
    return row_of(multiply).doc;
}

double error_of(Multiply multiply) {
    return row_of(multiply).error;
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

nlohmann::ordered_json document_of(const Plan& plan) {
    return {{"text", print(plan)},
            {"threads", plan.threads},
            {"lanes", spelling_of(plan.lanes)},
            {"rows_per_thread", plan.rows_per_thread},
            {"tile_columns", plan.tile_columns},
            {"columns_unrolled", plan.columns_unrolled},
            {"width_block", plan.width_block},
            {"multiply", spelling_of(plan.multiply)},
            {"chunk", plan.chunk},
            {"expands", plan.expands},
            {"weight_parts", plan.weight_parts},
            {"value_parts", plan.value_parts},
            {"halves", plan.halves},
            {"copies", plan.copies},
            {"warp_tiles", plan.warp_tiles},
            {"tiles_held", plan.tiles_held},
            {"shared_bytes", plan.shared_bytes},
            {"resident", plan.resident},
            {"state_columns", plan.state_columns}};
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
           (plan.uses_value_matmul()
                ? " " + entry("weight_parts", plan.weight_parts) + " " +
                      entry("value_parts", plan.value_parts) + " " +
                      entry("warp_tiles", plan.warp_tiles) + " " +
                      entry("halves", plan.halves) + " " +
                      entry("copies", plan.copies)
                : "") +
           (plan.lanes == Lanes::Rows
                ? " " + entry("resident", plan.resident) + " " +
                      entry("state_columns", plan.state_columns)
                : "");
}

} // namespace tilefold::cuda
