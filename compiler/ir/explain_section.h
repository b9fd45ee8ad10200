// compiler/ir/explain_section.h - what `explain` says of one stage.
#pragma once

#include <string>

namespace tilefold {

/// A stage of a compile, by its name, and what it made, as text.
struct ExplainSection {
    std::string name;
    std::string text;
};

} // namespace tilefold
