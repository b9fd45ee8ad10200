// tests/cuda/host_compiler.cpp - emitted CUDA C++ as a library for the host.
//
// The compiler stands in the folder and is told relative names, and linking is
// a command of its own: so ccache knows a source again wherever the checkout
// and the folder are.

#include "tests/cuda/host_compiler.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tilefold::tests {
namespace {

// Local variables that nobody has set are no number either.
constexpr const char* compile_command = TILEFOLD_HOST_COMPILER
    " -std=c++17 -O1 -fno-strict-aliasing -w -fPIC -fvisibility=default"
    " -ftrivial-auto-var-init=pattern -c -o kernels.o kernels.cpp 2> log";
constexpr const char* link_command =
    TILEFOLD_HOST_LINKER " -shared -o kernels.so kernels.o 2>> log";

std::string text_of(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

} // namespace

std::filesystem::path make_folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "tilefold-XXXXXX").string();
    if (!mkdtemp(name.data()))
        throw std::runtime_error("no temporary folder");
    return name;
}

bool compile_for_host(const std::filesystem::path& folder,
                      const std::string& source, std::string& log) {
    std::filesystem::copy_file(TILEFOLD_SHIM, folder / "shim.h");
    std::ofstream(folder / "kernels.cpp") << source;
    const std::string commands = "cd '" + folder.string() + "' && " +
                                 compile_command + " && " + link_command;
    const bool is_compiled = std::system(commands.c_str()) == 0;
    log = text_of(folder / "log");
    return is_compiled;
}

} // namespace tilefold::tests
