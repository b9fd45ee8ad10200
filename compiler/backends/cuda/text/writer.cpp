// compiler/backends/cuda/text/writer.cpp - declarations, statements and scopes.

#include "compiler/backends/cuda/text/writer.h"

#include "formulas/diagnostic.h"

#include <algorithm>
#include <array>

namespace tilefold::cuda {
namespace {

constexpr int indent = 4;

// clang-format off
constexpr std::string_view keywords[] = {
    "and", "and_eq", "auto", "bitand", "bitor", "bool", "break", "case",
    "char", "class", "compl", "const", "continue", "default", "delete", "do",
    "double", "else", "enum", "explicit", "export", "extern", "false", "float",
    "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "new",
    "not", "not_eq", "operator", "or", "or_eq", "private", "protected",
    "public", "register", "return", "short", "signed", "sizeof", "static",
    "struct", "switch", "template", "this", "throw", "true", "try", "typedef",
    "union", "unsigned", "using", "virtual", "void", "volatile", "while",
    "xor", "xor_eq",
};
// clang-format on
static_assert(std::ranges::is_sorted(keywords));

std::string distinct(std::string_view hint,
                     const std::function<bool(const std::string&)>& is_taken) {
    std::string name(hint);
    for (int number = 2; is_taken(name); ++number)
        name = std::string(hint) + "_" + std::to_string(number);
    return name;
}

std::int64_t bytes_of(Kind kind) {
    switch (kind) {
    case Kind::Truth:
        return 1;
    case Kind::Int:
    case Kind::Float:
        return 4;
    default:
        return 8;
    }
}

std::string declaration(const Field& field) {
    const std::string kind(spelling_of(field.kind));
    if (field.points)
        return "const " + kind + "* " + field.name;
    return kind + " " + field.name +
           (field.length ? "[" + std::to_string(field.length) + "]" : "");
}

std::string declaration(const Parameter& parameter) {
    switch (parameter.by) {
    case By::Value:
        return parameter.type + " " + parameter.name;
    case By::Constant:
        return "const " + parameter.type + "& " + parameter.name;
    case By::Reference:
        return parameter.type + "& " + parameter.name;
    }
    internal_error("a way to pass without a case");
}

constexpr std::size_t longest_line = 80;

/// Breaks text over several lines, at the last space, where it is long.
std::string broken(std::string text, std::size_t margin) {
    std::string lines;
    while (text.size() > longest_line) {
        const std::size_t at = text.rfind(' ', longest_line);
        if (at == std::string::npos || at <= margin ||
            text.find('\n') != std::string::npos)
            break;
        lines += text.substr(0, at) + "\n";
        text = std::string(margin, ' ') + text.substr(at + 1);
    }
    return lines + text;
}

/// Returns `head` with a list in parentheses, over as many lines as it needs.
std::string listed(std::string head, const std::vector<std::string>& items) {
    const std::size_t margin = head.size() - head.rfind('\n');
    std::size_t column = margin;
    head += "(";
    for (std::size_t k = 0; k < items.size(); ++k) {
        if (k)
            head += ",";
        if (k && column + items[k].size() + 3 > longest_line) {
            head += "\n" + std::string(8, ' ');
            column = 8;
        } else if (k) {
            head += " ";
        }
        head += items[k];
        column += items[k].size() + 2;
    }
    return head + ")";
}

} // namespace

std::string identifier(std::string_view name) {
    std::string result;
    for (char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '_';
        result += letter ? c : '_';
    }
    const bool starts_badly =
        result.empty() || (result[0] >= '0' && result[0] <= '9');
    if (starts_badly || result[0] == '_')
        result = "a" + result;
    // Two underscores in a row are the compiler's.
    const auto end = std::ranges::unique(
        result, [](char a, char b) { return a == '_' && b == '_'; });
    result.erase(end.begin(), end.end());
    if (std::ranges::binary_search(keywords, std::string_view(result)))
        result += "_";
    return result;
}

std::size_t Record::add(std::string_view hint, Kind kind, std::int64_t length,
                        bool points) {
    Field field{distinct(hint, [&](const auto& n) { return names_.count(n); }),
                kind, length, points};
    names_.insert(field.name);
    fields_.push_back(std::move(field));
    return fields_.size() - 1;
}

std::int64_t Record::bytes() const {
    std::int64_t sum = 0;
    for (const Field& field : fields_)
        sum += field.points ? 8
                            : bytes_of(field.kind) *
                                  std::max<std::int64_t>(field.length, 1);
    return sum;
}

Code field_of(const Code& object, const Field& field) {
    if (field.length)
        internal_error("the array " + field.name + " without an index");
    return member(field.kind, object, field.name);
}

Code field_of(const Code& object, const Field& field, const Code& index) {
    if (!field.length)
        return field_of(object, field);
    return element(field.kind, member(Kind::Object, object, field.name), index);
}

void Writer::line(const std::string& text) {
    text_ += broken(std::string(std::size_t(depth_ * indent), ' ') + text,
                    std::size_t((depth_ + 1) * indent)) +
             "\n";
}

void Writer::comment(std::string_view sentence) {
    line("// " + std::string(sentence));
}

void Writer::blank() {
    text_ += '\n';
}

void Writer::constant(std::string_view name, std::int64_t value) {
    line("constexpr int " + std::string(name) + " = " + std::to_string(value) +
         ";");
}

void Writer::record(const Record& record, int alignment) {
    std::string head = "struct ";
    if (alignment)
        head += "__align__(" + std::to_string(alignment) + ") ";
    scope(
        head + record.name(),
        [&] {
            for (const Field& field : record.fields())
                line(declaration(field) + ";");
        },
        ";");
}

void Writer::function(const Signature& signature, const Body& body) {
    std::string head =
        signature.is_kernel
            ? "extern \"C\" __global__ void __launch_bounds__(threads)\n"
            : "static __device__ __forceinline__ " + signature.result + "\n";
    head += signature.name;
    scopes_.emplace_back();
    std::vector<std::string> parameters;
    for (const Parameter& parameter : signature.parameters) {
        scopes_.back().insert(parameter.name);
        parameters.push_back(signature.is_kernel
                                 ? "const __grid_constant__ " + parameter.type +
                                       " " + parameter.name
                                 : declaration(parameter));
    }
    scope(listed(head, parameters), body);
    scopes_.pop_back();
    blank();
}

void Writer::scope(const std::string& head, const Body& body,
                   const std::string& tail) {
    line(head + " {");
    ++depth_;
    scopes_.emplace_back();
    body();
    scopes_.pop_back();
    --depth_;
    line("}" + tail);
}

std::string Writer::name(std::string_view hint) {
    std::string result = distinct(hint, [&](const std::string& name) {
        return std::ranges::any_of(
            scopes_, [&](const auto& scope) { return scope.count(name); });
    });
    scopes_.back().insert(result);
    return result;
}

Code Writer::let(std::string_view hint, const Code& value) {
    Code result(value.kind(), name(hint));
    std::string type(spelling_of(value.kind()));
    if (value.kind() != Kind::Address)
        type = "const " + type;
    line(type + " " + result.text() + " = " + value.text() + ";");
    return result;
}

Code Writer::variable(std::string_view hint, const Code& start) {
    Code result(start.kind(), name(hint));
    line(std::string(spelling_of(start.kind())) + " " + result.text() + " = " +
         start.text() + ";");
    return result;
}

Code Writer::declare(std::string_view type, std::string_view hint) {
    Code result(Kind::Object, name(hint));
    line(std::string(type) + " " + result.text() + ";");
    return result;
}

Code Writer::pointer(std::string_view hint, std::string_view type,
                     std::string_view value) {
    Code result(Kind::Object, name(hint));
    line(std::string(type) + " " + result.text() + " = " + std::string(value) +
         ";");
    return result;
}

void Writer::set(const Code& place, const Code& value) {
    if (place.kind() != value.kind())
        internal_error(place.text() + " of another kind than " + value.text());
    line(place.text() + " = " + value.text() + ";");
}

void Writer::add(const Code& place, const Code& value) {
    if (place.kind() != value.kind())
        internal_error(place.text() + " of another kind than " + value.text());
    line(place.text() + " += " + value.text() + ";");
}

void Writer::multiply(const Code& place, const Code& value) {
    if (place.kind() != value.kind())
        internal_error(place.text() + " of another kind than " + value.text());
    line(place.text() + " *= " + value.text() + ";");
}

void Writer::run(std::string_view function,
                 const std::vector<Code>& arguments) {
    line(cuda::call(Kind::Object, function, arguments).text() + ";");
}

void Writer::give(const Code& value) {
    line("return " + value.text() + ";");
}

void Writer::loop(std::string_view hint, std::int64_t count,
                  const std::function<void(Code)>& body,
                  std::int64_t unrolled) {
    constexpr std::int64_t of_more = 4;
    line(count <= unrolled
             ? "#pragma unroll"
             : "#pragma unroll " + std::to_string(std::min(unrolled, of_more)));
    scopes_.emplace_back();
    const Code index(Kind::Int, name(hint));
    const std::string& k = index.text();
    scope("for (int " + k + " = 0; " + k + " < " + std::to_string(count) +
              "; ++" + k + ")",
          [&] { body(index); });
    scopes_.pop_back();
}

void Writer::share(std::string_view hint, std::int64_t count,
                   const std::function<void(Code)>& body) {
    scopes_.emplace_back();
    const Code index(Kind::Int, name(hint));
    const std::string& k = index.text();
    scope("for (int " + k + " = threadIdx.x; " + k + " < " +
              std::to_string(count) + "; " + k + " += threads)",
          [&] { body(index); });
    scopes_.pop_back();
}

void Writer::when(const Code& condition, const Body& body) {
    scope("if (" + condition.text() + ")", body);
}

void Writer::when(const Code& condition, const Body& body,
                  const Body& otherwise) {
    scope("if (" + condition.text() + ")", body);
    scope("else", otherwise);
}

} // namespace tilefold::cuda
