// runtime/cuda/parameters.cpp - see parameters.h.

#include "runtime/cuda/parameters.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

namespace tilefold::cuda {

Parameters::Parameters(const Device& device, std::size_t numbers,
                       std::size_t constants, std::size_t offsets,
                       CUstream stream)
    : device_(device), constants_(padded(numbers)),
      offsets_(constants_ + padded(constants)), has_offsets_(offsets > 0),
      memory_(std::make_unique<StreamMemory>(device, offsets_ + offsets, stream,
                                             "the parameters")) {}

Parameters::~Parameters() {
    device_.give_back([&] { memory_.reset(); });
}

char* Parameters::data() const {
    return memory_->data();
}

double* Parameters::constants() const {
    return reinterpret_cast<double*>(data() + constants_);
}

long long* Parameters::offsets() const {
    return has_offsets_ ? reinterpret_cast<long long*>(data() + offsets_)
                        : nullptr;
}

namespace {

constexpr std::size_t most_kept = 4096;
constexpr std::int64_t most_batches = 1 << 16;

std::int64_t batches_of(const Job& job) {
    return std::accumulate(std::begin(job.batch), std::end(job.batch),
                           std::int64_t(1), std::multiplies<>());
}

/// A parameter has no stride from point to point.
bool is_on_device(const DeviceOperand& operand) {
    return operand.stride == 0 && operand.host_bytes == 0;
}

template <class T> void append(std::string& key, const T& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

} // namespace

std::string ParameterCache::key_of(const Job& job, const Numbers& numbers,
                                   CUstream stream) {
    std::string key;
    const std::int64_t batches = batches_of(job);
    if (stream || (numbers.bytes().empty() && batches == 1) ||
        numbers.bytes().size() > most_kept || batches > most_batches ||
        std::ranges::any_of(job.operands, is_on_device))
        return key;
    key.assign(numbers.bytes().begin(), numbers.bytes().end());
    append(key, job.batch);
    append(key, job.width);
    append(key, job.out_batch);
    for (const DeviceOperand& operand : job.operands) {
        append(key, operand.batch);
        append(key, operand.host_bytes);
        if (operand.host_bytes == 0)
            continue;
        append(key, operand.host_before);
        append(key, operand.component);
        append(key, operand.column);
    }
    return key;
}

std::shared_ptr<const Parameters> ParameterCache::find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return key == key_ ? parameters_ : nullptr;
}

void ParameterCache::keep(std::string key,
                          std::shared_ptr<const Parameters> parameters) {
    const std::lock_guard lock(mutex_);
    key_ = std::move(key);
    std::swap(parameters_, parameters); // the old ones go after the lock
}

} // namespace tilefold::cuda
