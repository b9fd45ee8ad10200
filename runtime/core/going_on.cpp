// runtime/core/going_on.cpp - asks now and then whether to go on.

#include "runtime/core/going_on.h"

#include "formulas/diagnostic.h"

namespace tilefold {

void GoingOn::look() {
    steps_ = 0;
    if (!goes_on_ || Clock::now() < due_)
        return;
    if (!goes_on_())
        fail(Code::Cancelled, {"a part"});
    due_ = Clock::now() + interval;
}

} // namespace tilefold
