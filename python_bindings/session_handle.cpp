// python_bindings/session_handle.cpp - see session_handle.h.
#include "python_bindings/session_handle.h"

#include <sstream>

namespace tilefold::python {

namespace {

/// `settings` where they are set, `base` elsewhere.
Options merged(Options base, const Options& settings) {
    if (settings.threads)
        base.threads = settings.threads;
    if (settings.cache_directory)
        base.cache_directory = settings.cache_directory;
    if (settings.cache_size)
        base.cache_size = settings.cache_size;
    if (settings.isa)
        base.isa = settings.isa;
    if (settings.log)
        base.log = settings.log;
    if (settings.plan)
        base.plan = settings.plan;
    return base;
}

/// One line that equal options share.
std::string print(const Options& options) {
    std::ostringstream text;
    text << options.threads.value_or(0) << '\n'
         << options.cache_directory.value_or("\1") << '\n'
         << options.cache_size.value_or(-1) << '\n'
         << (options.isa ? spelling_of(*options.isa) : "") << '\n'
         << (options.log ? int(*options.log) : -1) << '\n'
         << (options.plan ? tilefold::print(*options.plan) : "");
    return text.str();
}

} // namespace

bool OptionsHandle::changes_session() const {
    return options.threads || options.cache_directory || options.cache_size ||
           options.isa || options.log || options.plan;
}

SessionHandle::SessionHandle(const OptionsHandle& settings)
    : session_(std::make_shared<Session>(settings.options)),
      progress_(settings.progress) {}

std::shared_ptr<const Session>
SessionHandle::with(const OptionsHandle& settings) {
    if (!settings.changes_session())
        return session_;
    Options options = merged(session_->options(), settings.options);
    std::string name = print(options);
    std::lock_guard lock(mutex_);
    if (variants_.size() >= most_variants && !variants_.contains(name))
        variants_.clear();
    std::shared_ptr<const Session>& variant = variants_[name];
    if (!variant)
        variant = std::make_shared<Session>(options);
    return variant;
}

std::shared_ptr<SessionHandle> default_session() {
    static std::mutex mutex;
    static auto* session = new std::shared_ptr<SessionHandle>;
    std::lock_guard lock(mutex);
    if (!*session)
        *session = std::make_shared<SessionHandle>(OptionsHandle{});
    return *session;
}

} // namespace tilefold::python
