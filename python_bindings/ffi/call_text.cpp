// python_bindings/ffi/call_text.cpp - see call_text.h.
#include "python_bindings/ffi/call_text.h"

#include "formulas/diagnostic.h"
#include "python_bindings/call.h"

#include <charconv>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <unordered_map>

namespace tilefold::python {

namespace {

[[noreturn]] void malformed(std::string_view text) {
    internal_error("no text of a call: " + std::string(text));
}

template <class Number> Number number_of(std::string_view text) {
    Number number{};
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        malformed(text);
    return number;
}

/// The parts between separators; none of an empty text.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        if (end != text.npos && text.empty())
            parts.emplace_back();
    }
    return parts;
}

/// Without the escapes of a query string.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (text[k] != '%') {
            plain += text[k] == '+' ? ' ' : text[k];
            continue;
        }
        unsigned char byte = 0;
        const char* digits = text.data() + k + 1;
        if (k + 2 >= text.size() ||
            std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
            malformed(text);
        plain += char(byte);
        k += 2;
    }
    return plain;
}

template <class Value> Value setting_of(const std::string& text) {
    if constexpr (std::is_same_v<Value, std::string>)
        return text;
    else if constexpr (std::is_same_v<Value, bool>)
        return text == "True";
    else
        return number_of<Value>(text);
}

DerivationStep step_of(std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ':');
    if (parts.size() != 4)
        malformed(text);
    DerivationStep step;
    step.kind = DerivationStep::Kind(number_of<int>(parts[0]));
    step.seed = parts[1];
    step.keeps_values = parts[2] == "1";
    for (const std::string_view name : split(parts[3], ','))
        step.names.emplace_back(name);
    return step;
}

std::optional<Axes> declared_of(std::string_view text) {
    const int axes = number_of<int>(text);
    return axes < 0 ? std::nullopt : std::optional(Axes(axes));
}

/// What is read of a text before a formula is made of it.
struct Said {
    std::string formula;
    Derivation steps;
    Options options;
    std::vector<std::string> names;
    std::vector<std::optional<Axes>> declared;
    std::size_t batch = 0;
    std::optional<Extents> ranges;

    void read(std::string_view key, const std::string& value);
};

void Said::read(std::string_view key, const std::string& value) {
    if (key == "formula")
        formula = value;
    else if (key == "batch")
        batch = number_of<std::size_t>(value);
    else if (key == "names")
        for (const std::string_view name : split(value, ','))
            names.emplace_back(name);
    else if (key == "axes")
        for (const std::string_view axes : split(value, ','))
            declared.push_back(declared_of(axes));
    else if (key == "steps")
        for (const std::string_view step : split(value, ';'))
            steps.push_back(step_of(step));
    else if (key == "ranges") {
        ranges.emplace();
        for (const std::string_view extent : split(value, ','))
            ranges->push_back(number_of<std::int64_t>(extent));
    }
#define OPTION(name, scope, type, python, variable, doc)                       \
    else if (key == #name) options.name = setting_of<type>(value);
#include "runtime/core/options.def"
    else
        malformed(key);
}

FfiCall read_text(std::string_view text) {
    Said said;
    for (const auto& [key, value] : pairs_of_query(text))
        said.read(key, value);
    said.declared.resize(said.names.size());
    const auto session = default_session()->with(said.options);
    const Formula formula =
        derived_as(session->formula(said.formula), said.steps);
    return {formula.with(said.options), std::move(said.names),
            std::move(said.declared), said.batch, std::move(said.ranges)};
}

struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
};

struct Kept {
    static constexpr std::size_t most = 4096;

    std::shared_mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<const FfiCall>, Hash,
                       std::equal_to<>>
        calls;
};

} // namespace

std::vector<std::pair<std::string, std::string>>
pairs_of_query(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string_view pair : split(text, '&')) {
        const std::size_t equals = pair.find('=');
        if (equals == pair.npos)
            malformed(pair);
        pairs.emplace_back(pair.substr(0, equals),
                           unescaped(pair.substr(equals + 1)));
    }
    return pairs;
}

std::shared_ptr<const FfiCall> call_of_text(std::string_view text) {
    static auto* kept = new Kept;
    {
        const std::shared_lock lock(kept->mutex);
        const auto known = kept->calls.find(text);
        if (known != kept->calls.end())
            return known->second;
    }
    auto call = std::make_shared<const FfiCall>(read_text(text));
    const std::lock_guard lock(kept->mutex);
    if (kept->calls.size() >= Kept::most)
        kept->calls.clear();
    return kept->calls.emplace(text, std::move(call)).first->second;
}

} // namespace tilefold::python
