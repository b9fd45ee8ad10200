// compiler/artifact/fields.h - named numbers and texts, as the header of bytes
// on disk.
//
// A library for JSON would do, but for one thing: nlohmann's destructors
// allocate, and end the process where memory has run out.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace tilefold {

/// A field is missing, or of another type.
struct FieldError : std::runtime_error {
    explicit FieldError(std::string_view name)
        : std::runtime_error("field " + std::string(name)) {}
};

class Fields {
public:
    /// Sets a field to a number, a bool or an enumerator; it replaces a field
    /// that has the name already.
    template <class Value>
        requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
    void set(const std::string& name, Value value) {
        char text[64];
        const auto [end, error] =
            std::to_chars(text, text + sizeof text, number(value));
        set(name, std::string_view(text, std::size_t(end - text)));
    }
    void set(const std::string& name, std::string_view text) {
        values_[name] = text;
    }

    bool has(std::string_view name) const { return values_.contains(name); }

    /// Both read a field into their second argument and throw FieldError.
    template <class Value>
        requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
    void get(std::string_view name, Value& value) const {
        const std::string& text = at(name);
        auto read = number(Value());
        const auto [end, error] =
            std::from_chars(text.data(), text.data() + text.size(), read);
        const auto held = static_cast<Value>(read);
        if (error != std::errc() || end != text.data() + text.size() ||
            (!std::is_floating_point_v<Value> && number(held) != read))
            throw FieldError(name);
        value = held;
    }
    void get(std::string_view name, std::string& text) const {
        text = at(name);
    }

    /// Returns a line for each field: its name, a space, its value.
    std::string text() const;
    /// Reads what text() made; returns none for anything else.
    static std::optional<Fields> parse(std::string_view text);

private:
    /// Returns the value as it is written: bool and bytes as whole numbers.
    template <class Value> static auto number(Value value) {
        if constexpr (std::is_enum_v<Value>)
            return number(static_cast<std::underlying_type_t<Value>>(value));
        else if constexpr (std::floating_point<Value>)
            return double(value);
        else if constexpr (std::is_unsigned_v<Value>)
            return static_cast<unsigned long long>(value);
        else
            return static_cast<long long>(value);
    }
    const std::string& at(std::string_view name) const;

    std::map<std::string, std::string, std::less<>> values_;
};

} // namespace tilefold
