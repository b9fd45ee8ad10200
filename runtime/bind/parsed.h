// runtime/bind/parsed.h - a formula as a Session keeps it: its tree, the roles
// of its names, and the kernels found for the signatures met so far.
#pragma once

#include "compiler/pipeline.h"
#include "runtime/cache/cache.h"
#include "runtime/core/view.h"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
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
    void add(int name, std::optional<Axes> declared, DType dtype,
             std::uint8_t rank, std::int32_t rows, std::int32_t columns);
    /// Where arrays are, and how many devices compute.
    void add_location(const Location& location, std::size_t devices) {
        words_.push_back(std::uint64_t(devices) << 40 |
                         std::uint64_t(location.kind) << 32 |
                         std::uint32_t(location.number));
    }
    void add_mode(Mode mode, const Purpose& purpose, bool tuned) {
        words_.push_back(
            std::uint64_t(purpose.adjoin) << 41 |
            std::uint64_t(purpose.one_component) << 40 |
            std::uint64_t(tuned) << 32 | std::uint64_t(mode) << 24 |
            std::uint64_t(purpose.axis) << 16 |
            std::uint64_t(purpose.most_i) << 8 | std::uint64_t(purpose.most_j));
    }
    std::size_t hash() const;
    friend bool operator==(const Signature&, const Signature&) = default;

private:
    boost::container::small_vector<std::uint64_t, 17> words_;
};

struct PreparedSweeps;

/// An argument that is an index of a table: `index`, its place in the call.
struct IndexedTable {
    std::int32_t index = 0;
    std::string table;       ///< its name, or what it is
    std::int64_t length = 0; ///< indices are below it
    std::string of;          ///< what has this length: "row" …
};

/// A program and its kernel, for one signature; or the sweeps it takes.
struct Prepared {
    /// Set where one kernel does not do: then the rest is empty.
    std::shared_ptr<const PreparedSweeps> sweeps;
    Program program;
    /// The host's, or one for each device that computes.
    KernelPointer kernel;
    std::vector<DeviceKernelPointer> device_kernels;
    const void* const* functions = nullptr; ///< null unless the kernel asks
    /// Parameters, by place in the call, that would be taken for an array on
    /// i or j if they had as many components as that has rows.
    std::vector<std::int32_t> ambiguous_parameters;
    /// Arguments, by place in the call, that are indices of a table.
    std::vector<IndexedTable> indices;
};
using PreparedPointer = std::shared_ptr<const Prepared>;

/// Kernels that run one after the other; see compiler/sweeps.h.
struct PreparedSweeps {
    std::vector<PreparedPointer> kernels;
    std::vector<std::vector<SweepPart>> parts; ///< by kernel
    std::vector<ResultPlace> results;
    std::vector<std::string> labels; ///< of the results; see DerivedGraph
    std::vector<Type> types;         ///< of the results
};

/// What a formula reads under a name.
struct Name {
    std::string name; ///< normalised
    Axes axes = Axes::None;
    Span span;
    bool is_constant = false;          ///< pi or inf: need not be passed
    std::optional<SeedRole> seed = {}; ///< of a cotangent or tangent
};

/// Thread-safe; `mutex` is the session's, so that fork() has one to hold.
class Parsed {
public:
    Parsed(ast::Formula tree, Derivation derivation, std::mutex& mutex);

    const std::string& text() const { return tree_.text; }
    const ast::Formula& tree() const { return tree_; }
    const Derivation& derivation() const { return derivation_; }
    /// What is read, cotangents and tangents last.
    const std::vector<FreeName>& free_names() const { return free_names_; }
    const std::vector<Name>& names() const { return names_; }

    /// Number in names() of an argument passed as `spelling`, or -1.
    int find_name(std::string_view spelling) const;
    PreparedPointer find(const Signature& signature) const;
    void keep(const Signature& signature, PreparedPointer prepared);
    /// The formula differentiated once more: kept, so that its kernels are.
    std::shared_ptr<Parsed> derived(const DerivationStep& step);

private:
    /// Signatures kept; beyond (a loop over widths, say) all are dropped.
    static constexpr std::size_t most_signatures = 256;
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
    std::unordered_map<Signature, PreparedPointer, SignatureHash> prepared_;
    std::vector<std::pair<DerivationStep, std::shared_ptr<Parsed>>> derived_;
};

} // namespace tilefold
