// tests/runtime/child.h - a piece of a test in a process of its own.
#pragma once

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace tilefold::test {

/// Exit code of the child; -signal where it was killed.
inline int wait_for(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// What `work` returns in a child, by its exit code; a child that hangs is
/// killed after 30 s.
template <class Work> int in_child(Work work) {
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        int code = 99;
        try {
            code = work();
        } catch (...) {
        }
        _exit(code);
    }
    return wait_for(child);
}

} // namespace tilefold::test
