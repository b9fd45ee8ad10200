// runtime/cuda/shared_library.cpp - a library opened when it is needed.

#include "runtime/cuda/shared_library.h"

#include <dlfcn.h>

namespace tilefold::cuda {

SharedLibrary SharedLibrary::open(const std::string& path, bool loaded) {
    SharedLibrary library;
    library.path_ = path;
    library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL |
                                               (loaded ? RTLD_NOLOAD : 0));
    return library;
}

void* SharedLibrary::symbol(const char* name) const {
    return handle_ ? dlsym(handle_, name) : nullptr;
}

} // namespace tilefold::cuda
