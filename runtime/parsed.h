// runtime/parsed.h - a formula as a Session keeps it: its tree, the roles of
// its names, and the kernels found for the signatures met so far.
#pragma once

#include "compiler/pipeline.h"
#include "runtime/cache.h"
#include "runtime/view.h"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilefold {

/// Everything of the arguments that a program depends on, in the order
/// given: role, dtype and shape of a point's value. No text.
class Signature {
public:
    void add(int name, std::optional<Axes> declared, DType dtype,
             std::uint8_t rank, std::int32_t rows, std::int32_t columns);
    void add_mode(Mode mode) { words_.push_back(std::uint64_t(mode)); }
    std::size_t hash() const;
    friend bool operator==(const Signature&, const Signature&) = default;

private:
    boost::container::small_vector<std::uint64_t, 17> words_;
};

/// A program and its kernel, for one signature.
struct Prepared {
    Program program;
    KernelPointer kernel;
    const void* const* functions = nullptr; ///< null unless the kernel asks
    /// Parameters, by place in the call, that would be taken for an array on
    /// i or j if they had as many components as that has rows.
    std::vector<std::int32_t> ambiguous_parameters;
};
using PreparedPointer = std::shared_ptr<const Prepared>;

/// What a formula reads under a name.
struct Name {
    std::string name; ///< normalised
    Axes axes = Axes::None;
    Span span;
    bool is_constant = false; ///< pi or inf: need not be passed
};

/// Thread-safe; `mutex` is the session's, so that fork() has one to hold.
class Parsed {
public:
    Parsed(ast::Formula tree, std::mutex& mutex);

    const std::string& text() const { return tree_.text; }
    const ast::Formula& tree() const { return tree_; }
    const std::vector<FreeName>& free_names() const { return free_names_; }
    const std::vector<Name>& names() const { return names_; }

    /// Number in names() of an argument passed as `spelling`, or -1.
    int find_name(std::string_view spelling) const;
    PreparedPointer find(const Signature& signature) const;
    void keep(const Signature& signature, PreparedPointer prepared);

private:
    /// Signatures kept; beyond (a loop over widths, say) all are dropped.
    static constexpr std::size_t most_signatures = 256;
    struct SignatureHash {
        std::size_t operator()(const Signature& s) const { return s.hash(); }
    };

    ast::Formula tree_;
    std::vector<FreeName> free_names_;
    std::vector<Name> names_;
    std::mutex& mutex_;
    std::unordered_map<Signature, PreparedPointer, SignatureHash> prepared_;
};

} // namespace tilefold
