// compiler/artifact/signature.cpp - signatures by BLAKE3.

#include "compiler/artifact/signature.h"

#include <llvm-c/blake3.h>

namespace tilefold {

namespace {

/// Keys of other uses of one secret are others.
constexpr const char* context = "tilefold 2026-11-28 signatures of kernels";

static_assert(sizeof(KeyedHash) == LLVM_BLAKE3_OUT_LEN);

} // namespace

SigningKey::SigningKey(std::span<const std::byte> secret) {
    static_assert(sizeof key_ == LLVM_BLAKE3_KEY_LEN);
    llvm_blake3_hasher hasher;
    llvm_blake3_hasher_init_derive_key(&hasher, context);
    llvm_blake3_hasher_update(&hasher, secret.data(), secret.size());
    llvm_blake3_hasher_finalize(&hasher, key_.data(), key_.size());
}

KeyedHash SigningKey::sign(std::span<const std::byte> bytes) const {
    llvm_blake3_hasher hasher;
    llvm_blake3_hasher_init_keyed(&hasher, key_.data());
    llvm_blake3_hasher_update(&hasher, bytes.data(), bytes.size());
    KeyedHash signature;
    llvm_blake3_hasher_finalize(
        &hasher, reinterpret_cast<std::uint8_t*>(signature.data()),
        signature.size());
    return signature;
}

bool SigningKey::accepts(std::span<const std::byte> bytes,
                         const KeyedHash& signature) const {
    const KeyedHash right = sign(bytes);
    std::byte differences{};
    for (std::size_t k = 0; k < right.size(); ++k)
        differences |= right[k] ^ signature[k];
    return differences == std::byte{};
}

} // namespace tilefold
