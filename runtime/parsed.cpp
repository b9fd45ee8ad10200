// runtime/parsed.cpp - names to roles, signatures to kernels.

#include "runtime/parsed.h"

#include "compiler/roles.h"

#include <algorithm>
#include <mutex>

namespace tilefold {

void Signature::add(int name, std::optional<Axes> declared, DType dtype,
                    std::uint8_t rank, std::int32_t rows,
                    std::int32_t columns) {
    std::uint64_t role = declared ? std::uint64_t(*declared) + 1 : 0;
    words_.push_back(std::uint64_t(name) << 32 | role << 16 |
                     std::uint64_t(dtype) << 8 | rank);
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

Parsed::Parsed(ast::Formula tree, std::mutex& mutex)
    : tree_(std::move(tree)), free_names_(tilefold::free_names(tree_)),
      mutex_(mutex) {
    for (const NameUse& use : names_read(tree_))
        names_.push_back(
            {use.name.name, use.name.axes, use.name.span, use.is_constant});
}

int Parsed::find_name(std::string_view spelling) const {
    auto matches = [](std::string_view spelled) {
        return [spelled](const Name& name) { return name.name == spelled; };
    };
    auto found = std::ranges::find_if(names_, matches(spelling));
    // Nearly always the name is passed as it is stored.
    if (found == names_.end())
        found = std::ranges::find_if(names_, matches(normalise_name(spelling)));
    return found == names_.end() ? -1 : int(found - names_.begin());
}

PreparedPointer Parsed::find(const Signature& signature) const {
    std::lock_guard lock(mutex_);
    auto found = prepared_.find(signature);
    return found == prepared_.end() ? nullptr : found->second;
}

void Parsed::keep(const Signature& signature, PreparedPointer prepared) {
    std::lock_guard lock(mutex_);
    if (prepared_.size() >= most_signatures)
        prepared_.clear();
    prepared_.insert_or_assign(signature, std::move(prepared));
}

} // namespace tilefold
