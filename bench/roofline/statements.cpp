// bench/roofline/statements.cpp - arrays in turn.

#include "statements.h"
#include "call.h"

int tilefold_roofline_statements_f32(std::int64_t statements,
                                     std::int64_t rounds, std::int64_t count,
                                     const float* const* arrays,
                                     const std::int64_t* rows, float* results) {
    if (statements < 0 || !arrays || !rows || !results)
        return TilefoldRooflineBadArgument;
    for (std::int64_t k = 0; k < count; ++k)
        if (rows[k] < 0 || rows[k] > roofline::StatementRows)
            return TilefoldRooflineBadArgument;
    return roofline::guarded([&] {
        roofline::DefaultFloatEnvironment environment;
        for (std::int64_t round = 0; round < rounds; ++round)
            for (std::int64_t k = 0; k < count; ++k)
                results[k] =
                    roofline::sum_of_statements(statements, arrays[k], rows[k]);
    });
}
