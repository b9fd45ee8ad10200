// runtime/cpu/thread_limit.h - the most threads that a call takes, whatever its
// session: what other libraries of the process set, as threadpoolctl does.
#pragma once

namespace tilefold {

/// At least 1; INT_MAX where nobody has set one.
int thread_limit();

/// Threads of a call in a session that says nothing of them.
int usual_threads();
/// From now on, a call of any session takes at most so many; 1 for less. A
/// number that is not below that of such a session lifts the limit.
void set_thread_limit(int threads);

} // namespace tilefold
