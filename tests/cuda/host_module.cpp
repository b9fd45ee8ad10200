// tests/cuda/host_module.cpp - emitted kernels, compiled for the host.

#include "tests/cuda/host_module.h"

#include "tests/cuda/host_compiler.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include <dlfcn.h>

namespace tilefold::tests {
namespace {

std::string prefix_of(std::size_t number) {
    return "k" + std::to_string(number) + "_";
}

std::vector<std::string> kernels_of(const cuda::Emitted& emitted) {
    std::vector<std::string> names = {"prepare"};
    if (emitted.shape.reduces)
        names.insert(names.end(), {"accumulate", "finish"});
    else
        names.insert(names.end(), {"zip", "dense"});
    if (emitted.shape.folds_rows)
        names.push_back("merge_states");
    return names;
}

/// A source in a namespace of its own. Entries are C functions, whose names a
/// namespace does not part, and have a section for their shared memory.
void write_kernels(std::ostream& out, std::size_t number,
                   const HostKernels& source) {
    const std::string prefix = prefix_of(number);
    const std::string section = prefix + "shared";
    const bool shares = source.emitted.shape.reduces;
    out << "#undef __shared__\n#define __shared__ static "
           "__attribute__((used, section(\""
        << section << "\")))\n";
    if (shares)
        out << "extern \"C\" char __start_" << section << "[], __stop_"
            << section << "[];\n";
    for (const std::string& kernel : kernels_of(source.emitted))
        out << "#define " << kernel << " " << prefix << kernel << "\n";
    out << "namespace " << prefix << "space {\n"
        << source.emitted.source.frame << source.emitted.source.formula
        << source.emitted.source.tasks << source.emitted.source.loops
        << source.emitted.source.ends;
    for (const std::string& kernel : kernels_of(source.emitted)) {
        const bool is_shared = shares && kernel == "accumulate";
        const std::string start =
            is_shared ? "__start_" + section : std::string("nullptr");
        const std::string stop =
            is_shared ? "__stop_" + section : std::string("nullptr");
        out << "extern \"C\" int run_" << prefix << kernel
            << "(const void* call, const unsigned (*grid)[3], int order) {\n"
            << "    return tilefold_shim::launch(threads, *grid, order, "
            << start << ", " << stop << ", [](const void* to) {\n        "
            << kernel << "(*static_cast<const Call*>(to));\n    }, call);\n}\n";
    }
    out << "}\n";
    for (const std::string& kernel : kernels_of(source.emitted))
        out << "#undef " << kernel << "\n";
}

} // namespace

HostModule::HostModule(const std::vector<HostKernels>& sources) {
    folder_ = make_folder().string();
    std::ostringstream out;
    out << "#include \"shim.h\"\n" << cuda::all_functions();
    for (std::size_t k = 0; k < sources.size(); ++k)
        write_kernels(out, k, sources[k]);
    if (std::string log; !compile_for_host(folder_, out.str(), log))
        throw std::runtime_error(log);
    library_ = dlopen((folder_ + "/kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_)
        throw std::runtime_error(dlerror());
}

HostModule::~HostModule() {
    if (library_)
        dlclose(library_);
    if (!std::getenv("TILEFOLD_KEEP_KERNELS"))
        std::filesystem::remove_all(folder_);
}

std::string HostModule::image_of(std::size_t number) const {
    return folder_ + "/kernels.so " + prefix_of(number);
}

bool HostModule::run(std::size_t number, const std::string& kernel,
                     const cuda::Call& call, const Blocks& blocks,
                     int order) const {
    const std::string name = "run_" + prefix_of(number) + kernel;
    using Run = int(const void*, const unsigned*, int);
    auto* run = reinterpret_cast<Run*>(dlsym(library_, name.c_str()));
    if (!run)
        throw std::runtime_error("no kernel " + name);
    return run(&call, blocks.data(), order) == 0;
}

} // namespace tilefold::tests
