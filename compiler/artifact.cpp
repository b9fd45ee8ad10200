// compiler/artifact.cpp - an artifact as bytes: the header's length (8 bytes,
// little endian), the header as JSON, the code.

#include "compiler/artifact.h"

#include <nlohmann/json.hpp>

#include <cstring>

namespace tilefold {
namespace {

using Json = nlohmann::json;

constexpr std::size_t length_bytes = 8;

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
    visit("uses_functions", layout.uses_functions);
    visit("lanes", layout.lanes);
}

template <typename Entries, typename Visit>
void visit_entries(Entries& entries, Visit visit) {
    visit("prepare", entries.prepare);
    visit("init", entries.init);
    visit("accumulate", entries.accumulate);
    visit("merge", entries.merge);
    visit("finalise", entries.finalise);
    visit("zip", entries.zip);
    visit("dense", entries.dense);
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
            {"code_size", artifact.code.size()},
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
    artifact.code.resize(header.at("code_size").get<std::size_t>());
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
    const std::string header = header_of(artifact).dump();
    std::vector<std::byte> bytes(length_bytes + header.size() +
                                 artifact.code.size());
    for (std::size_t k = 0; k < length_bytes; ++k)
        bytes[k] = std::byte(std::uint64_t(header.size()) >> 8 * k);
    std::memcpy(bytes.data() + length_bytes, header.data(), header.size());
    if (!artifact.code.empty())
        std::memcpy(bytes.data() + length_bytes + header.size(),
                    artifact.code.data(), artifact.code.size());
    return bytes;
}

bool deserialise(const std::byte* bytes, std::size_t size, Artifact& artifact) {
    if (size < length_bytes)
        return false;
    std::uint64_t header_size = 0;
    for (std::size_t k = 0; k < length_bytes; ++k)
        header_size |= std::uint64_t(bytes[k]) << 8 * k;
    const std::size_t rest = size - length_bytes;
    if (header_size > rest)
        return false;
    try {
        const char* text = reinterpret_cast<const char*>(bytes) + length_bytes;
        const Json header = Json::parse(text, text + header_size);
        // Before anything of the stated size is allocated.
        if (header.at("code_size") != rest - header_size)
            return false;
        Artifact read = read_header(header);
        if (!parse_dtype(header.at("layout").at("real").get<std::string>(),
                         read.layout.real))
            return false;
        if (!read.code.empty())
            std::memcpy(read.code.data(), text + header_size, read.code.size());
        if (!entries_lie_inside(read))
            return false;
        artifact = std::move(read);
        return true;
    } catch (const Json::exception&) {
        return false;
    }
}

} // namespace tilefold
