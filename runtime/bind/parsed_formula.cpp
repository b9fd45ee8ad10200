// runtime/bind/parsed_formula.cpp - names to roles, signatures to kernels.

#include "runtime/bind/parsed_formula.h"

#include "compiler/build/roles.h"
#include "formulas/diagnostic.h"
#include "formulas/names.h"

#include <algorithm>
#include <mutex>

namespace tilefold {

void Signature::add(int name, Part part, std::optional<Axes> declared,
                    DType dtype, std::uint8_t rank, std::int32_t rows,
                    std::int32_t columns) {
    std::uint64_t role = declared ? std::uint64_t(*declared) + 1 : 0;
    words_.push_back(std::uint64_t(name) << 32 | std::uint64_t(part) << 24 |
                     role << 16 | std::uint64_t(dtype) << 8 | rank);
    words_.push_back(std::uint64_t(std::uint32_t(rows)) << 32 |
                     std::uint32_t(columns));
}

std::size_t Signature::hash() const {
    std::uint64_t mixed = 0x9e3779b97f4a7c15;
    for (std::uint64_t word : words_) {
        mixed = (mixed ^ word) * 0xff51afd7ed558ccd;
        mixed ^= mixed >> 32;
    }
    return std::size_t(mixed);
}

ParsedFormula::ParsedFormula(ast::Formula tree, Derivation derivation,
                             std::mutex& mutex)
    : tree_(std::move(tree)), derivation_(std::move(derivation)),
      free_names_(tilefold::free_names(tree_)), mutex_(mutex) {
    for (const NameUse& use : names_read(tree_))
        names_.push_back({use.name.name, use.name.axes, use.name.span,
                          use.name.is_table, use.is_constant});
    add_seeds();
}

/// A cotangent is on the axis of the result it belongs to, a tangent on those
/// of its argument. The gradient of an array on both axes is on i.
void ParsedFormula::add_seeds() {
    const std::vector<SeedRole> seeds = seeds_of(derivation_);
    const Axes own = axes_of_result(tree_, free_names_);
    for (std::size_t k = 0; k < derivation_.size(); ++k) {
        for (const std::string& name : derivation_[k].names)
            if (find_name(name) < 0)
                fail(Code::DerivativeName, {name, joined_names()});
        for (const SeedRole& seed : seeds)
            if (seed.step == k)
                add_seed(seed, own);
    }
}

void ParsedFormula::add_seed(const SeedRole& seed, Axes own) {
    const bool is_cotangent = seed.kind == DerivationStep::Kind::Reverse;
    if (find_name(seed.name) >= 0)
        fail(Code::SeedName, {seed.name, is_cotangent ? "cotangent" : "tangent",
                              is_cotangent ? "f.grad(…, cotangent=\"g\")"
                                           : "f.jvp(…, tangent=\"t\")"});
    Axes axes = own;
    bool is_table = false;
    if (!seed.argument.empty()) {
        const Name& moved = names_[std::size_t(find_name(seed.argument))];
        axes = moved.axes;
        is_table = moved.is_table;
    }
    if (is_cotangent && !seed.argument.empty() && axes == Axes::IJ)
        axes = Axes::I;
    names_.push_back({seed.name, axes, {}, is_table, false, seed});
    free_names_.push_back({seed.name, axes, {}});
}

std::string ParsedFormula::joined_names() const {
    std::string text;
    for (const FreeName& name : free_names_)
        text += (text.empty() ? "" : ", ") + name.name;
    return text;
}

std::shared_ptr<ParsedFormula>
ParsedFormula::derived(const DerivationStep& step) {
    std::lock_guard lock(mutex_);
    for (const auto& [known, parsed] : derived_)
        if (known == step)
            return parsed;
    Derivation longer = derivation_;
    longer.push_back(step);
    auto parsed =
        std::make_shared<ParsedFormula>(tree_, std::move(longer), mutex_);
    derived_.emplace_back(step, parsed);
    return parsed;
}

int ParsedFormula::find_name(std::string_view spelling) const {
    auto matches = [](std::string_view spelled) {
        return [spelled](const Name& name) { return name.name == spelled; };
    };
    auto found = std::ranges::find_if(names_, matches(spelling));
    // Nearly always the name is passed as it is stored.
    if (found == names_.end())
        found = std::ranges::find_if(names_, matches(normalise_name(spelling)));
    return found == names_.end() ? -1 : int(found - names_.begin());
}

const SeedRole* ParsedFormula::seed_of(int name, Part part) const {
    if (name < 0 || !is_of_points(part))
        return nullptr;
    const std::optional<SeedRole>& seed = names_[std::size_t(name)].seed;
    return seed ? &*seed : nullptr;
}

ArgumentRole ParsedFormula::role_of(int name, const NamedView& argument) const {
    const bool is_known = name >= 0 && is_of_points(argument.part);
    const bool is_table = is_known && names_[std::size_t(name)].is_table;
    if (argument.declared)
        return {*argument.declared, is_table};
    const bool is_one_number = argument.view.shape.empty();
    if (!is_known || (is_one_number && seed_of(name, argument.part)))
        return {Axes::None, is_table};
    return {names_[std::size_t(name)].axes, is_table};
}

ExecutablePointer ParsedFormula::find(const Signature& signature) const {
    std::lock_guard lock(mutex_);
    auto found = executables_.find(signature);
    return found == executables_.end() ? nullptr : found->second;
}

void ParsedFormula::keep(const Signature& signature,
                         ExecutablePointer executable) {
    std::lock_guard lock(mutex_);
    if (executables_.size() >= most_signatures)
        executables_.clear();
    executables_.insert_or_assign(signature, std::move(executable));
}

std::optional<Result>
ParsedFormula::find_value(std::span<const ArgumentType> arguments) const {
    std::lock_guard lock(mutex_);
    for (const auto& [types, value] : values_)
        if (std::ranges::equal(types, arguments))
            return value;
    return std::nullopt;
}

void ParsedFormula::keep_value(std::vector<ArgumentType> arguments,
                               const Result& value) {
    std::lock_guard lock(mutex_);
    if (values_.size() >= most_values)
        values_.clear();
    values_.emplace_back(std::move(arguments), value);
}

} // namespace tilefold
