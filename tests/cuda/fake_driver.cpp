// tests/cuda/fake_driver.cpp - the entry points of libcuda, on the host: memory
// is the host's, and a module is a library of kernels that HostModule made.
//
// What is queued on a stream that the driver made waits until somebody waits
// for it, and no other stream's work is done before it has to be: what relies
// on an order that no event enforces goes wrong. Other streams work at once,
// but for those that are captured: their work is the graph's, which may be
// launched more than once, and reads the host's memory each time.

#include "tests/cuda/fake_driver.h"
#include "compiler/backends/cuda/image/call.h"
#include "compiler/backends/cuda/image/gather.h"
#include "tests/cuda/fake_graph.h"
#include "tests/cuda/fake_image.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

using fake::graph, fake::is_forbidden, fake::mutex;

namespace {

constexpr int success = 0, invalid = 1, out_of_memory = 2, deinitialised = 4,
              no_device = 100, no_binary = 209, invalid_image = 200,
              not_found = 500, invalid_handle = 400, launch_failed = 719,
              capture_unsupported = 900, capture_implicit = 906;

struct FakeModule {
    void* library;
    std::string prefix;
};

std::map<std::uint64_t, std::size_t>& sizes() {
    static std::map<std::uint64_t, std::size_t> all;
    return all;
}

struct FakeStream {
    std::vector<std::function<int()>> queued;
    std::size_t done = 0;
    int status = success;

    int finish(std::size_t count) {
        while (done < count) {
            const std::function<int()> work = std::move(queued[done++]);
            if (const int failed = work())
                status = failed;
        }
        return status;
    }
};
std::set<void*>& streams() {
    static std::set<void*> all;
    return all;
}
std::set<const void*>& pinned() {
    static std::set<const void*> all;
    return all;
}
bool is_pinned(const void* address) {
    const auto next = pinned().upper_bound(address);
    // Blocks are large: what lies behind the beginning of one is in it.
    return next != pinned().begin() &&
           static_cast<const char*>(address) -
                   static_cast<const char*>(*std::prev(next)) <
               (8 << 20);
}
bool is_captured(void* stream);

/// Now, when the stream is waited for, or when its graph is launched.
int queue(void* stream, std::function<int()> work) {
    if (is_captured(stream)) {
        graph().nodes.push_back(std::move(work));
        return success;
    }
    if (!streams().contains(stream))
        return work();
    static_cast<FakeStream*>(stream)->queued.push_back(std::move(work));
    return success;
}

struct FakeEvent {
    double milliseconds = 0;
    FakeStream* stream = nullptr; ///< null: not queued
    std::size_t count = 0;        ///< of what is done by then
    int finish() const {
        return streams().contains(stream) ? stream->finish(count) : success;
    }
};

} // namespace

extern "C" {

FakeDriver tilefold_fake_driver;

} // extern "C"

namespace {

bool is_captured(void* stream) {
    return tilefold_fake_driver.captures && stream &&
           !streams().contains(stream);
}

void free_memory(std::uint64_t pointer) {
    auto* memory = reinterpret_cast<void*>(pointer);
    tilefold_fake_driver.used -= (long long)sizes()[pointer];
    std::memset(memory, 0xff, sizes()[pointer]);
    sizes().erase(pointer);
    std::free(memory);
}

/// Bytes of a kernel's one argument, by function: a call unless it says so.
std::map<const void*, std::size_t>& argument_bytes() {
    static std::map<const void*, std::size_t> all;
    return all;
}

} // namespace

extern "C" {

/// A number of FakeDriver by its name; null where there is none.
static long long* number_of(const char* name) {
    FakeDriver& driver = tilefold_fake_driver;
    const std::map<std::string, long long*> numbers = {
        {"version", &driver.version},
        {"devices", &driver.devices},
        {"capability", &driver.capability},
        {"memory", &driver.memory},
        {"order", &driver.order},
        {"used", &driver.used},
        {"launches", &driver.launches},
        {"loads", &driver.loads},
        {"waits", &driver.waits},
        {"initialised", &driver.initialised},
        {"refuses_images", &driver.refuses_images},
        {"invalid_images", &driver.invalid_images},
        {"refuses_pinned", &driver.refuses_pinned},
        {"skips", &driver.skips},
        {"pinned", &driver.pinned},
        {"captures", &driver.captures},
        {"kernels_not_found", &driver.kernels_not_found},
        {"refused", &driver.refused},
        {"kept", &driver.kept},
    };
    const auto found = numbers.find(name);
    return found == numbers.end() ? nullptr : found->second;
}
/// For Python: 0 where there is no such number.
int tilefold_fake_set(const char* name, long long value) {
    long long* number = number_of(name);
    return number ? (*number = value, 1) : 0;
}
long long tilefold_fake_get(const char* name) {
    const long long* number = number_of(name);
    return number ? *number : -1;
}
long long tilefold_fake_stream() {
    return reinterpret_cast<long long>(tilefold_fake_driver.stream);
}
void tilefold_fake_reset() {
    const long long used = tilefold_fake_driver.used;
    const long long pinned = tilefold_fake_driver.pinned;
    const long long kept = tilefold_fake_driver.kept;
    tilefold_fake_driver = FakeDriver();
    tilefold_fake_driver.used = used;
    tilefold_fake_driver.pinned = pinned;
    tilefold_fake_driver.kept = kept;
}

/// A library of the host, by a file of its own: the linker takes two of one
/// name for the same.
static int load_image(FakeModule** module, const FakeImage* image) {
    const char* bytes = reinterpret_cast<const char*>(image + 1);
    const int number = std::atoi(image->architecture + 3);
    if (FakeImage::sum_of(bytes, image->size) != image->sum)
        return invalid_image;
    if (number / 10 != tilefold_fake_driver.capability / 10)
        return no_binary;
    char name[] = "/tmp/fake-cuda-XXXXXX";
    const int file = mkstemp(name);
    const bool written =
        write(file, bytes, image->size) == ssize_t(image->size);
    close(file);
    void* library = written ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(name);
    if (!library)
        return invalid_image;
    *module = new FakeModule{library, "run_"};
    return success;
}

int cuInit(unsigned) {
    ++tilefold_fake_driver.initialised;
    return tilefold_fake_driver.devices ? success : no_device;
}
int cuDriverGetVersion(int* version) {
    *version = int(tilefold_fake_driver.version);
    return success;
}
int cuDeviceGetCount(int* count) {
    *count = int(tilefold_fake_driver.devices);
    return success;
}
int cuGetErrorString(int status, const char** text) {
    *text = status == invalid_image ? "device kernel image is invalid"
            : status == no_binary
                ? "no kernel image is available for execution on the device"
                : "unspecified launch failure";
    return success;
}
int cuDeviceGet(int* device, int number) {
    *device = number;
    return number < tilefold_fake_driver.devices ? success : invalid;
}
int cuDeviceGetAttribute(int* value, int which, int) {
    const int capability = int(tilefold_fake_driver.capability);
    *value = which == 75 ? capability / 10 : which == 76 ? capability % 10 : 2;
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
    LOCKED;
    if (tilefold_fake_driver.gone)
        return deinitialised;
    ++tilefold_fake_driver.contexts;
    return context == &tilefold_fake_driver ? success : invalid;
}
int cuCtxPopCurrent(void** context) {
    LOCKED;
    --tilefold_fake_driver.contexts;
    *context = &tilefold_fake_driver;
    return success;
}
int cuModuleLoadData(FakeModule** module, const void* image) {
    LOCKED;
    if (is_forbidden())
        return capture_unsupported;
    if (tilefold_fake_driver.refuses_images)
        return no_binary;
    if (tilefold_fake_driver.invalid_images > 0) {
        --tilefold_fake_driver.invalid_images;
        return invalid_image;
    }
    ++tilefold_fake_driver.loads;
    if (static_cast<const FakeImage*>(image)->is_right())
        return load_image(module, static_cast<const FakeImage*>(image));
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
    LOCKED;
    *function = dlsym(module->library, (module->prefix + name).c_str());
    if (!*function) {
        ++tilefold_fake_driver.kernels_not_found;
        return not_found;
    }
    if (std::strcmp(name, "gather") == 0)
        argument_bytes()[*function] = sizeof(tilefold::cuda::GatherCall);
    return success;
}
int cuFuncSetAttribute(void*, int attribute, int bytes) {
    constexpr int most_dynamic_shared = 8;
    if (attribute != most_dynamic_shared ||
        bytes > tilefold_fake_driver.most_shared)
        return invalid;
    tilefold_fake_driver.shared = bytes;
    return success;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int,
                                                std::size_t) {
    *blocks = 2;
    return success;
}
int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned,
                   unsigned, unsigned, unsigned shared, void* stream,
                   void** arguments, void**) {
    LOCKED;
    FakeDriver& driver = tilefold_fake_driver;
    ++driver.launches;
    driver.stream = stream;
    if (x > driver.largest_grid)
        driver.largest_grid = x;
    constexpr unsigned most_in_x = 0x7fffffff, most = 65535;
    if (driver.contexts < 1 || int(shared) > driver.shared)
        return invalid;
    if (x == 0 || y == 0 || z == 0 || x > most_in_x || y > most || z > most)
        return invalid;
    if (driver.skips)
        return success;
    using Grid = unsigned[3];
    auto* run =
        reinterpret_cast<int (*)(const void*, const Grid*, int)>(function);
    const auto launch = [run, x, y, z](const void* argument) {
        const Grid grid = {x, y, z};
        return run(argument, &grid, int(tilefold_fake_driver.order))
                   ? launch_failed
                   : success;
    };
    if (!streams().contains(stream) && !is_captured(stream))
        return launch(arguments[0]);
    const auto found = argument_bytes().find(function);
    const std::size_t bytes = found == argument_bytes().end()
                                  ? sizeof(tilefold::cuda::Call)
                                  : found->second;
    const auto* first = static_cast<const char*>(arguments[0]);
    return queue(stream, [launch, call = std::vector(first, first + bytes)] {
        return launch(call.data());
    });
}
int cuMemPoolCreate(void** pool, const void*) {
    if (is_forbidden())
        return capture_unsupported;
    *pool = &tilefold_fake_driver;
    return success;
}
int cuMemPoolSetAttribute(void*, int, void*) {
    return success;
}
int cuMemPoolDestroy(void*) {
    return success;
}
/// The number of a stream that no context of the driver has.
constexpr std::uintptr_t stream_of_another = 666;

int cuMemAllocFromPoolAsync(std::uint64_t* pointer, std::size_t bytes, void*,
                            void* stream) {
    LOCKED;
    FakeDriver& driver = tilefold_fake_driver;
    if (reinterpret_cast<std::uintptr_t>(stream) == stream_of_another)
        return invalid_handle;
    if (driver.used + (long long)bytes > driver.memory)
        return out_of_memory;
    void* memory = std::malloc(bytes);
    std::memset(memory, 0xff, bytes);
    *pointer = reinterpret_cast<std::uint64_t>(memory);
    sizes()[*pointer] = bytes;
    driver.used += (long long)bytes;
    return success;
}
int cuMemFreeAsync(std::uint64_t pointer, void* stream) {
    LOCKED;
    if (is_captured(stream)) {
        graph().at_end.push_back([pointer] { free_memory(pointer); });
        return queue(stream, [pointer] {
            std::memset(reinterpret_cast<void*>(pointer), 0xff,
                        sizes()[pointer]);
            return success;
        });
    }
    return queue(stream, [pointer] {
        free_memory(pointer);
        return success;
    });
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
    LOCKED;
    if (is_forbidden())
        return capture_unsupported;
    if (tilefold_fake_driver.refuses_pinned)
        return out_of_memory;
    *memory = std::malloc(bytes);
    pinned().insert(*memory);
    ++tilefold_fake_driver.pinned;
    return success;
}
int cuMemFreeHost(void* memory) {
    LOCKED;
    pinned().erase(memory);
    --tilefold_fake_driver.pinned;
    std::free(memory);
    return success;
}
/// Pinned memory is read when its turn comes, and so is what a graph copies;
/// other memory at once.
int cuMemcpyHtoDAsync(std::uint64_t to, const void* from, std::size_t bytes,
                      void* stream) {
    LOCKED;
    auto* memory = reinterpret_cast<void*>(to);
    if (is_pinned(from) || is_captured(stream))
        return queue(stream, [memory, from, bytes] {
            std::memcpy(memory, from, bytes);
            return success;
        });
    const auto* first = static_cast<const char*>(from);
    return queue(stream, [memory, read = std::vector(first, first + bytes)] {
        std::memcpy(memory, read.data(), read.size());
        return success;
    });
}
int cuMemcpyDtoHAsync(void* to, std::uint64_t from, std::size_t bytes,
                      void* stream) {
    LOCKED;
    if (!is_pinned(to))
        return invalid;
    return queue(stream, [to, from, bytes] {
        std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
        return success;
    });
}
int cuStreamCreate(void** stream, unsigned) {
    LOCKED;
    *stream = new FakeStream;
    streams().insert(*stream);
    return success;
}
int cuStreamDestroy(void* stream) {
    LOCKED;
    auto* queued = static_cast<FakeStream*>(stream);
    queued->finish(queued->queued.size());
    streams().erase(stream);
    delete queued;
    return success;
}
int cuEventCreate(FakeEvent** event, unsigned) {
    *event = new FakeEvent;
    return success;
}
int cuEventRecord(FakeEvent* event, void* stream) {
    LOCKED;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    event->milliseconds =
        std::chrono::duration<double, std::milli>(now).count();
    if (streams().contains(stream)) {
        event->stream = static_cast<FakeStream*>(stream);
        event->count = event->stream->queued.size();
    }
    return success;
}
int cuEventSynchronize(const FakeEvent* event) {
    LOCKED;
    return event->finish();
}
int cuEventElapsedTime(float* milliseconds, const FakeEvent* begin,
                       const FakeEvent* end) {
    *milliseconds = float(end->milliseconds - begin->milliseconds);
    return success;
}
int cuEventDestroy(FakeEvent* event) {
    delete event;
    return success;
}
int cuStreamWaitEvent(void* stream, const FakeEvent* event, unsigned) {
    LOCKED;
    ++tilefold_fake_driver.waits;
    return queue(stream, [now = *event] { return now.finish(); });
}
int cuStreamSynchronize(void* stream) {
    LOCKED;
    ++tilefold_fake_driver.waits;
    if (is_captured(stream)) {
        ++tilefold_fake_driver.refused;
        return capture_unsupported;
    }
    if (!streams().contains(stream))
        return success;
    auto* queued = static_cast<FakeStream*>(stream);
    return queued->finish(queued->queued.size());
}

/// In the form that a driver of CUDA 12.0 gives out.
int cuStreamGetCaptureInfo(void* stream, int* status, std::uint64_t*, void** of,
                           const void**, std::size_t*) {
    LOCKED;
    if (!stream && tilefold_fake_driver.captures)
        return capture_implicit;
    *status = is_captured(stream);
    if (*status)
        *of = &graph();
    return success;
}

// What programs call by these names, without cuGetProcAddress.
int cuDeviceGetName(char* name, int size, int) {
    std::strncpy(name, "a fake card", std::size_t(size));
    return success;
}
int cuCtxPushCurrent_v2(void* context) {
    return cuCtxPushCurrent(context);
}
int cuCtxPopCurrent_v2(void** context) {
    return cuCtxPopCurrent(context);
}
int cuCtxSynchronize() {
    return success;
}
int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
    return cuMemAllocFromPoolAsync(pointer, bytes, nullptr, nullptr);
}
int cuMemFree_v2(std::uint64_t pointer) {
    return cuMemFreeAsync(pointer, nullptr);
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
    return cuMemcpyHtoDAsync(to, from, bytes, nullptr);
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return success;
}
int cuEventDestroy_v2(FakeEvent* event) {
    return cuEventDestroy(event);
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
