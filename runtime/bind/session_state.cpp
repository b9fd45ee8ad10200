// runtime/bind/session_state.cpp - a Session's parts, and what happens to them
// around fork().

#include "runtime/bind/session_state.h"

#include "compiler/language/vocabulary.h"
#include "runtime/core/limits.h"
#include "runtime/cpu/environment.h"
#include "runtime/cpu/isa.h"

#include <algorithm>
#include <mutex>

namespace tilefold::detail {

CpuOptions CallSettings::cpu_options() const {
    CpuOptions how{.isa = cpu::isa_named(*options.isa),
                   .tolerance = *options.tolerance};
    if (options.plan)
        how.plan = parse_plan(*options.plan);
    return how;
}

SessionState::SessionState(const Options& given)
    : options(resolve(given)), pool(*options.threads), provider(options, pool),
      devices(options),
      settings_(std::make_shared<CallSettings>(CallSettings{options})) {
    enlist();
}

SessionState::~SessionState() {
    dismiss();
}

SettingsPointer SessionState::settings_of(const Options& given) {
    if (given == options)
        return settings_;
    const auto is_given = [&](const auto& known) {
        return known.first == given;
    };
    {
        std::lock_guard lock(mutex_);
        const auto known = std::ranges::find_if(settings_of_calls_, is_given);
        if (known != settings_of_calls_.end())
            return known->second;
    }
    const Options resolved = resolve(given);
    std::lock_guard lock(mutex_);
    if (settings_of_calls_.size() >= most_settings)
        settings_of_calls_.clear();
    auto made = std::make_shared<CallSettings>(
        CallSettings{resolved, next_settings_++});
    settings_of_calls_.emplace_back(given, made);
    return made;
}

std::shared_ptr<ParsedFormula> SessionState::parsed(std::string_view text) {
    std::string key(text);
    {
        std::lock_guard lock(mutex_);
        if (auto found = formulas_.find(key); found != formulas_.end())
            return found->second;
    }
    if (*options.untrusted)
        limits::require("the formula", std::int64_t(text.size()),
                        limits::formula_bytes, " bytes");
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
