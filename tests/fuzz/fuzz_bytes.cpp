// tests/fuzz/fuzz_bytes.cpp - fuzzes what reads bytes that came from files:
// entries of the cache, artifacts and images in them, plans. They are damaged
// under a checksum that is right, as whoever may write a folder could do it.
#include "compiler/artifact/artifact.h"
#include "compiler/backends/cpu/plan.h"
#include "compiler/backends/cuda/image/image.h"
#include "formulas/diagnostic.h"
#include "runtime/cache/cache_entry.h"
#include "tests/fuzz/harness.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace tilefold::tests {
namespace {

using Bytes = std::vector<std::byte>;

Bytes some_artifact(Random& random) {
    Artifact artifact;
    artifact.layout.slots = below(random, 100);
    artifact.layout.scratch = below(random, 1 << 20);
    artifact.layout.uses_functions = below(random, 2);
    artifact.code.resize(std::size_t(1 + below(random, 300)), std::byte{0xc3});
    artifact.entries.prepare = 0;
    artifact.entries.accumulate = artifact.code.size() - 1;
    artifact.compiler = "LLVM 22.1.0";
    return serialise(artifact);
}

Bytes some_image(Random& random) {
    cuda::Image image;
    image.plan = {64, cuda::Lanes::Columns, 2, 32, 8, 1};
    image.codes.resize(std::size_t(1 + below(random, 3)));
    for (Bytes& code : image.codes)
        code.resize(std::size_t(1 + below(random, 50)), std::byte{7});
    image.architecture = "sm_90";
    image.compiler = "NVRTC 13.0";
    image.resources = {{"accumulate", 80, 16, 8, 4, 2048}, {"finish", 30}};
    return serialise(image);
}

Bytes some_entry(Random& random) {
    std::optional<SigningKey> signer;
    if (below(random, 3) == 0)
        signer.emplace(std::as_bytes(std::span("secret")));
    return encode_entry("sha256 of a graph\nand a plan",
                        {"LLVM 22.1.0", "x86-64-v3", "sum_j b_j"},
                        some_artifact(random), signer);
}

Bytes some_plan(Random&) {
    const std::string text = print(Plan{});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// A number that a length or an offset should not be, or one changed a little.
void damage_number(Random& random, Bytes& bytes) {
    constexpr std::uint64_t numbers[] = {0,
                                         1,
                                         0x7f,
                                         0x7fffffff,
                                         0xffffffff,
                                         ~std::uint64_t(0) >> 1,
                                         ~std::uint64_t(0)};
    std::uint64_t number = numbers[below(random, std::size(numbers))];
    const std::size_t size = std::size_t(1) << below(random, 4);
    if (bytes.size() >= size)
        std::memcpy(
            &bytes[std::size_t(below(random, int(bytes.size() - size) + 1))],
            &number, size);
}

/// A digit of a number in a header's text, in place of another.
void damage_text(Random& random, Bytes& bytes) {
    constexpr std::string_view symbols = "0123456789-+.e \n\t{}[]\",:";
    for (int tries = 0; tries < 20; ++tries) {
        std::byte& at = bytes[std::size_t(below(random, int(bytes.size())))];
        if (char(at) >= '0' && char(at) <= '9') {
            at = std::byte(
                symbols[std::size_t(below(random, int(symbols.size())))]);
            return;
        }
    }
}

void damage(Random& random, Bytes& bytes) {
    const auto place = [&] {
        return bytes.begin() + below(random, int(bytes.size()) + 1);
    };
    for (int count = below(random, 4); count > 0 && !bytes.empty(); --count)
        switch (below(random, 6)) {
        case 0:
            bytes[std::size_t(below(random, int(bytes.size())))] =
                std::byte(random());
            break;
        case 1:
            bytes.erase(place(), bytes.end());
            break;
        case 2:
            bytes.insert(place(), std::size_t(below(random, 40)),
                         std::byte(random()));
            break;
        case 3: {
            auto begin = place(), end = place();
            if (begin > end)
                std::swap(begin, end);
            bytes.erase(begin, end);
            break;
        }
        case 4:
            damage_number(random, bytes);
            break;
        default:
            damage_text(random, bytes);
        }
}

/// Puts a checksum at the end that is that of what precedes.
void mend_checksum(Bytes& bytes) {
    XXH128_canonical_t canonical;
    if (bytes.size() < sizeof canonical)
        return;
    const std::size_t size = bytes.size() - sizeof canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), size));
    std::memcpy(&bytes[size], &canonical, sizeof canonical);
}

/// What was read has to be what it says: written, it reads again.
template <class T> Reached read_again(std::span<const std::byte> bytes) {
    const auto read = [](std::span<const std::byte> from, T& into) {
        if constexpr (std::is_same_v<T, Artifact>)
            return deserialise(from.data(), from.size(), into);
        else
            return deserialise(from, into);
    };
    T first, second;
    if (!read(bytes, first))
        return Reached::Refused;
    const Bytes written = serialise(first);
    if (!read(written, second) || serialise(second) != written)
        internal_error("what was read does not read again");
    return Reached::End;
}

Reached read_entry(std::span<const std::byte> bytes) {
    decode_header(bytes);
    const std::optional<DecodedEntry> entry = decode_entry(bytes);
    if (!entry)
        return Reached::Refused;
    const SigningKey signer(std::as_bytes(std::span("secret")));
    entry->is_signed_by(signer);
    const Reached inside = read_again<Artifact>(entry->payload);
    return inside == Reached::End ? Reached::End : Reached::Half;
}

Reached read_plan(std::span<const std::byte> bytes) {
    const std::string text(reinterpret_cast<const char*>(bytes.data()),
                           bytes.size());
    try {
        const Plan plan = parse_plan(text);
        if (print(parse_plan(print(plan))) != print(plan))
            internal_error("a plan that does not read again");
        return Reached::End;
    } catch (const Error& error) {
        if (error.family() == Family::Internal)
            throw;
        return Reached::Refused;
    }
}

enum class Kind { Entry, Artifact, Image, Plan };

struct Damaged {
    Kind kind;
    Bytes bytes;
};

Damaged some_bytes(Random& random) {
    constexpr Bytes (*makers[])(Random&) = {some_entry, some_artifact,
                                            some_image, some_plan};
    const int kind = below(random, 4);
    Damaged made{Kind(kind), makers[kind](random)};
    damage(random, made.bytes);
    if (made.kind == Kind::Entry)
        mend_checksum(made.bytes);
    return made;
}

Reached read(const Damaged& made) {
    switch (made.kind) {
    case Kind::Entry:
        return read_entry(made.bytes);
    case Kind::Artifact:
        return read_again<Artifact>(made.bytes);
    case Kind::Image:
        return read_again<cuda::Image>(made.bytes);
    case Kind::Plan:
        break;
    }
    return read_plan(made.bytes);
}

std::string hexadecimal(const Damaged& made) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text = "kind " + std::to_string(int(made.kind)) + ": ";
    for (const std::byte byte : made.bytes) {
        text += digits[std::to_integer<int>(byte) / 16];
        text += digits[std::to_integer<int>(byte) % 16];
    }
    return text;
}

} // namespace
} // namespace tilefold::tests

int main(int count, char** words) {
    using namespace tilefold::tests;
    const Target target{
        .run = [](Random& random) { return read(some_bytes(random)); },
        .describe =
            [](Random& random) { return hexadecimal(some_bytes(random)); },
        .half = "decoded",
        .end = "read",
        .most_seconds = 0.1,
        .most_megabytes = 64,
    };
    return fuzz(target, count, words);
}
