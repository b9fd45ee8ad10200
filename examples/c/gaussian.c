/* examples/c/gaussian.c - a sum of Gaussians at points, from C99.
 *
 *     cc gaussian.c $(pkg-config --cflags --libs tilefold) -o gaussian
 */
#include <tilefold/tilefold.h>

#include <stdio.h>

enum { N = 4, M = 5, D = 2 };

/* Prints an error, and frees it; 1 where there was one. */
static int failed(tilefold_error* error) {
    if (!error)
        return 0;
    fprintf(stderr, "%s\n", tilefold_error_message(error));
    tilefold_error_free(error);
    return 1;
}

/* An array of float64 in the order of C. */
static DLTensor array_of(double* data, int32_t axes, int64_t* shape) {
    DLTensor array = {0};
    array.data = data;
    array.device.device_type = kDLCPU;
    array.ndim = axes;
    array.dtype.code = kDLFloat;
    array.dtype.bits = 64;
    array.dtype.lanes = 1;
    array.shape = shape;
    return array;
}

int main(void) {
    double x[N][D], y[M][D], b[M];
    int64_t x_shape[] = {N, D}, y_shape[] = {M, D};
    const DLTensor x_array = array_of(&x[0][0], 2, x_shape);
    const DLTensor y_array = array_of(&y[0][0], 2, y_shape);
    const DLTensor b_array = array_of(b, 1, y_shape);
    const tilefold_argument arguments[] = {
        TILEFOLD_ARRAY("x", &x_array), TILEFOLD_ARRAY("y", &y_array),
        TILEFOLD_ARRAY("b", &b_array), TILEFOLD_NUMBER("l", 0.5)};
    tilefold_session* session = NULL;
    DLManagedTensorVersioned* a = NULL;
    tilefold_error* error;

    for (int i = 0; i < N; ++i)
        for (int d = 0; d < D; ++d)
            x[i][d] = (i + 2 * d) / 4.0;
    for (int j = 0; j < M; ++j) {
        b[j] = 1 + j;
        for (int d = 0; d < D; ++d)
            y[j][d] = (2 * j - d) / 5.0;
    }

    if (failed(tilefold_session_create(NULL, &session)))
        return 1;
    if (failed(tilefold_reduce(session,
                               "sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j",
                               arguments, 4, NULL, &a))) {
        tilefold_session_free(session);
        return 1;
    }
    for (int i = 0; i < N; ++i)
        printf("a[%d] = %.6f\n", i, ((double*)a->dl_tensor.data)[i]);
    tilefold_tensor_free(a);

    /* A mistake is an error, whose code does not change with versions. */
    error = tilefold_reduce(session, "sum_j expp(x_i - y_j)", arguments, 2,
                            NULL, &a);
    printf("error: %s\n", tilefold_error_code(error));
    tilefold_error_free(error);
    tilefold_session_free(session);
    return 0;
}
