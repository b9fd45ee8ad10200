# examples/c/gaussian.jl - a sum of Gaussians at points, from Julia. An array
# (D, N) of Julia is (N, D) in the order of C: nothing is copied.
#
#     LD_LIBRARY_PATH=… julia gaussian.jl

using Printf

const library = "libtilefold.so.1"

struct DLTensor
    data::Ptr{Cvoid}
    device_type::Int32
    device_id::Int32
    ndim::Int32
    code::UInt8 # 2: a float
    bits::UInt8
    lanes::UInt16
    shape::Ptr{Int64}
    strides::Ptr{Int64}
    byte_offset::UInt64
end

struct DLManagedTensor
    major::UInt32
    minor::UInt32
    manager_ctx::Ptr{Cvoid}
    deleter::Ptr{Cvoid}
    flags::UInt64
    tensor::DLTensor
end

struct Argument
    name::Cstring
    array::Ptr{DLTensor}
    number::Float64
    axes::Int32
    reserved::Int32
end

struct TilefoldError <: Exception
    code::String
    message::String
end

function check(error::Ptr{Cvoid})
    error == C_NULL && return
    text(name) = unsafe_string(
        name == :code ?
        ccall((:tilefold_error_code, library), Cstring, (Ptr{Cvoid},), error) :
        ccall((:tilefold_error_message, library), Cstring, (Ptr{Cvoid},), error),
    )
    copy = TilefoldError(text(:code), text(:message))
    ccall((:tilefold_error_free, library), Cvoid, (Ptr{Cvoid},), error)
    throw(copy)
end

mutable struct Session
    handle::Ptr{Cvoid}
    function Session()
        out = Ref{Ptr{Cvoid}}(C_NULL)
        check(ccall((:tilefold_session_create, library), Ptr{Cvoid},
            (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), C_NULL, out))
        finalizer(new(out[])) do session
            ccall((:tilefold_session_free, library), Cvoid, (Ptr{Cvoid},),
                session.handle)
        end
    end
end

"The result, float64, of a formula of float64 arrays."
function reduce(session::Session, text::String, arrays::Pair{String}...)
    names = [name for (name, _) in arrays]
    data = [array isa Number ? fill(Float64(array)) : array
            for (_, array) in arrays]
    shapes = [collect(Int64, reverse(size(array))) for array in data]
    GC.@preserve names data shapes begin
        tensors = [
            DLTensor(pointer(array), 1, 0, ndims(array), 2, 64, 1,
                pointer(shape), C_NULL, 0)
            for (array, shape) in zip(data, shapes)
        ]
        arguments = [
            Argument(Base.unsafe_convert(Cstring, names[k]),
                pointer(tensors, k), 0, -1, 0) for k in eachindex(tensors)
        ]
        out = Ref{Ptr{DLManagedTensor}}(C_NULL)
        check(ccall((:tilefold_reduce, library), Ptr{Cvoid},
            (Ptr{Cvoid}, Cstring, Ptr{Argument}, Int64, Ptr{Cvoid},
                Ptr{Ptr{DLManagedTensor}}),
            session.handle, text, arguments, length(arguments), C_NULL, out))
        tensor = unsafe_load(out[]).tensor
        shape = unsafe_wrap(Array, tensor.shape, tensor.ndim)
        result = copy(unsafe_wrap(Array, Ptr{Float64}(tensor.data),
            Tuple(reverse(shape))))
        ccall((:tilefold_tensor_free, library), Cvoid,
            (Ptr{DLManagedTensor},), out[])
        result
    end
end

x = [(i + 2d) / 4 for d in 0:1, i in 0:3]
y = [(2j - d) / 5 for d in 0:1, j in 0:4]
b = [1.0 + j for j in 0:4]

session = Session()
a = reduce(session, "sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j",
    "x" => x, "y" => y, "b" => b, "l" => 0.5)
for (i, value) in enumerate(a)
    @printf("a[%d] = %.6f\n", i - 1, value)
end

# A mistake is an exception, whose code does not change with versions.
try
    reduce(session, "sum_j expp(x_i - y_j)", "x" => x, "y" => y)
catch error
    println("error: ", error.code)
end
