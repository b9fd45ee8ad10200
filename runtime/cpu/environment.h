// runtime/cpu/environment.h - settings of a Session from what the caller gave,
// the environment and the machine. The only reader of environment variables.
#pragma once

#include "runtime/core/options.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// Options whose texts are checked, each spelled as tilefold spells it. Throws
/// UnknownTarget, BadPlan or BadOption for an instruction set, a plan or
/// devices that are none.
Options normalised(Options given);

/// Every field set but `plan` and `nvrtc`. Throws as normalised() does, and
/// BadOption or UnknownTarget, naming the variable where one is to blame;
/// UnsupportedTarget where this machine runs no instruction set. One that it
/// does not run can be explained.
Options resolve(const Options& given);

/// The numbers in Options::devices, in their order, each once; or every_device
/// alone. Throws Error(BadOption).
std::vector<int> parse_devices(std::string_view text);
inline constexpr int every_device = -1;

/// Threads of a session that sets none: TILEFOLD_NUM_THREADS; else
/// OMP_NUM_THREADS, which a parent of several processes sets to the share of
/// each, but no more than system::usable_processors(). Throws Error(BadOption).
int default_threads();

/// TILEFOLD_PERF_MAP=1: loaded kernels are listed for `perf`.
bool perf_map_wanted();

/// TILEFOLD_LLVM: the path of the library that compiles; nothing where it is
/// unset or empty.
std::optional<std::string> llvm_library();

/// The folders in which CONDA_PREFIX, CUDA_HOME and CUDA_PATH have libraries.
std::vector<std::string> library_folders();

} // namespace tilefold
