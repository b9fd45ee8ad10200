// formulas/names.cpp - one spelling for each name, and the names near one.
#include "formulas/names.h"

#include "formulas/utf8.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace tilefold {

namespace {

struct GreekLetter {
    std::string_view letter;
    std::string_view name;
    bool capital;
};

constexpr GreekLetter greek_letters[] = {
#define GREEK(small, capital, name) {small, name, false}, {capital, name, true},
#include "formulas/greek.def"
#undef GREEK
    {"ς", "sigma", false},
};

void append_in_ascii(std::string& name, std::string_view character) {
    const auto* found =
        std::ranges::find(greek_letters, character, &GreekLetter::letter);
    if (found == std::end(greek_letters)) {
        name += character;
        return;
    }
    const std::size_t start = name.size();
    name += found->name;
    if (found->capital)
        name[start] = static_cast<char>(name[start] - 'a' + 'A');
}

bool is_axis(char letter) {
    return letter == 'i' || letter == 'j';
}

/// Spells lowered characters: `ᵢ` is a subscript of its own even after others,
/// as `x₁ᵢ` is `x_1_i`.
std::string spell_subscripts(const std::string& lowered) {
    const bool both = lowered == "ij" || lowered == "ji";
    if (both || lowered.size() < 2 || !is_axis(lowered.back()))
        return lowered;
    return lowered.substr(0, lowered.size() - 1) + '_' + lowered.back();
}

/// Returns the edits (insert, delete, replace, swap neighbours) from one word
/// to another.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    for (std::size_t r = 1; r <= a.size(); ++r) {
        row[0] = r;
        for (std::size_t c = 1; c <= b.size(); ++c) {
            const std::size_t cost = a[r - 1] == b[c - 1] ? 0 : 1;
            row[c] =
                std::min({above[c] + 1, row[c - 1] + 1, above[c - 1] + cost});
            if (r > 1 && c > 1 && a[r - 1] == b[c - 2] && a[r - 2] == b[c - 1])
                row[c] = std::min(row[c], before[c - 2] + 1);
        }
        before = above;
        std::swap(above, row);
    }
    return above[b.size()];
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& letter : result)
        if (letter >= 'A' && letter <= 'Z')
            letter = static_cast<char>(letter - 'A' + 'a');
    return result;
}

} // namespace

std::string fold_name(std::string_view typed) {
    std::string line, lowered;
    const auto flush = [&] {
        if (lowered.empty())
            return;
        if (!line.ends_with('_'))
            line += '_';
        line += spell_subscripts(lowered);
        lowered.clear();
    };
    std::size_t at = 0;
    while (at < typed.size()) {
        const auto [code, length] = utf8::decode(typed, at);
        if (length == 0)
            return std::string(typed);
        if (utf8::position(code) == utf8::Position::Subscript) {
            lowered += utf8::plain(code);
        } else {
            flush();
            line += code == U'∆' ? std::string("Δ") : utf8::encode(code);
        }
        at += length;
    }
    flush();
    return utf8::nfkc(line);
}

std::string normalise_name(std::string_view name) {
    const std::string folded = fold_name(name);
    std::string result;
    std::size_t at = 0;
    while (at < folded.size()) {
        const std::size_t length =
            std::max(utf8::decode(folded, at).length, std::uint32_t{1});
        append_in_ascii(result, std::string_view(folded).substr(at, length));
        at += length;
    }
    // Python reserves lambda, so its users write lambda_.
    return result == "lambda_" ? "lambda" : result;
}

std::string greek_as_typed(std::string_view name, std::string_view text) {
    std::string shown;
    std::size_t at = 0;
    while (at <= name.size()) {
        const std::size_t end = std::min(name.find('_', at), name.size());
        const std::string_view part = name.substr(at, end - at);
        const auto* found =
            std::ranges::find_if(greek_letters, [&](const GreekLetter& row) {
                std::string ascii;
                append_in_ascii(ascii, row.letter);
                return ascii == part &&
                       text.find(row.letter) != std::string_view::npos;
            });
        shown += found == std::end(greek_letters) ? part : found->letter;
        if (end < name.size())
            shown += '_';
        at = end + 1;
    }
    return shown;
}

SubscriptedName split_subscript(std::string_view folded) {
    using ast::Axes;
    constexpr std::array<std::pair<std::string_view, Axes>, 4> endings = {{
        {"_ij", Axes::IJ},
        {"_ji", Axes::IJ},
        {"_i", Axes::I},
        {"_j", Axes::J},
    }};
    for (const auto& [ending, axes] : endings)
        if (folded.size() > ending.size() && folded.ends_with(ending))
            return {
                std::string(folded.substr(0, folded.size() - ending.size())),
                axes};
    return {std::string(folded), Axes::None};
}

std::string_view subscript(ast::Axes axes) {
    switch (axes) {
    case ast::Axes::None:
        return "";
    case ast::Axes::I:
        return "_i";
    case ast::Axes::J:
        return "_j";
    case ast::Axes::IJ:
        return "_ij";
    }
    return "";
}

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> names) {
    constexpr std::size_t longest = 64; // keeps the search short
    if (name.size() > longest)
        return std::nullopt;
    const std::string wanted = lower(name);
    std::size_t best = name.size() <= 2 ? 1 : name.size() <= 4 ? 2 : 3;
    std::optional<std::string> nearest;
    for (const std::string& candidate : names) {
        if (candidate.size() > longest)
            continue;
        const std::size_t edits = distance(wanted, lower(candidate));
        if (edits < best) {
            best = edits;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string listed(std::span<const std::string> names) {
    if (names.empty())
        return "no arguments";
    std::string text = names[0];
    for (std::size_t k = 1; k < names.size(); ++k)
        text += (k + 1 == names.size() ? " and " : ", ") + names[k];
    return text;
}

std::optional<std::string> names_like(std::string_view name,
                                      std::span<const std::string> names) {
    constexpr std::size_t shortest = 4; // that says what is meant
    std::vector<std::string_view> found;
    for (const std::string& candidate : names)
        if (name.size() >= shortest && candidate.starts_with(name) &&
            candidate != name)
            found.push_back(candidate);
    if (found.empty())
        return nearest_name(name, names);
    std::string text(found[0]);
    for (std::size_t k = 1; k < found.size(); ++k) {
        text += k + 1 == found.size() ? " or " : ", ";
        text += found[k];
    }
    return text;
}

} // namespace tilefold
