// compiler/backends/cuda/text/writer.h - writes CUDA C++: declarations,
// statements and scopes. It gives out names, none twice in a scope, and
// indents.
#pragma once

#include "compiler/backends/cuda/text/code.h"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::cuda {

/// A member of a Record: a scalar, an array, or a pointer to elements.
struct Field {
    std::string name;
    Kind kind = Kind::Float;
    std::int64_t length = 0; ///< of an array; 0: a scalar
    bool points = false;     ///< `const kind* name`
};

/// A structure. Names of fields are made distinct.
class Record {
public:
    explicit Record(std::string name) : name_(std::move(name)) {}

    /// Adds a field and returns its place in fields().
    std::size_t add(std::string_view hint, Kind kind, std::int64_t length = 0,
                    bool points = false);
    const std::string& name() const { return name_; }
    const std::vector<Field>& fields() const { return fields_; }
    bool empty() const { return fields_.empty(); }
    std::int64_t bytes() const; ///< without padding

private:
    std::string name_;
    std::vector<Field> fields_;
    std::set<std::string> names_;
};

/// Returns object.field, or object.field[index].
Code field_of(const Code& object, const Field& field);
Code field_of(const Code& object, const Field& field, const Code& index);

enum class By : std::uint8_t { Value, Constant, Reference };

struct Parameter {
    std::string type;
    By by = By::Value;
    std::string name;
};

struct Signature {
    std::string result; ///< "void", or a type
    std::string name;
    std::vector<Parameter> parameters;
    bool is_kernel = false; ///< an entry, of blocks of `threads` threads
};

class Writer {
public:
    using Body = std::function<void()>;

    std::string take() { return std::move(text_); }

    /// Writes a comment, a sentence, above what comes next.
    void comment(std::string_view sentence);
    void blank();
    /// Writes constexpr int name = value;
    void constant(std::string_view name, std::int64_t value);
    void record(const Record& record, int alignment = 0);
    void function(const Signature& signature, const Body& body);

    /// Writes const kind hint = value; and returns the variable.
    Code let(std::string_view hint, const Code& value);
    /// Writes kind hint = start; and returns the variable.
    Code variable(std::string_view hint, const Code& start);
    /// Writes Type hint; for a Record, and returns the variable.
    Code declare(std::string_view type, std::string_view hint);
    /// Writes type hint = value; for an address, and returns the variable.
    Code pointer(std::string_view hint, std::string_view type,
                 std::string_view value);
    void set(const Code& place, const Code& value);
    void add(const Code& place, const Code& value);      ///< place += value
    void multiply(const Code& place, const Code& value); ///< place *= value
    /// Writes call(…);
    void run(std::string_view function, const std::vector<Code>& arguments);
    void give(const Code& value); ///< return value;

    /// Writes for (int hint = 0; hint < count; ++hint), unrolled where it is
    /// short. Where the body takes long to compile, `unrolled` says how many
    /// iterations are unrolled.
    void loop(std::string_view hint, std::int64_t count,
              const std::function<void(Code)>& body,
              std::int64_t unrolled = most_unrolled);
    /// Writes for (int hint = threadIdx.x; hint < count; hint += threads).
    void share(std::string_view hint, std::int64_t count,
               const std::function<void(Code)>& body);
    void when(const Code& condition, const Body& body);
    void when(const Code& condition, const Body& body, const Body& otherwise);

    /// By default, loop() unrolls at most so many iterations.
    static constexpr std::int64_t most_unrolled = 64;

private:
    void line(const std::string& text);
    void scope(const std::string& head, const Body& body,
               const std::string& tail = {});
    std::string name(std::string_view hint);

    std::string text_;
    int depth_ = 0;
    std::vector<std::set<std::string>> scopes_{1};
};

/// Returns a name that C++ and CUDA leave free, for an argument's name.
std::string identifier(std::string_view name);

} // namespace tilefold::cuda
