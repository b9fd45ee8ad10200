// compiler/artifact.cpp - an artifact as bytes.

#include "compiler/artifact.h"

#include "compiler/headed_bytes.h"

#include <span>

namespace tilefold {
namespace {

using Json = nlohmann::json;

/// Every field of a Layout but `real`, with its name in the header.
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

Json header_of(const Artifact& artifact) {
    Json layout = Json::object(), entries = Json::object();
    visit_fields(artifact.layout, [&](const char* name, const auto& value) {
        layout[name] = value;
    });
    layout["real"] = spelling_of(artifact.layout.real);
    visit_entries(artifact.entries, [&](const char* name, std::uint64_t at) {
        if (at != Entries::absent)
            entries[name] = at;
    });
    return {{"layout", layout},
            {"entries", entries},
            {"compiler", artifact.compiler},
            {"compile_milliseconds", artifact.compile_milliseconds}};
}

/// Throws Json::exception where a field is missing or of another type.
Artifact read_header(const Json& header) {
    Artifact artifact;
    const Json& layout = header.at("layout");
    visit_fields(artifact.layout, [&](const char* name, auto& value) {
        layout.at(name).get_to(value);
    });
    const Json& entries = header.at("entries");
    visit_entries(artifact.entries, [&](const char* name, std::uint64_t& at) {
        at = entries.value(name, Entries::absent);
    });
    header.at("compiler").get_to(artifact.compiler);
    header.at("compile_milliseconds").get_to(artifact.compile_milliseconds);
    return artifact;
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
        Artifact found = read_header(read->header);
        if (!parse_dtype(
                read->header.at("layout").at("real").get<std::string>(),
                found.layout.real))
            return false;
        found.code.assign(read->code.begin(), read->code.end());
        if (!entries_lie_inside(found))
            return false;
        artifact = std::move(found);
        return true;
    } catch (const Json::exception&) {
        return false;
    }
}

} // namespace tilefold
