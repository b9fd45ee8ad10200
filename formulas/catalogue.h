// formulas/catalogue.h - the named formulas of catalogue.def, as a table.
#pragma once

#include <string_view>

namespace tilefold {

struct NamedFormula {
    std::string_view name;
    std::string_view formula;
    std::string_view parameters; ///< "l, p": bare names a caller must pass
    std::string_view doc;
    bool is_reduction; ///< a whole formula; else a function of x and y
    bool is_distance = false;
};

inline constexpr NamedFormula catalogue[] = {
#define NAMED_FORMULA(name, formula, parameters, doc)                          \
    {#name, formula, parameters, doc, false},
#define NAMED_DISTANCE(name, formula, parameters, doc)                         \
    {#name, formula, parameters, doc, false, true},
#define NAMED_REDUCTION(name, formula, parameters, doc)                        \
    {#name, formula, parameters, doc, true},
#include "formulas/catalogue.def"
};

} // namespace tilefold
