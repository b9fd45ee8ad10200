// compiler/backends/cuda/image/image_bytes.cpp - an image as bytes.

#include "compiler/artifact/container.h"
#include "compiler/backends/cuda/image/image.h"

namespace tilefold::cuda {
namespace {

// A field that is added to one of them is added below.
static_assert(sizeof(Shape) == 40 && sizeof(Plan) == 68);

template <class Shape, class Visit>
void visit_shape(Shape& shape, Visit visit) {
    visit("reduces", shape.reduces);
    visit("folds_rows", shape.folds_rows);
    visit("folds_blocks", shape.folds_blocks);
    visit("is_open", shape.is_open);
    visit("constants", shape.constants);
    visit("slots", shape.slots);
    visit("shared_bytes", shape.shared_bytes);
    visit("operands", shape.operands);
}

template <class Plan, class Visit> void visit_plan(Plan& plan, Visit visit) {
    visit("threads", plan.threads);
    visit("lanes", plan.lanes);
    visit("rows_per_thread", plan.rows_per_thread);
    visit("tile_columns", plan.tile_columns);
    visit("columns_unrolled", plan.columns_unrolled);
    visit("width_block", plan.width_block);
    visit("multiply", plan.multiply);
    visit("chunk", plan.chunk);
    visit("expands", plan.expands);
    visit("weight_parts", plan.weight_parts);
    visit("value_parts", plan.value_parts);
    visit("halves", plan.halves);
    visit("copies", plan.copies);
    visit("warp_tiles", plan.warp_tiles);
    visit("tiles_held", plan.tiles_held);
    visit("shared_bytes", plan.shared_bytes);
    visit("resident", plan.resident);
    visit("state_columns", plan.state_columns);
}

template <class Resources, class Visit>
void visit_resources(Resources& of, Visit visit) {
    visit("kernel", of.kernel);
    visit("registers", of.registers);
    visit("stack_bytes", of.stack_bytes);
    visit("spill_stores", of.spill_stores);
    visit("spill_loads", of.spill_loads);
    visit("shared_bytes", of.shared_bytes);
}

template <class Image, class Visit>
void visit_image(Image& image, Visit visit) {
    visit("is_ptx", image.is_ptx);
    visit("architecture", image.architecture);
    visit("compiler", image.compiler);
    visit("compile_milliseconds", image.compile_milliseconds);
}

auto writer_to(Fields& fields, const std::string& place) {
    return [&fields, place](const char* name, const auto& value) {
        fields.set(place + name, value);
    };
}

/// Returns what reads a field whose name begins with `place`; it throws
/// FieldError.
auto reader_of(const Fields& fields, const std::string& place) {
    return [&fields, place](const char* name, auto& value) {
        fields.get(place + name, value);
    };
}

/// Returns the name's beginning for one of several.
std::string numbered(const char* name, std::size_t number) {
    return name + std::to_string(number) + ".";
}

Fields header_of(const Image& image) {
    Fields header;
    visit_image(image, writer_to(header, ""));
    visit_shape(image.shape, writer_to(header, "shape."));
    visit_plan(image.plan, writer_to(header, "plan."));
    header.set("kernels", image.resources.size());
    for (std::size_t k = 0; k < image.resources.size(); ++k)
        visit_resources(image.resources[k],
                        writer_to(header, numbered("kernel", k)));
    header.set("codes", image.codes.size());
    for (std::size_t k = 0; k < image.codes.size(); ++k)
        header.set(numbered("code", k) + "size", image.codes[k].size());
    return header;
}

/// Returns false where the bytes are not as many as the header says.
bool read_codes(const Fields& header, std::span<const std::byte> bytes,
                Image& image) {
    std::size_t count = 0, size = 0;
    header.get("codes", count);
    for (std::size_t k = 0; k < count; ++k) {
        header.get(numbered("code", k) + "size", size);
        if (size == 0 || size > bytes.size())
            return false;
        const auto code = bytes.first(size);
        image.codes.emplace_back(code.begin(), code.end());
        bytes = bytes.subspan(size);
    }
    return bytes.empty() && !image.codes.empty();
}

void read_header(const Fields& header, Image& image) {
    visit_image(image, reader_of(header, ""));
    visit_shape(image.shape, reader_of(header, "shape."));
    visit_plan(image.plan, reader_of(header, "plan."));
    std::size_t count = 0;
    header.get("kernels", count);
    for (std::size_t k = 0; k < count; ++k)
        visit_resources(image.resources.emplace_back(),
                        reader_of(header, numbered("kernel", k)));
}

} // namespace

std::vector<std::byte> serialise(const Image& image) {
    std::vector<std::byte> codes;
    for (const auto& code : image.codes)
        codes.insert(codes.end(), code.begin(), code.end());
    return with_header(header_of(image), codes);
}

bool deserialise(std::span<const std::byte> bytes, Image& image) {
    const auto read = split_header(bytes);
    if (!read)
        return false;
    try {
        read_header(read->header, image);
        return read_codes(read->header, read->code, image);
    } catch (const FieldError&) {
        return false;
    }
}

} // namespace tilefold::cuda
