// compiler/artifact/fields.cpp - fields to lines, and back.

#include "compiler/artifact/fields.h"

namespace tilefold {
namespace {

/// A backslash stands before what would end the line, and before itself.
std::string escaped(std::string_view text) {
    std::string line;
    for (char each : text) {
        if (each == '\\' || each == '\n')
            line += '\\';
        line += each == '\n' ? 'n' : each;
    }
    return line;
}

std::optional<std::string> unescaped(std::string_view line) {
    std::string text;
    for (std::size_t k = 0; k < line.size(); ++k) {
        if (line[k] != '\\') {
            text += line[k];
            continue;
        }
        if (++k == line.size() || (line[k] != '\\' && line[k] != 'n'))
            return std::nullopt;
        text += line[k] == 'n' ? '\n' : '\\';
    }
    return text;
}

} // namespace

std::string Fields::text() const {
    std::string lines;
    for (const auto& [name, value] : values_)
        lines += name + ' ' + escaped(value) + '\n';
    return lines;
}

std::optional<Fields> Fields::parse(std::string_view text) {
    Fields fields;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const std::size_t space = line.find(' ');
        if (end == text.npos || space == line.npos)
            return std::nullopt;
        auto value = unescaped(line.substr(space + 1));
        if (!value ||
            !fields.values_.emplace(line.substr(0, space), std::move(*value))
                 .second)
            return std::nullopt;
        text.remove_prefix(end + 1);
    }
    return fields;
}

const std::string& Fields::at(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end())
        throw FieldError(name);
    return found->second;
}

} // namespace tilefold
