// tests/cuda/fake_driver.cpp - the entry points of libcuda, on the host: memory
// is the host's, and a module is a library of kernels that HostModule made.

#include "tests/cuda/fake_driver.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include <dlfcn.h>

namespace {

constexpr int success = 0, invalid = 1, out_of_memory = 2, no_device = 100,
              no_binary = 209, not_found = 500, launch_failed = 719;

struct FakeModule {
    void* library;
    std::string prefix;
};

std::map<std::uint64_t, std::size_t>& sizes() {
    static std::map<std::uint64_t, std::size_t> all;
    return all;
}

} // namespace

extern "C" {

FakeDriver tilefold_fake_driver;

int cuInit(unsigned) {
    return tilefold_fake_driver.devices ? success : no_device;
}
int cuDriverGetVersion(int* version) {
    *version = tilefold_fake_driver.version;
    return success;
}
int cuDeviceGetCount(int* count) {
    *count = tilefold_fake_driver.devices;
    return success;
}
int cuGetErrorString(int status, const char** text) {
    *text = status == no_binary
                ? "no kernel image is available for execution on the device"
                : "unspecified launch failure";
    return success;
}
int cuDeviceGet(int* device, int number) {
    *device = number;
    return number < tilefold_fake_driver.devices ? success : invalid;
}
int cuDeviceGetAttribute(int* value, int which, int) {
    *value = which == 75   ? tilefold_fake_driver.capability / 10
             : which == 76 ? tilefold_fake_driver.capability % 10
                           : 2;
    return success;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    *context = &tilefold_fake_driver;
    return success;
}
int cuDevicePrimaryCtxRelease(int) {
    return success;
}
int cuCtxPushCurrent(void* context) {
    ++tilefold_fake_driver.contexts;
    return context == &tilefold_fake_driver ? success : invalid;
}
int cuCtxPopCurrent(void** context) {
    --tilefold_fake_driver.contexts;
    *context = &tilefold_fake_driver;
    return success;
}
int cuModuleLoadData(FakeModule** module, const void* image) {
    if (tilefold_fake_driver.refuses_images)
        return no_binary;
    const std::string text(static_cast<const char*>(image));
    const std::size_t space = text.find(' ');
    void* library = dlopen(text.substr(0, space).c_str(), RTLD_NOW);
    if (!library)
        return invalid;
    *module = new FakeModule{library, "run_" + text.substr(space + 1)};
    return success;
}
int cuModuleUnload(FakeModule* module) {
    dlclose(module->library);
    delete module;
    return success;
}
int cuModuleGetFunction(void** function, FakeModule* module, const char* name) {
    *function = dlsym(module->library, (module->prefix + name).c_str());
    return *function ? success : not_found;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int,
                                                std::size_t) {
    *blocks = 2;
    return success;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned,
                   unsigned, unsigned, unsigned, unsigned, void* stream,
                   void** arguments, void**) {
    FakeDriver& driver = tilefold_fake_driver;
    ++driver.launches;
    driver.stream = stream;
    if (blocks > driver.largest_grid)
        driver.largest_grid = blocks;
    if (driver.contexts != 1)
        return invalid;
    auto* run = reinterpret_cast<int (*)(const void*, unsigned, int)>(function);
    return run(arguments[0], blocks, driver.order) ? launch_failed : success;
}
int cuMemAllocAsync(std::uint64_t* pointer, std::size_t bytes, void*) {
    FakeDriver& driver = tilefold_fake_driver;
    if (driver.used + bytes > driver.memory)
        return out_of_memory;
    void* memory = std::malloc(bytes);
    std::memset(memory, 0xff, bytes);
    *pointer = reinterpret_cast<std::uint64_t>(memory);
    sizes()[*pointer] = bytes;
    driver.used += bytes;
    return success;
}
int cuMemFreeAsync(std::uint64_t pointer, void*) {
    tilefold_fake_driver.used -= sizes()[pointer];
    sizes().erase(pointer);
    std::free(reinterpret_cast<void*>(pointer));
    return success;
}
int cuMemcpyHtoDAsync(std::uint64_t to, const void* from, std::size_t bytes,
                      void*) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return success;
}
int cuGetProcAddress_v2(const char* name, void** entry, int, std::uint64_t,
                        int*) {
    *entry = std::strcmp(name, tilefold_fake_driver.missing)
                 ? dlsym(RTLD_DEFAULT, name)
                 : nullptr;
    if (!*entry && std::strcmp(name, tilefold_fake_driver.missing)) {
        Dl_info here{};
        dladdr(&tilefold_fake_driver, &here);
        *entry = dlsym(dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD), name);
    }
    return *entry ? success : not_found;
}

} // extern "C"
