// compiler/artifact/signature.h - what of bytes only those can say who know a
// secret.
//
// BLAKE3 as a keyed function, by LLVM: J. O'Connor, J.-P. Aumasson, S. Neves
// and Z. Wilcox-O'Hearn, "BLAKE3: one function, fast everywhere", 2020,
// sections 2.3 and 6.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tilefold {

using KeyedHash = std::array<std::byte, 32>;

class SigningKey {
public:
    /// Follows from a secret of any length.
    explicit SigningKey(std::span<const std::byte> secret);

    KeyedHash sign(std::span<const std::byte> bytes) const;
    /// Takes as long wherever a signature is wrong, so that nobody finds one
    /// byte by byte.
    bool accepts(std::span<const std::byte> bytes,
                 const KeyedHash& signature) const;

private:
    std::array<std::uint8_t, 32> key_{};
};

} // namespace tilefold
