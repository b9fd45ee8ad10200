// runtime/cuda/parameters.h - the numbers of a call on a device, and what
// kernels make of them.
#pragma once

#include "runtime/cuda/device.h"
#include "runtime/cuda/numbers.h"

#include <memory>
#include <mutex>
#include <string>

namespace tilefold::cuda {

/// Numbers, as `Numbers` has them, and behind them what the kernel `prepare`
/// leaves there: constants, and the batches' offsets. Given back in the order
/// of the stream.
class Parameters {
public:
    /// Allocates so many bytes of each.
    Parameters(const Device& device, std::size_t numbers, std::size_t constants,
               std::size_t offsets, CUstream stream);
    ~Parameters();
    Parameters(const Parameters&) = delete;
    Parameters& operator=(const Parameters&) = delete;

    char* data() const;
    double* constants() const;
    long long* offsets() const; ///< null where there are none

private:
    const Device& device_;
    std::size_t constants_, offsets_; ///< where they begin
    bool has_offsets_;
    std::unique_ptr<StreamMemory> memory_;
};

/// The parameters of a module's last call on the default stream: a call of the
/// same numbers finds them there, which spares it a copy and a kernel. On the
/// default stream alone, since others may end before memory is given back in
/// their order. Thread-safe.
class ParameterCache {
public:
    /// What they are a function of; empty: they are not of the host's numbers
    /// and of strides alone, or too large to keep.
    static std::string key_of(const Job& job, const Numbers& numbers,
                              CUstream stream);

    /// Null where the last ones were others.
    std::shared_ptr<const Parameters> find(const std::string& key);
    void keep(std::string key, std::shared_ptr<const Parameters> parameters);

private:
    std::mutex mutex_;
    std::string key_;
    std::shared_ptr<const Parameters> parameters_;
};

} // namespace tilefold::cuda
