// python_bindings/call_settings.cpp - see call_settings.h.
#include "python_bindings/call_settings.h"

#include "compiler/pipeline.h"
#include "formulas/names.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tilefold::python {

namespace {

constexpr std::string_view settings[] = {
#define CALL_SETTING(field, value) #field,
#include "python_bindings/call_settings.def"
};

/// Keywords of tilefold.Options.
constexpr std::string_view options[] = {
#define OPTION(name, scope, type, python, variable, doc) #name,
#include "runtime/core/options.def"
    "progress",
    "stream",
};

std::vector<std::string> texts(std::span<const std::string_view> names) {
    return {names.begin(), names.end()};
}

/// What `name` was meant as: an argument, a setting, an option, or several
/// where several are near; "" where nothing is.
std::string meant_by(const std::string& name,
                     std::span<const std::string> arguments,
                     std::span<const std::string> taken) {
    std::vector<std::string> meant;
    if (const auto argument = nearest_name(name, arguments))
        meant.push_back(*argument);
    if (const auto setting = nearest_name(name, taken))
        meant.push_back(*setting + "=");
    if (const auto option = nearest_name(name, texts(options)))
        meant.push_back("options=tilefold.Options(" + *option + "=…)");
    std::string text;
    for (const std::string& each : meant)
        text += (text.empty() ? "" : " or ") + each;
    return text;
}

} // namespace

void refuse_as_setting(const Error& error, const Formula& formula,
                       std::span<const NamedView> arguments,
                       std::span<const std::string_view> taken) {
    if (error.code() != Code::UnknownArgument &&
        error.code() != Code::MisspeltArgument)
        return;
    std::vector<std::string> names;
    for (const FreeName& free : formula.names())
        names.push_back(free.name);
    const std::vector<std::string> keywords =
        texts(taken.empty() ? settings : taken);
    for (const NamedView& argument : arguments) {
        const std::string name = normalise_name(argument.name);
        if (std::ranges::count(names, name) != 0)
            continue;
        const std::string known =
            listed(names) + "; nor is it a setting: " + listed(keywords);
        const std::string meant = meant_by(name, names, keywords);
        if (meant.empty())
            fail(Code::UnknownArgument, {std::string(argument.name), known});
        fail(Code::MisspeltArgument,
             {std::string(argument.name), known, meant});
    }
}

} // namespace tilefold::python
