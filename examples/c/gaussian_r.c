/* examples/c/gaussian_r.c - what gaussian.R calls by .Call: one reduction of
 * numeric arrays. A matrix of R, (N, D), has the strides (1, N): nothing is
 * copied. R's own errors jump, so that all is freed before.
 *
 *     PKG_LIBS="$(pkg-config --libs tilefold)" \
 *         PKG_CFLAGS="$(pkg-config --cflags tilefold)" \
 *         R CMD SHLIB gaussian_r.c
 */
#include <tilefold/tilefold.h>

#include <stdio.h>

#include <R.h>
#include <Rinternals.h>

enum { MOST_ARGUMENTS = 16 };

struct r_array {
    DLTensor tensor;
    int64_t shape[2], strides[2];
};

/* A vector or a matrix of R. */
static void describe(SEXP value, struct r_array* array) {
    const int is_matrix = Rf_isMatrix(value);
    array->shape[0] = is_matrix ? Rf_nrows(value) : Rf_xlength(value);
    array->shape[1] = is_matrix ? Rf_ncols(value) : 1;
    array->strides[0] = 1;
    array->strides[1] = array->shape[0];
    array->tensor.data = REAL(value);
    array->tensor.device.device_type = kDLCPU;
    array->tensor.ndim = is_matrix ? 2 : 1;
    array->tensor.dtype.code = kDLFloat;
    array->tensor.dtype.bits = 64;
    array->tensor.dtype.lanes = 1;
    array->tensor.shape = array->shape;
    array->tensor.strides = array->strides;
}

static void check_interrupt(void* unused) {
    (void)unused;
    R_CheckUserInterrupt();
}

/* R_CheckUserInterrupt jumps: here it does so no further than this. */
static int32_t go_on(void* context, double done, double total) {
    (void)context, (void)done, (void)total;
    return R_ToplevelExec(check_interrupt, NULL);
}

/* reduce(text, list(x = …, y = …)): a vector. */
SEXP r_reduce(SEXP text, SEXP values) {
    struct r_array arrays[MOST_ARGUMENTS] = {0};
    tilefold_argument arguments[MOST_ARGUMENTS];
    tilefold_run_options options = TILEFOLD_RUN_OPTIONS_INIT;
    static tilefold_session* session = NULL; /* of the R process */
    DLManagedTensorVersioned* made = NULL;
    tilefold_error* failed;
    char message[4096];
    SEXP result, names = Rf_getAttrib(values, R_NamesSymbol);
    const int count = Rf_length(values);
    double* elements;

    if (count > MOST_ARGUMENTS)
        Rf_error("at most %d arguments", MOST_ARGUMENTS);
    for (int k = 0; k < count; ++k) {
        const tilefold_argument argument =
            TILEFOLD_ARRAY(CHAR(STRING_ELT(names, k)), &arrays[k].tensor);
        arguments[k] = argument;
        describe(VECTOR_ELT(values, k), &arrays[k]);
    }
    options.poll = go_on;
    failed = session ? NULL : tilefold_session_create(NULL, &session);
    if (!failed)
        failed = tilefold_reduce(session, CHAR(STRING_ELT(text, 0)), arguments,
                                 count, &options, &made);
    if (failed) {
        snprintf(message, sizeof message, "%s: %s", tilefold_error_code(failed),
                 tilefold_error_message(failed));
        tilefold_error_free(failed);
        Rf_error("%s", message);
    }
    result = PROTECT(Rf_allocVector(REALSXP, made->dl_tensor.shape[0]));
    elements = made->dl_tensor.data;
    for (R_xlen_t k = 0; k < Rf_xlength(result); ++k)
        REAL(result)[k] = elements[k];
    tilefold_tensor_free(made);
    UNPROTECT(1);
    return result;
}
