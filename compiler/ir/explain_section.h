// compiler/ir/explain_section.h - what `explain` says of one stage.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace tilefold {

/// A stage of a compile, by its name, and what it made: as text, and as the
/// value that the text was printed from, where it is no text by itself. That is
/// made when it is asked for: JSON takes memory when it goes, and ends the
/// process where there is none.
struct ExplainSection {
    std::string name;
    std::string text;
    std::function<nlohmann::ordered_json()> value;
    /// Of a formula that takes several passes over the pairs, which one, from
    /// 1; 0: there is one.
    int sweep = 0, sweeps = 0;

    ExplainSection(std::string name, std::string text);
    ExplainSection(std::string name, std::string text,
                   std::function<nlohmann::ordered_json()> value);

    /// "plan", "sweep 1 of 2: plan".
    std::string title() const;
};

/// All of them, each below its title.
std::string joined(std::span<const ExplainSection> stages);

/// The number of what json_of() gives. It grows where a field goes, or means
/// something else; that fields are added is no change.
inline constexpr int explain_version = 1;
/// All of them as one document of JSON, whose schema is
/// python_bindings/tilefold/explain.schema.json.
std::string json_of(std::string_view formula,
                    std::span<const ExplainSection> stages);

} // namespace tilefold
