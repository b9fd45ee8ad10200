// runtime/core/fork.h - what must happen around fork(), for everything that
// holds locks or threads.
//
// A child has one thread, the one that forked, and the memory of all: a lock
// held by another thread stays locked for ever, and threads are gone. Hence:
//  1. Before the fork every guarded object locks what it has, so that
//     nothing is half done in the child.
//  2. After it, both sides unlock; the child replaces its threads.
#pragma once

namespace tilefold {

/// Derive, then enlist() once fully constructed and dismiss() before
/// anything is destroyed. The handlers are registered with the system by the
/// first enlist() of the process.
class ForkGuarded {
public:
    virtual void before_fork() = 0;
    virtual void after_fork(bool in_child) = 0;

protected:
    ~ForkGuarded() = default;
    void enlist();
    void dismiss();
};

} // namespace tilefold
