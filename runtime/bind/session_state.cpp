// runtime/bind/session_state.cpp - a Session's parts, and what happens to them
// around fork().

#include "runtime/bind/session_state.h"

#include "compiler/language/vocabulary.h"
#include "runtime/cpu/environment.h"

#include <mutex>

namespace tilefold::detail {

SessionState::SessionState(const Options& given)
    : options(resolve(given)), pool(*options.threads), provider(options, pool),
      devices(options) {
    enlist();
}

SessionState::~SessionState() {
    dismiss();
}

CompileOptions SessionState::compile_options() const {
    return {*options.isa, options.plan, {}, *options.tolerance};
}

CompileOptions SessionState::device_compile_options() const {
    return {.isa = *options.isa};
}

std::shared_ptr<ParsedFormula> SessionState::parsed(std::string_view text) {
    std::string key(text);
    {
        std::lock_guard lock(mutex_);
        if (auto found = formulas_.find(key); found != formulas_.end())
            return found->second;
    }
    ForkGate::Pass inside(making);
    auto parsed = std::make_shared<ParsedFormula>(parse_or_resolve(text),
                                                  Derivation{}, mutex_);
    std::lock_guard lock(mutex_);
    if (formulas_.size() >= most_formulas)
        formulas_.clear();
    return formulas_.try_emplace(std::move(key), std::move(parsed))
        .first->second;
}

void SessionState::before_fork() {
    making.close();
    provider.lock();
    mutex_.lock();
}

void SessionState::after_fork(bool in_child) {
    mutex_.unlock();
    provider.unlock();
    making.open();
    if (in_child)
        pool.renew_in_child();
}

} // namespace tilefold::detail
