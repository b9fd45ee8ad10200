// runtime/cuda/shared_library.h - a library opened when it is needed, and its
// functions by name.
#pragma once

#include <string>

namespace tilefold::cuda {

/// An open library; it stays open as long as the process runs.
class SharedLibrary {
public:
    /// Opens a path or a bare name; with `loaded`, only what is open already.
    static SharedLibrary open(const std::string& path, bool loaded = false);

    explicit operator bool() const { return handle_ != nullptr; }
    const std::string& path() const { return path_; }

    /// Sets `function` to what `name` is, or null.
    template <class Function>
    bool find(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(symbol(name));
        return function != nullptr;
    }

private:
    void* symbol(const char* name) const;

    void* handle_ = nullptr;
    std::string path_;
};

} // namespace tilefold::cuda
