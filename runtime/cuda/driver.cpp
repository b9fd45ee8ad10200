// runtime/cuda/driver.cpp - opens libcuda and asks it for its entry points.

#include "runtime/cuda/driver.h"

#include "formulas/diagnostic.h"

namespace tilefold::cuda {
namespace {

/// "12.4" of 12040
std::string spelled(int version) {
    return std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10);
}

} // namespace

Driver::Driver(const std::string& library) {
    library_ = SharedLibrary::open(library);
    if (!library_)
        fail(tilefold::Code::DriverMissing, {library});
    decltype(&cuInit) init = nullptr;
    decltype(&cuDriverGetVersion) get_version = nullptr;
    decltype(&cuDeviceGetCount) count = nullptr;
    if (!library_.find("cuInit", init) ||
        !library_.find("cuDriverGetVersion", get_version) ||
        !library_.find("cuDeviceGetCount", count))
        fail(tilefold::Code::DriverMissing, {library});
    get_version(&version_);
    if (version_ < oldest_version)
        fail(tilefold::Code::DriverTooOld,
             {spelled(version_), spelled(oldest_version)});
    library_.find("cuGetErrorString", error_string_);
    if (init(0) != CUDA_SUCCESS || count(&devices_) != CUDA_SUCCESS ||
        devices_ == 0)
        fail(tilefold::Code::NoDevice, {});
    find_entries();
}

/// Asks cuGetProcAddress, which knows the newest form of each name that a
/// driver of the oldest version has.
void Driver::find_entries() {
    decltype(&cuGetProcAddress) get = nullptr;
    library_.find("cuGetProcAddress_v2", get);
    const auto find = [&](const char* name, auto*& entry) {
        void* found = nullptr;
        CUdriverProcAddressQueryResult status{};
        if (!get ||
            get(name, &found, oldest_version, 0, &status) != CUDA_SUCCESS ||
            !found)
            fail(tilefold::Code::DriverTooOld,
                 {spelled(version_) + " without " + name,
                  spelled(oldest_version)});
        entry =
            reinterpret_cast<std::remove_reference_t<decltype(entry)>>(found);
    };
#define TILEFOLD_DRIVER_ENTRY(name) find(#name, name);
    TILEFOLD_DRIVER_FUNCTIONS(TILEFOLD_DRIVER_ENTRY)
#undef TILEFOLD_DRIVER_ENTRY
    find("cuStreamGetCaptureInfo", stream_capture_info);
}

std::string Driver::spelled_version() const {
    return spelled(version_);
}

std::string Driver::text_of(CUresult status) const {
    const char* text = nullptr;
    if (error_string_ && error_string_(status, &text) == CUDA_SUCCESS && text)
        return text;
    return "error " + std::to_string(status);
}

void Driver::check(CUresult status, const char* what) const {
    if (status != CUDA_SUCCESS)
        fail(tilefold::Code::DeviceFailed, {what, text_of(status)});
}

} // namespace tilefold::cuda
