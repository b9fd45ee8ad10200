// python_bindings/gil.h - the GIL given up for long work, and taken back.
//
// A daemon thread may be at work when the interpreter ends. Python ends such a
// thread where it next asks for the GIL, before 3.14 by pthread_exit(), which
// unwinds its stack like an exception: through functions that may not throw,
// which aborts the process, and by handlers that swallow it, which does, too.
// Here it stops where it asks, for good, and the process ends without it.
#pragma once

#include <nanobind/nanobind.h>

#include <dlfcn.h>
#include <unistd.h>

namespace tilefold::python {

/// Ends what the calling thread does: the interpreter is no more.
[[noreturn]] inline void stop_for_good() {
    for (;;)
        pause();
}

/// take(), which takes the GIL and throws nothing: what comes here is the
/// thread's end, which has no name on every system.
template <class Take> auto take_or_stop(const Take& take) noexcept {
    try {
        return take();
    } catch (...) {
        stop_for_good();
    }
}

/// While one lives, the thread is without the GIL.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    ~WithoutGil() {
        take_or_stop([this] { PyEval_RestoreThread(state_); });
    }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

private:
    PyThreadState* state_;
};

/// While one lives, a thread that is without the GIL has it again. (By the
/// thread's own state: to ask whether the interpreter is there, and then for a
/// new one, would be a race.)
class GilAgain {
public:
    GilAgain() {
        PyThreadState* state = PyGILState_GetThisThreadState();
        if (!state)
            stop_for_good();
        take_or_stop([state] { PyEval_RestoreThread(state); });
    }
    ~GilAgain() { PyEval_SaveThread(); }
    GilAgain(const GilAgain&) = delete;
    GilAgain& operator=(const GilAgain&) = delete;
};

/// Whether the calling thread has the GIL, be it the one that ends the
/// interpreter. (Once that is done, no thread has a state, and
/// PyGILState_Check() is true. Every Python has that function, but its stable
/// ABI does not.)
inline bool has_gil() {
    static const auto check =
        reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    return PyGILState_GetThisThreadState() && check && check();
}

/// While one lives, any thread has the GIL, whether it had it or not. False
/// where there is no interpreter to have it of.
class AnyGil {
public:
    AnyGil() : had_it_(has_gil()), is_taken_(!had_it_ && Py_IsInitialized()) {
        if (is_taken_)
            state_ = take_or_stop([] { return PyGILState_Ensure(); });
    }
    ~AnyGil() {
        if (is_taken_)
            PyGILState_Release(state_);
    }
    AnyGil(const AnyGil&) = delete;
    AnyGil& operator=(const AnyGil&) = delete;
    explicit operator bool() const { return had_it_ || is_taken_; }

private:
    const bool had_it_, is_taken_;
    PyGILState_STATE state_{};
};

} // namespace tilefold::python
