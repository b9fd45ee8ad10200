// runtime/c/session.cpp - sessions and formulas of the C interface.

#include "compiler/pipeline.h"
#include "runtime/c/handles.h"
#include "runtime/c/sized.h"

#include <string>
#include <vector>

using namespace tilefold;
using namespace tilefold::c;

namespace {

/// 1 yes, -1 no, 0 nothing said.
std::optional<bool> truth_in(const char* name, std::int32_t value) {
    if (value < -1 || value > 1)
        fail(Code::BadCount,
             {name, std::to_string(value), "1 for yes, -1 for no, or 0"});
    if (value == 0)
        return std::nullopt;
    return value == 1;
}

template <class T> void set_unless_zero(std::optional<T>& option, T value) {
    if (value != 0)
        option = value;
}

void set_text(std::optional<std::string>& option, const char* text) {
    if (text)
        option = text;
}

Options options_of(const tilefold_options* given) {
    const auto read = read_sized("tilefold_options", given);
    Options options;
    set_unless_zero(options.threads, int(read.threads));
    options.log = truth_in("log", read.log);
    options.tune = truth_in("tune", read.tune);
    options.untrusted = truth_in("untrusted", read.untrusted);
    set_unless_zero(options.tolerance, read.tolerance);
    set_unless_zero(options.cache_size, read.cache_size);
    set_unless_zero(options.device_bytes, read.device_bytes);
    set_text(options.cache_directory, read.cache_directory);
    set_text(options.isa, read.isa);
    set_text(options.devices, read.devices);
    return options;
}

std::vector<std::string> names_of(const char* const* names,
                                  std::int64_t count) {
    std::vector<std::string> all;
    for (const char* name : list_of("names", names, count, most_names))
        all.push_back(text_of("name", name));
    if (all.empty())
        fail(Code::BadCount, {"count", "0", "the name of an argument"});
    return all;
}

} // namespace

tilefold_error* tilefold_session_create(const tilefold_options* options,
                                        tilefold_session** out) noexcept {
    return guarded([&] {
        tilefold_session*& made = output(out);
        made = new tilefold_session{
            std::make_shared<const Session>(options_of(options))};
    });
}

void tilefold_session_free(tilefold_session* session) noexcept {
    delete session;
}

tilefold_error* tilefold_session_statistics(const tilefold_session* session,
                                            tilefold_statistics* out) noexcept {
    return guarded([&] {
        const Statistics counted =
            handle("session", session).session->statistics();
        tilefold_statistics& written =
            required("out", out, "a tilefold_statistics whose size is set");
        write_sized("tilefold_statistics",
                    tilefold_statistics{
                        0, counted.compiles, counted.memory_hits,
                        counted.disk_hits, counted.runs, counted.tiles_visited,
                        counted.tiles_skipped, counted.compile_milliseconds},
                    written);
    });
}

std::int32_t
tilefold_session_threads(const tilefold_session* session) noexcept {
    return session ? session->session->threads() : 0;
}

tilefold_error* tilefold_formula_parse(tilefold_session* session,
                                       const char* text,
                                       tilefold_formula** out) noexcept {
    return guarded([&] {
        const auto& owner = handle("session", session).session;
        const std::string read = text_of("text", text);
        tilefold_formula*& made = output(out);
        made = new tilefold_formula{owner, owner->formula(read)};
    });
}

void tilefold_formula_free(tilefold_formula* formula) noexcept {
    delete formula;
}

std::int64_t tilefold_formula_names(const tilefold_formula* formula) noexcept {
    return formula ? std::int64_t(formula->formula.names().size()) : 0;
}

const char* tilefold_formula_name(const tilefold_formula* formula,
                                  std::int64_t index,
                                  std::int32_t* axes) noexcept {
    if (index < 0 || index >= tilefold_formula_names(formula))
        return nullptr;
    const FreeName& name = formula->formula.names()[std::size_t(index)];
    if (axes)
        *axes = std::int32_t(name.axes);
    return name.name.c_str();
}

tilefold_error* tilefold_formula_gradient(const tilefold_formula* formula,
                                          const char* const* names,
                                          std::int64_t count,
                                          const char* cotangent,
                                          std::int32_t with_value,
                                          tilefold_formula** out) noexcept {
    return guarded([&] {
        const auto& [session, own] = handle("formula", formula);
        const auto by = names_of(names, count);
        const bool value = truth_of("with_value", with_value);
        tilefold_formula*& made = output(out);
        made = new tilefold_formula{
            session, own.gradient(by, cotangent ? cotangent : "grad", value)};
    });
}

tilefold_error* tilefold_formula_jvp(const tilefold_formula* formula,
                                     const char* const* names,
                                     std::int64_t count, const char* tangent,
                                     tilefold_formula** out) noexcept {
    return guarded([&] {
        const auto& [session, own] = handle("formula", formula);
        const auto along = names_of(names, count);
        tilefold_formula*& made = output(out);
        made = new tilefold_formula{
            session, own.jvp(along, tangent ? tangent : "tangent")};
    });
}
