// tests/numerics/emulator.cpp - one process of qemu-user a run.

#include "tests/numerics/emulator.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

namespace tilefold::test {
namespace {

// Both are empty where CMake did not find them.
constexpr const char* qemu = TILEFOLD_QEMU;
constexpr const char* driver = TILEFOLD_EMULATED_DRIVER;

/// Removed at the end.
class File {
public:
    explicit File(const char* kind)
        : path(std::filesystem::temp_directory_path() /
               ("tilefold-" + std::to_string(getpid()) + "-" + kind)) {}
    ~File() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    const std::filesystem::path path;
};

template <class T> void write(std::ofstream& to, const T& value) {
    to.write(reinterpret_cast<const char*>(&value), sizeof value);
}

} // namespace

std::string emulator_missing() {
    if (!*qemu)
        return "qemu-aarch64 was not found; scripts/setup --tests installs it";
    if (!*driver)
        return "aarch64-linux-gnu-g++ was not found; scripts/setup --tests "
               "installs it";
    return {};
}

void emulate(EmulatedRun run, const EmulatedBytes& bytes, char* out) {
    const File input("run"), output("results");
    run.operands = std::int64_t(bytes.operands.size());
    run.code = std::int64_t(bytes.code.size());
    run.literals = std::int64_t(bytes.literals.size() / sizeof(double));
    {
        std::ofstream to(input.path, std::ios::binary);
        write(to, run);
        for (const EmulatedOperand& operand : bytes.operands)
            write(to, operand);
        to << bytes.code << bytes.literals << bytes.arrays;
    }
    const std::string command = std::string(qemu) + " " + driver + " " +
                                input.path.string() + " " +
                                output.path.string();
    const int status = std::system(command.c_str());
    if (status != 0)
        throw std::runtime_error(command + ": status " +
                                 std::to_string(status));
    std::ifstream from(output.path, std::ios::binary);
    if (!from.read(out, run.out))
        throw std::runtime_error(command + ": too few results");
}

} // namespace tilefold::test
