// command/npy.h - NumPy's files of one array, .npy of any version.
#pragma once

#include <tilefold/tilefold.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilefold::command {

/// An array that owns its elements.
struct OwnedArray {
    DLDataType type{};
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides; ///< in elements; empty: those of C
    std::vector<std::byte> bytes;

    std::int64_t size() const;
    Array view() const { return {bytes.data(), type, shape, strides}; }
};

/// "float32" as a type. Throws std::invalid_argument for what no array may be.
DLDataType type_named(const std::string& name);
/// As NumPy has it: "float32".
std::string name_of(DLDataType type);

/// Throws std::runtime_error, which names the file and what is wrong.
OwnedArray read_npy(const std::string& path);
void write_npy(const std::string& path, const Tensor& array);

} // namespace tilefold::command
