// compiler/ir/stage.h - what `explain` says of one stage.
#pragma once

#include <string>

namespace tilefold {

/// A stage of a compile, by its name, and what it made, as text.
struct ExplainSection {
    std::string name;
    std::string text;
    /// It plans loops for a processor, which no card knows.
    bool is_of_processor = false;
};

} // namespace tilefold
