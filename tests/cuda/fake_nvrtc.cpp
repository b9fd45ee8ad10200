// tests/cuda/fake_nvrtc.cpp - the entry points of NVRTC, on the host: sources
// are compiled with the host's compiler against shim.h, to an image that the
// fake driver loads.

#include "tests/cuda/fake_image.h"
#include "tests/cuda/host_compiler.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int success = 0, compilation_failed = 6;

struct Program {
    std::string source, log, image;
};

std::vector<std::string> kernels_of(const std::string& source) {
    // The last name before a parameter list that follows __global__.
    const std::regex head(
        R"(__global__[^{;]*?(\w+)\(const __grid_constant__ (\w+))");
    std::vector<std::string> kernels;
    for (std::sregex_iterator at(source.begin(), source.end(), head), end;
         at != end; ++at) {
        kernels.push_back((*at)[1]);
        kernels.push_back((*at)[2]);
    }
    return kernels;
}

/// The source, and for each kernel a C function that runs it.
void write_source(std::ostream& out, const std::string& source) {
    const bool shares =
        source.find("DYNAMIC_SHARED(Shared") != std::string::npos;
    out << "#include \"shim.h\"\n"
        << "#undef __shared__\n#define __shared__ static "
           "__attribute__((used, section(\"kernelshared\")))\n";
    if (shares)
        out << "extern \"C\" char __start_kernelshared[], "
               "__stop_kernelshared[];\n";
    const std::string start = shares ? "__start_kernelshared" : "nullptr";
    const std::string stop = shares ? "__stop_kernelshared" : "nullptr";
    out << "namespace kernels {\n" << source << "\n";
    const std::vector<std::string> names = kernels_of(source);
    for (std::size_t k = 0; k + 1 < names.size(); k += 2)
        out << "extern \"C\" int run_" << names[k]
            << "(const void* call, const unsigned (*grid)[3], int order) {\n"
            << "    return tilefold_shim::launch(threads, *grid, order, "
            << start << ", " << stop << ", [](const void* to) { " << names[k]
            << "(*static_cast<const " << names[k + 1]
            << "*>(to)); }, call);\n}\n";
    out << "}\n";
}

std::string text_of(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::string image_of(const std::string& library,
                     const std::string& architecture) {
    FakeImage header;
    std::memcpy(header.magic, FakeImage::right_magic, sizeof header.magic);
    std::snprintf(header.architecture, sizeof header.architecture, "%s",
                  architecture.c_str());
    header.size = library.size();
    header.sum = FakeImage::sum_of(library.data(), library.size());
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
           library;
}

/// What ptxas would say of each kernel.
std::string resources_of(const Program& program,
                         const std::string& architecture) {
    std::string log;
    const std::vector<std::string> names = kernels_of(program.source);
    for (std::size_t k = 0; k + 1 < names.size(); k += 2)
        log += "ptxas info    : Compiling entry function '" + names[k] +
               "' for '" + architecture +
               "'\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes "
               "spill loads\nptxas info    : Used 40 registers, used 1 "
               "barriers, 2048 bytes smem\n";
    return log;
}

} // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 99; // its images are never taken for those of a real one
    return success;
}
int nvrtcGetNumSupportedArchs(int* count) {
    *count = 4;
    return success;
}
int nvrtcGetSupportedArchs(int* architectures) {
    for (const int each : {80, 90, 100, 120})
        *architectures++ = each;
    return success;
}
int nvrtcCreateProgram(Program** program, const char* source, const char*, int,
                       const char* const*, const char* const*) {
    *program = new Program{source, {}, {}};
    return success;
}
int nvrtcDestroyProgram(Program** program) {
    delete *program;
    *program = nullptr;
    return success;
}
int nvrtcCompileProgram(Program* program, int count,
                        const char* const* options) {
    std::string architecture;
    for (const std::string option : std::vector(options, options + count))
        if (option.starts_with("--gpu-architecture="))
            architecture = option.substr(option.find('=') + 1);
    const std::filesystem::path folder = tilefold::tests::make_folder();
    std::ostringstream source;
    write_source(source, program->source);
    const bool compiled =
        tilefold::tests::compile_for_host(folder, source.str(), program->log);
    if (compiled) {
        program->image = image_of(text_of(folder / "kernels.so"), architecture);
        program->log = resources_of(*program, architecture);
    }
    std::filesystem::remove_all(folder);
    return compiled ? success : compilation_failed;
}
int nvrtcGetProgramLogSize(const Program* program, std::size_t* size) {
    *size = program->log.size();
    return success;
}
int nvrtcGetProgramLog(const Program* program, char* log) {
    std::memcpy(log, program->log.data(), program->log.size());
    return success;
}
int nvrtcGetCUBINSize(const Program* program, std::size_t* size) {
    *size = program->image.size();
    return success;
}
int nvrtcGetCUBIN(const Program* program, char* image) {
    std::memcpy(image, program->image.data(), program->image.size());
    return success;
}
int nvrtcGetPTXSize(const Program* program, std::size_t* size) {
    return nvrtcGetCUBINSize(program, size);
}
int nvrtcGetPTX(const Program* program, char* image) {
    return nvrtcGetCUBIN(program, image);
}

} // extern "C"
