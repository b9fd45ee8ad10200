// compiler/artifact/artifact.cpp - an artifact as bytes.

#include "compiler/artifact/artifact.h"

#include "compiler/artifact/container.h"

#include <span>

namespace tilefold {
namespace {

/// Visits every field of a Layout but `real`, with its name in the header.
template <typename Layout, typename Visit>
void visit_fields(Layout& layout, Visit visit) {
    visit("constants", layout.constants);
    visit("slots", layout.slots);
    visit("slots_per_width", layout.slots_per_width);
    visit("scratch", layout.scratch);
    visit("scratch_per_width", layout.scratch_per_width);
    visit("row_multiple", layout.row_multiple);
    visit("row_block", layout.row_block);
    visit("panel", layout.panel);
    visit("nanoseconds", layout.nanoseconds);
    visit("nanoseconds_per_width", layout.nanoseconds_per_width);
    visit("row_nanoseconds", layout.row_nanoseconds);
    visit("column_nanoseconds", layout.column_nanoseconds);
    visit("uses_functions", layout.uses_functions);
    visit("lanes", layout.lanes);
}

std::string in_layout(const char* name) {
    return std::string("layout.") + name;
}

std::string in_entries(const char* name) {
    return std::string("entries.") + name;
}

Fields header_of(const Artifact& artifact) {
    Fields header;
    visit_fields(artifact.layout, [&](const char* name, const auto& value) {
        header.set(in_layout(name), value);
    });
    header.set(in_layout("real"), spelling_of(artifact.layout.real));
    visit_entries(artifact.entries, [&](const char* name, std::uint64_t at) {
        if (at != Entries::absent)
            header.set(in_entries(name), at);
    });
    header.set("compiler", artifact.compiler);
    header.set("compile_milliseconds", artifact.compile_milliseconds);
    return header;
}

/// Returns false where the number type is none. Throws FieldError.
bool read_header(const Fields& header, Artifact& artifact) {
    visit_fields(artifact.layout, [&](const char* name, auto& value) {
        header.get(in_layout(name), value);
    });
    visit_entries(artifact.entries, [&](const char* name, std::uint64_t& at) {
        at = Entries::absent;
        if (header.has(in_entries(name)))
            header.get(in_entries(name), at);
    });
    header.get("compiler", artifact.compiler);
    header.get("compile_milliseconds", artifact.compile_milliseconds);
    std::string real;
    header.get(in_layout("real"), real);
    return parse_dtype(real, artifact.layout.real);
}

bool entries_lie_inside(const Artifact& artifact) {
    bool inside = true;
    visit_entries(artifact.entries, [&](const char*, std::uint64_t at) {
        inside &= at == Entries::absent || at < artifact.code.size();
    });
    return inside;
}

} // namespace

std::vector<std::byte> serialise(const Artifact& artifact) {
    return with_header(header_of(artifact),
                       std::as_bytes(std::span(artifact.code)));
}

bool deserialise(const std::byte* bytes, std::size_t size, Artifact& artifact) {
    const auto read = split_header({bytes, size});
    if (!read)
        return false;
    try {
        Artifact found;
        if (!read_header(read->header, found))
            return false;
        found.code.assign(read->code.begin(), read->code.end());
        if (!entries_lie_inside(found))
            return false;
        artifact = std::move(found);
        return true;
    } catch (const FieldError&) {
        return false;
    }
}

} // namespace tilefold
