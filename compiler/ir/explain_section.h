// compiler/ir/explain_section.h - what `explain` says of one stage.
#pragma once

#include <span>
#include <string>

namespace tilefold {

/// A stage of a compile, by its name, and what it made, as text.
struct ExplainSection {
    std::string name;
    std::string text;
};

/// All of them, each below its name.
inline std::string joined(std::span<const ExplainSection> stages) {
    std::string text;
    for (const ExplainSection& stage : stages)
        text += (text.empty() ? "" : "\n") + ("── " + stage.name) + "\n" +
                stage.text + (stage.text.ends_with('\n') ? "" : "\n");
    return text;
}

} // namespace tilefold
