// runtime/bind/parsed_formula.h - a formula as a Session keeps it: its tree,
// the roles of its names, and the kernels found for the signatures met so far.
#pragma once

#include "compiler/pipeline.h"
#include "runtime/bind/bind_shapes.h"
#include "runtime/bind/executable.h"
#include "runtime/core/view.h"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilefold {

/// Everything of the arguments that a program depends on, in the order
/// given: role, dtype and shape of a point's value; and what the sizes are
/// worth, tuning included. No text.
class Signature {
public:
    void add(int name, Part part, std::optional<Axes> declared, DType dtype,
             std::uint8_t rank, std::int32_t rows, std::int32_t columns);
    /// CallSettings::number.
    void add_settings(int number) { words_.push_back(std::uint64_t(number)); }
    /// Adds where arrays are, and how many devices compute.
    void add_location(const Location& location, std::size_t devices) {
        words_.push_back(std::uint64_t(devices) << 40 |
                         std::uint64_t(location.kind) << 32 |
                         std::uint32_t(location.number));
    }
    void add_mode(Mode mode, const Specialization& purpose, bool tuned) {
        words_.push_back(
            std::uint64_t(purpose.contiguous) << 41 |
            std::uint64_t(purpose.one_component) << 40 |
            std::uint64_t(tuned) << 32 | std::uint64_t(mode) << 24 |
            std::uint64_t(purpose.axis) << 16 |
            std::uint64_t(purpose.most_i) << 8 | std::uint64_t(purpose.most_j));
    }
    std::size_t hash() const;
    friend bool operator==(const Signature&, const Signature&) = default;

private:
    boost::container::small_vector<std::uint64_t, 18> words_;
};

/// What a formula reads under a name.
struct Name {
    std::string name; ///< normalised
    Axes axes = Axes::None;
    Span span;
    bool is_table = false;             ///< as FreeName has it
    bool is_constant = false;          ///< pi or inf: need not be passed
    std::optional<SeedRole> seed = {}; ///< of a cotangent or tangent
};

/// Thread-safe; `mutex` is the session's, so that fork() has one to hold.
class ParsedFormula {
public:
    ParsedFormula(ast::Formula tree, Derivation derivation, std::mutex& mutex);

    const std::string& text() const { return tree_.text; }
    const ast::Formula& tree() const { return tree_; }
    const Derivation& derivation() const { return derivation_; }
    /// What is read, cotangents and tangents last.
    const std::vector<FreeName>& free_names() const { return free_names_; }
    const std::vector<Name>& names() const { return names_; }

    /// Number in names() of an argument passed as `spelling`, or -1.
    int find_name(std::string_view spelling) const;
    /// The role of a cotangent or tangent; null otherwise. `name`: its number,
    /// or -1.
    const SeedRole* seed_of(int name, Part part) const;
    /// How an argument is read: on no axis what the formula does not have, of
    /// which the compiler complains.
    ArgumentRole role_of(int name, const NamedView& argument) const;
    ArgumentRole role_of(const NamedView& argument) const {
        return role_of(find_name(argument.name), argument);
    }
    ExecutablePointer find(const Signature& signature) const;
    void keep(const Signature& signature, ExecutablePointer executable);
    /// The type of a value of arguments of these types, of a formula without a
    /// reduction.
    std::optional<Result>
    find_value(std::span<const ArgumentType> arguments) const;
    void keep_value(std::vector<ArgumentType> arguments, const Result& value);
    /// The formula differentiated once more: kept, so that its kernels are.
    std::shared_ptr<ParsedFormula> derived(const DerivationStep& step);

private:
    /// Signatures kept; beyond (a loop over widths, say) all are dropped.
    static constexpr std::size_t most_signatures = 256;
    /// Types of values kept: those of a kernel's arguments, which rarely
    /// change.
    static constexpr std::size_t most_values = 8;
    struct SignatureHash {
        std::size_t operator()(const Signature& s) const { return s.hash(); }
    };

    void add_seeds();
    void add_seed(const SeedRole& seed, Axes own);
    std::string joined_names() const;

    ast::Formula tree_;
    Derivation derivation_;
    std::vector<FreeName> free_names_;
    std::vector<Name> names_;
    std::mutex& mutex_;
    std::unordered_map<Signature, ExecutablePointer, SignatureHash>
        executables_;
    std::vector<std::pair<DerivationStep, std::shared_ptr<ParsedFormula>>>
        derived_;
    std::vector<std::pair<std::vector<ArgumentType>, Result>> values_;
};

} // namespace tilefold
