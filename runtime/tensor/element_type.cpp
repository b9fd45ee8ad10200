// runtime/tensor/element_type.cpp - see element_type.h.

#include "runtime/tensor/element_type.h"

namespace tilefold {
namespace {

constexpr DType every_dtype[] = {
#define DTYPE(name, spelling, bytes, kind) DType::name,
#include "compiler/ir/dtypes.def"
#undef DTYPE
};

std::uint8_t code_of(DType dtype) {
    switch (kind_of(dtype)) {
    case DTypeKind::Float:
        return dtype == DType::BF16 ? kDLBfloat : kDLFloat;
    case DTypeKind::Signed:
        return kDLInt;
    case DTypeKind::Unsigned:
        return kDLUInt;
    case DTypeKind::Truth:
        return kDLBool;
    }
    return 255;
}

} // namespace

bool read_element_type(DLDataType type, DType& dtype, bool& is_complex) {
    is_complex = type.code == kDLComplex && type.bits >= 64;
    if (is_complex) {
        dtype = type.bits == 64 ? DType::F32 : DType::F64;
        return type.lanes == 1 && type.bits == element_type(dtype, true).bits;
    }
    for (DType candidate : every_dtype) {
        const DLDataType known = element_type(candidate);
        if (known.code == type.code && known.bits == type.bits &&
            type.lanes == 1) {
            dtype = candidate;
            return true;
        }
    }
    return false;
}

DLDataType element_type(DType dtype, bool is_complex) {
    return {is_complex ? std::uint8_t(kDLComplex) : code_of(dtype),
            std::uint8_t(8 * size_of(dtype) * (is_complex ? 2 : 1)), 1};
}

} // namespace tilefold
