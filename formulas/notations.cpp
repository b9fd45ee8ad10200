// formulas/notations.cpp - sum_{j≠i}, avg_j and their like.
#include "formulas/notations.h"

#include "formulas/catalogue.h"
#include "formulas/symbols.h"

#include <algorithm>
#include <iterator>

namespace tilefold {

namespace {

/// The number that a reduction takes for the terms that a mask leaves out;
/// empty: the mask is a factor.
struct Neutral {
    std::string_view reduction;
    std::string_view number;
};

constexpr Neutral neutral_numbers[] = {
    {"sum", ""},           {"prod", "1"},      {"max", "-inf"},
    {"min", "inf"},        {"argmax", "-inf"}, {"argmin", "inf"},
    {"logsumexp", "-inf"},
};

/// What a reduction is called that keeps several terms.
struct Several {
    std::string_view one;
    std::string_view several;
};

constexpr Several several_terms[] = {
    {"min", "kmin"},
    {"max", "kmax"},
    {"argmin", "argkmin"},
    {"argmax", "argkmax"},
};

constexpr std::string_view order_statistics[] = {"percentile", "nanmedian"};

bool holds_any(std::string_view text,
               std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) {
        return text.find(part) != std::string_view::npos;
    });
}

/// Returns `_i` where the first index named is i.
std::string axis_named(std::string_view text) {
    const std::size_t first = text.find_first_of("ij");
    return first != std::string_view::npos && text[first] == 'i' ? "_i" : "_j";
}

} // namespace

std::optional<Meant> meant_below(std::string_view reduction,
                                 std::string_view braces) {
    const auto* row =
        std::ranges::find(neutral_numbers, reduction, &Neutral::reduction);
    if (row == std::end(neutral_numbers))
        return std::nullopt;
    const std::string stem = std::string(reduction) + axis_named(braces);
    const std::string condition(braces);
    if (holds_any(braces, {"<", ">", "!=", "≠", "≤", "≥"}))
        return Meant{Code::ConditionBelow,
                     row->number.empty()
                         ? stem + " (" + condition + ") …"
                         : stem + " where(" + condition + ", …, " +
                               std::string(row->number) + ")"};
    if (holds_any(braces, {"="}))
        return Meant{Code::BoundsBelow, stem};
    return std::nullopt;
}

std::string meant_reduction(std::string_view name,
                            const Vocabulary& vocabulary) {
    std::string small(name);
    for (char& letter : small)
        if (letter >= 'A' && letter <= 'Z')
            letter = static_cast<char>(letter - 'A' + 'a');
    if (small != name && vocabulary.reduction(small).least >= 0)
        return small;
    const std::string_view target = find_reduction_synonym(small);
    return vocabulary.reduction(target).least >= 0 ? std::string(target) : "";
}

std::string numbered_reduction(std::string_view name, std::string_view axis,
                               std::string_view number,
                               const Vocabulary& vocabulary) {
    const std::string_view synonym = find_reduction_synonym(name);
    const std::string_view ours = synonym.empty() ? name : synonym;
    for (const Several& row : several_terms)
        if (ours == row.one || ours == row.several)
            return std::string(row.several) + std::string(axis) + "(f, " +
                   std::string(number) + ")";
    const Vocabulary::Arity arity = vocabulary.reduction(name);
    if (arity.least < 0)
        return "";
    return std::string(name) + std::string(axis) +
           (arity.least == 1 ? " f" : "(…)");
}

bool is_order_statistic(std::string_view name) {
    return std::ranges::count(order_statistics, name) != 0;
}

std::string named_call(std::string_view name) {
    const auto* row = std::ranges::find(catalogue, name, &NamedFormula::name);
    if (row == std::end(catalogue) || row->is_reduction)
        return "";
    const std::string more(row->parameters);
    return std::string(name) + "(x_i, y_j" + (more.empty() ? "" : ", " + more) +
           ")";
}

std::string named_alternative(std::string_view name, std::size_t count) {
    const std::string begin = std::string(name) + "_";
    for (const NamedFormula& row : catalogue) {
        if (row.is_reduction || !row.name.starts_with(begin))
            continue;
        const std::size_t commas =
            std::size_t(std::ranges::count(row.parameters, ','));
        const std::size_t more = row.parameters.empty() ? 0 : commas + 1;
        if (more + 2 == count)
            return named_call(row.name);
    }
    return "";
}

} // namespace tilefold
