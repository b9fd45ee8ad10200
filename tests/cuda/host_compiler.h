// tests/cuda/host_compiler.h - emitted CUDA C++ as a library for the host.
#pragma once

#include <filesystem>
#include <string>

namespace tilefold::tests {

/// A new folder of this process; throws std::runtime_error.
std::filesystem::path make_folder();

/// Compiles `source`, which includes "shim.h", to kernels.so in `folder`.
/// False where the compiler refuses it; its messages are in `log`.
bool compile_for_host(const std::filesystem::path& folder,
                      const std::string& source, std::string& log);

} // namespace tilefold::tests
