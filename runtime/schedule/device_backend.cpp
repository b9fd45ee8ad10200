// runtime/schedule/device_backend.cpp - where gathered elements go.

#include "runtime/schedule/device_backend.h"

namespace tilefold {

void write_to(StridedReduction& gathering, const Output& out, bool accumulate) {
    gathering.to = static_cast<char*>(out.data);
    gathering.to_dtype = out.dtype;
    gathering.accumulate = accumulate;
    for (std::size_t d = 0; d < out.shape.size(); ++d)
        gathering.written.push_back({out.shape[d], out.strides[d]});
}

} // namespace tilefold
