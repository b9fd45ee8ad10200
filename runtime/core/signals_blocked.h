// runtime/core/signals_blocked.h - new threads that no signal is meant for.
#pragma once

#include <csignal>
#include <initializer_list>

namespace tilefold {

/// While one lives, signals sent to the process are not for this thread, nor
/// for those it starts: they are for the program's own threads. Faults stay
/// with the thread that caused them.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t blocked;
        sigfillset(&blocked);
        for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
            sigdelset(&blocked, fault);
        pthread_sigmask(SIG_BLOCK, &blocked, &saved_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t saved_;
};

} // namespace tilefold
