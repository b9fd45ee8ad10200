/* include/tilefold/tilefold.h - the C interface of tilefold: reductions over
 * pairs of points, written as formulas and compiled to machine code.
 *
 *     tilefold_session* session = NULL;
 *     DLManagedTensorVersioned* a = NULL;
 *     tilefold_error* error = tilefold_session_create(NULL, &session);
 *     if (!error)
 *         error = tilefold_reduce(
 *             session, "sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j",
 *             arguments, 4, NULL, &a);
 *     if (error)
 *         fprintf(stderr, "%s\n", tilefold_error_message(error));
 *
 * What holds of every function:
 *
 *  1. Nothing throws, ends the process, prints or jumps across it.
 *  2. One that can fail returns a tilefold_error*, which is NULL on success
 *     and otherwise the caller's to free. What it was to write is then left
 *     as it was, but for arrays of results, whose elements are unspecified.
 *  3. Structures that a caller fills begin with `size`, which is their sizeof;
 *     TILEFOLD_..._INIT sets it, and every other field to 0, which stands for
 *     the default. A caller that was compiled with an earlier header has a
 *     smaller size, and gets the defaults of later fields; one with a later
 *     header gets an error where it sets a field that is not known here.
 *  4. Texts are UTF-8, end with NUL and are copied.
 *  5. Arrays are borrowed, from tilefold_bind to tilefold_bound_free, or else
 *     for the call. They may have any strides, also 0 and negative ones, so
 *     that an (N, D) array in the order of Fortran has the strides (1, N) and
 *     is not copied. Their `data` plus `byte_offset` is element 0.
 *  6. Sessions, formulas and ranges may be used by any number of threads at
 *     once, and bounds by threads that write to outputs of their own. They
 *     may be freed in any order. The functions that free take NULL.
 *  7. Callbacks are called on the thread that made the call.
 *  8. Numbers of points, results and names begin with 0.
 *
 * An array is a DLTensor, of DLPack 1.x: float64, float32, float16, bfloat16,
 * integers of 8 to 64 bits, bool, complex64 or complex128, in memory of the
 * host or of an NVIDIA GPU. What a formula may be is told in the manual, and
 * by tilefold_language_name.
 */
#ifndef TILEFOLD_TILEFOLD_H
#define TILEFOLD_TILEFOLD_H

#include <stdint.h>

#include <dlpack/dlpack.h>

#include <tilefold/version.h>

#ifdef __cplusplus
#define TILEFOLD_NOEXCEPT noexcept
extern "C" {
#else
#define TILEFOLD_NOEXCEPT
#endif

typedef struct tilefold_error tilefold_error;
typedef struct tilefold_session tilefold_session;
typedef struct tilefold_formula tilefold_formula;
typedef struct tilefold_ranges tilefold_ranges;
typedef struct tilefold_bound tilefold_bound;
typedef struct tilefold_neighbors tilefold_neighbors;

/* ---- versions ----------------------------------------------------------- */

/* The version of this interface, in the library: 1. TILEFOLD_ABI is that of
 * the header. Functions are only ever added to it. */
uint32_t tilefold_abi(void) TILEFOLD_NOEXCEPT;
/* The version of the library, as "0.1.0". */
const char* tilefold_version(void) TILEFOLD_NOEXCEPT;

/* ---- errors ------------------------------------------------------------- */

/* What an error is about. */
#define TILEFOLD_ERROR_FORMULA 1   /* the text of a formula */
#define TILEFOLD_ERROR_SHAPE 2     /* a shape */
#define TILEFOLD_ERROR_DTYPE 3     /* an element type */
#define TILEFOLD_ERROR_ARGUMENT 4  /* anything else that was passed */
#define TILEFOLD_ERROR_MEMORY 5    /* out of memory */
#define TILEFOLD_ERROR_DEVICE 6    /* a device, or the compiler's library */
#define TILEFOLD_ERROR_CANCELLED 7 /* a callback said so */
#define TILEFOLD_ERROR_INTERNAL 8  /* a mistake of tilefold */

/* The above; 0 of NULL. */
int32_t tilefold_error_family(const tilefold_error* error) TILEFOLD_NOEXCEPT;
/* The name of the error, as "UnknownFunction", which does not change from
 * version to version. It lives as long as the error, as texts below do; ""
 * of NULL. */
const char* tilefold_error_code(const tilefold_error* error) TILEFOLD_NOEXCEPT;
/* The whole message: what was found, what was expected, the formula with a
 * mark below the place, and the cure. Lines are separated by "\n". */
const char*
tilefold_error_message(const tilefold_error* error) TILEFOLD_NOEXCEPT;
/* The formula that is concerned, as it was given; "" where none is. */
const char*
tilefold_error_formula(const tilefold_error* error) TILEFOLD_NOEXCEPT;
/* The bytes [begin, end) of the formula that the error points at, both 0 where
 * it points at none. Each may be NULL. */
void tilefold_error_span(const tilefold_error* error, int64_t* begin,
                         int64_t* end) TILEFOLD_NOEXCEPT;
void tilefold_error_free(tilefold_error* error) TILEFOLD_NOEXCEPT;

/* ---- sessions ----------------------------------------------------------- */

/* Settings of a session. A field that is 0 or NULL has the value of the
 * environment variable in brackets, else the default. */
typedef struct tilefold_options {
    uint64_t size;
    /* At most so many threads compute [TILEFOLD_NUM_THREADS]; default: the
     * cores that the process may use. */
    int32_t threads;
    /* A line to stderr for each compile: 1 yes, -1 no [TILEFOLD_LOG]. */
    int32_t log;
    /* Time the plans that the cost model likes best, and keep the fastest: 1
     * yes, -1 no [TILEFOLD_TUNE]. */
    int32_t tune;
    /* Limit what a formula that a stranger wrote may cost: its length, the
     * time of its compile, the bytes of a result. 1 yes, -1 no; default no. */
    int32_t untrusted;
    /* The error that products of float32 vectors may have, relative to their
     * terms [TILEFOLD_TOLERANCE]; default: float32's own rounding. */
    double tolerance;
    /* Bytes of compiled kernels on disk [TILEFOLD_CACHE_SIZE]; default 1
     * GiB. */
    int64_t cache_size;
    /* Bytes of each GPU's memory that arrays of the host may take at a time
     * [TILEFOLD_DEVICE_BYTES]; default 256 MiB. */
    int64_t device_bytes;
    /* Where compiled kernels are kept, which may begin with ~; "": nowhere
     * [TILEFOLD_CACHE_DIR]; default: tilefold/ in the XDG cache folder. */
    const char* cache_directory;
    /* Instruction set, as "x86-64-v3" [TILEFOLD_ISA]; default: the best of
     * this machine. */
    const char* isa;
    /* Where arrays of the host are computed: "cuda:0", "cuda"
     * [TILEFOLD_DEVICES]; default "": the CPU. */
    const char* devices;
} tilefold_options;

#define TILEFOLD_OPTIONS_INIT                                                  \
    {sizeof(tilefold_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Counters since the session began. */
typedef struct tilefold_statistics {
    uint64_t size;
    int64_t compiles;    /* kernels compiled */
    int64_t memory_hits; /* kernels found in memory */
    int64_t disk_hits;   /* kernels read from the cache folder */
    int64_t runs;        /* kernels run */
    /* Tiles of pairs that kernels with index masks met, and of these the ones
     * that count for nothing. */
    int64_t tiles_met, tiles_left_out;
    double compile_milliseconds;
} tilefold_statistics;

#define TILEFOLD_STATISTICS_INIT                                               \
    {sizeof(tilefold_statistics), 0, 0, 0, 0, 0, 0, 0}

/* Makes a session: threads, settings and the kernels that were compiled. One
 * is enough for a process. `options` may be NULL. */
tilefold_error*
tilefold_session_create(const tilefold_options* options,
                        tilefold_session** out) TILEFOLD_NOEXCEPT;
/* Gives back the handle. What formulas and bounds of the session need lives
 * as long as they do. */
void tilefold_session_free(tilefold_session* session) TILEFOLD_NOEXCEPT;
/* Writes what the caller's `out->size` has room for. */
tilefold_error*
tilefold_session_statistics(const tilefold_session* session,
                            tilefold_statistics* out) TILEFOLD_NOEXCEPT;
/* How many threads compute; 0 of NULL. */
int32_t
tilefold_session_threads(const tilefold_session* session) TILEFOLD_NOEXCEPT;

/* Threads of a call in a session that says nothing of them. */
int32_t tilefold_get_num_threads(void) TILEFOLD_NOEXCEPT;
/* From now on, a call of any session of the process takes at most so many, 1
 * for less. A number that is not below tilefold_get_num_threads() without a
 * limit lifts the limit. */
void tilefold_set_num_threads(int32_t threads) TILEFOLD_NOEXCEPT;

/* ---- formulas ----------------------------------------------------------- */

/* Parses a formula, or finds the one that was parsed before. */
tilefold_error*
tilefold_formula_parse(tilefold_session* session, const char* text,
                       tilefold_formula** out) TILEFOLD_NOEXCEPT;
void tilefold_formula_free(tilefold_formula* formula) TILEFOLD_NOEXCEPT;

/* The axes that a name is read on. */
#define TILEFOLD_AXES_WRITTEN -1  /* of an argument: as the formula has it */
#define TILEFOLD_AXES_PARAMETER 0 /* none: a number, a vector or a matrix */
#define TILEFOLD_AXES_I 1
#define TILEFOLD_AXES_J 2
#define TILEFOLD_AXES_BOTH 3 /* one array, read on i and on j */

/* How many arguments the formula takes; 0 of NULL. */
int64_t
tilefold_formula_names(const tilefold_formula* formula) TILEFOLD_NOEXCEPT;
/* The name of one of them, which lives as long as the formula, and its axes;
 * NULL where there is none. `axes` may be NULL. */
const char* tilefold_formula_name(const tilefold_formula* formula,
                                  int64_t index,
                                  int32_t* axes) TILEFOLD_NOEXCEPT;
/* The gradients by the arguments `names`, in their order: a formula that takes
 * the arguments of `formula` and one named `cotangent` (NULL: "grad"), of the
 * shape of the result. Of several results, each has a cotangent named
 * `cotangent`_argument. Each gradient has the shape of its argument. With
 * `with_value` 1, the results of `formula` come first. */
tilefold_error*
tilefold_formula_gradient(const tilefold_formula* formula,
                          const char* const* names, int64_t count,
                          const char* cotangent, int32_t with_value,
                          tilefold_formula** out) TILEFOLD_NOEXCEPT;
/* The derivative where the arguments `names` move along tangents: a formula
 * that takes the arguments of `formula` and one named `tangent` (NULL:
 * "tangent"; of several arguments `tangent`_argument), of the shape of the
 * argument. */
tilefold_error* tilefold_formula_jvp(const tilefold_formula* formula,
                                     const char* const* names, int64_t count,
                                     const char* tangent,
                                     tilefold_formula** out) TILEFOLD_NOEXCEPT;

/* ---- arguments ---------------------------------------------------------- */

/* An argument of a formula: an array of shape (N,), N numbers, or (N, D), N
 * vectors, on an axis; of shape (D,) or (R, C), or a number, on none. Leading
 * dimensions beyond these are a batch, and broadcast. */
typedef struct tilefold_argument {
    const char* name;
    const DLTensor* array; /* NULL: the argument is `number` */
    double number;
    int32_t axes;     /* TILEFOLD_AXES_WRITTEN, _PARAMETER, _I or _J */
    int32_t reserved; /* 0 */
} tilefold_argument;

#define TILEFOLD_ARRAY(name, array)                                            \
    {(name), (array), 0, TILEFOLD_AXES_WRITTEN, 0}
#define TILEFOLD_NUMBER(name, number)                                          \
    {(name), 0, (number), TILEFOLD_AXES_WRITTEN, 0}

/* ---- ranges ------------------------------------------------------------- */

/* Block sparsity: the pairs that a reduction meets. Tile t is the rows from
 * row_ends[t - 1], or 0, to row_ends[t], and meets the ranges of columns
 * offsets[t] to offsets[t + 1], of which range k is the columns from
 * columns[2 k] to columns[2 k + 1]. `offsets` has row_tiles + 1 numbers;
 * ranges of a tile ascend and do not overlap. Rows are those of i. All
 * lists are copied. */
tilefold_error* tilefold_ranges_create(const int64_t* row_ends,
                                       int64_t row_tiles,
                                       const int64_t* offsets,
                                       const int64_t* columns,
                                       tilefold_ranges** out) TILEFOLD_NOEXCEPT;
void tilefold_ranges_free(tilefold_ranges* ranges) TILEFOLD_NOEXCEPT;

/* ---- bound formulas ----------------------------------------------------- */

/* What is computed of a formula. The last three are of a pair term, a formula
 * without a reduction: k(i, j). */
#define TILEFOLD_RESULT 0 /* the formula */
#define TILEFOLD_DIAG 1   /* k(n, n), for all n or those in rows_i */
#define TILEFOLD_PAIRS 2  /* k(rows_i[n], rows_j[n]) */
#define TILEFOLD_DENSE 3  /* k(i, j) for all rows × all columns, or listed */

typedef struct tilefold_bind_options {
    uint64_t size;
    int32_t want;    /* TILEFOLD_RESULT, _DIAG, _PAIRS or _DENSE */
    int32_t on_host; /* 1: by the CPU, whatever the session's devices are */
    /* Numbers of rows and columns, borrowed as arrays are; NULL: all. */
    const int64_t *rows_i, *rows_j;
    int64_t rows_i_count, rows_j_count;
    const tilefold_ranges* ranges; /* NULL: all pairs */
    const int64_t* sum_batch;      /* batch dimensions to sum over, from 0 */
    int64_t sum_batch_count;
} tilefold_bind_options;

#define TILEFOLD_BIND_OPTIONS_INIT                                             \
    {sizeof(tilefold_bind_options), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Called every 50 ms or so with the pairs done and to do; returns 0 to
 * cancel. Must not throw, nor jump out. */
typedef int32_t (*tilefold_poll)(void* context, double done, double total);

typedef struct tilefold_run_options {
    uint64_t size;
    int32_t accumulate; /* 1: add to what the outputs hold */
    int32_t reserved;   /* 0 */
    tilefold_poll poll; /* may be NULL */
    void* context;      /* of `poll` */
    /* Of a GPU: the stream that the work is queued on, which is not waited
     * for; NULL: the default one. */
    void* stream;
} tilefold_run_options;

#define TILEFOLD_RUN_OPTIONS_INIT {sizeof(tilefold_run_options), 0, 0, 0, 0, 0}

/* Checks arguments against a formula, and compiles the kernel for their
 * element types and shapes, or finds it: ready to be run, any number of
 * times. A run reads what the arrays hold then. `options` may be NULL. */
tilefold_error* tilefold_bind(const tilefold_formula* formula,
                              const tilefold_argument* arguments, int64_t count,
                              const tilefold_bind_options* options,
                              tilefold_bound** out) TILEFOLD_NOEXCEPT;
void tilefold_bound_free(tilefold_bound* bound) TILEFOLD_NOEXCEPT;
/* How many results: 1, but for gradients by several arguments, and with
 * values; 0 of NULL. */
int64_t tilefold_bound_results(const tilefold_bound* bound) TILEFOLD_NOEXCEPT;
/* The shape of a result, which lives as long as the bound, and its type: batch
 * dimensions, points that are kept, components. Each of the last three may
 * be NULL. */
tilefold_error* tilefold_bound_shape(const tilefold_bound* bound,
                                     int64_t result, int32_t* axes,
                                     const int64_t** shape,
                                     DLDataType* type) TILEFOLD_NOEXCEPT;
/* Allocates a result where the arrays are, in the order of C; on a GPU in the
 * order of `stream`. Its elements are not set. Its owner calls its deleter,
 * or tilefold_tensor_free. */
tilefold_error*
tilefold_bound_allocate(const tilefold_bound* bound, int64_t result,
                        void* stream,
                        DLManagedTensorVersioned** out) TILEFOLD_NOEXCEPT;
/* Computes: writes to `count` arrays, one for each result, of its shape and
 * type and any strides. Results have the same bits for any number of threads.
 * `options` may be NULL. */
tilefold_error*
tilefold_bound_run(const tilefold_bound* bound, const DLTensor* const* outs,
                   int64_t count,
                   const tilefold_run_options* options) TILEFOLD_NOEXCEPT;
/* Waits until what runs queued on a GPU's stream is done. */
tilefold_error* tilefold_bound_finish(const tilefold_bound* bound,
                                      void* stream) TILEFOLD_NOEXCEPT;
/* Computes `rows` evenly spaced rows of the one result again in float64, pair
 * by pair and without compiled code, and writes the largest error of `out`,
 * relative to its largest magnitude, to `error`. */
tilefold_error* tilefold_bound_check(const tilefold_bound* bound,
                                     const DLTensor* out, int64_t rows,
                                     double* error) TILEFOLD_NOEXCEPT;

/* ---- calls in one step -------------------------------------------------- */

/* Parses, binds, allocates and runs a formula of one result. */
tilefold_error*
tilefold_reduce(tilefold_session* session, const char* text,
                const tilefold_argument* arguments, int64_t count,
                const tilefold_run_options* options,
                DLManagedTensorVersioned** out) TILEFOLD_NOEXCEPT;
/* Calls the deleter; takes NULL. */
void tilefold_tensor_free(DLManagedTensorVersioned* tensor) TILEFOLD_NOEXCEPT;

/* What each stage makes of a formula with these arguments, as text. `stage` is
 * the name of one: "reading", "AST", "IR", "plan", "LLVM IR", "assembly" …;
 * or "sm_90" and the like, for the stages of a GPU, which need not be there;
 * NULL: all. */
tilefold_error* tilefold_explain(const tilefold_formula* formula,
                                 const tilefold_argument* arguments,
                                 int64_t count, const char* stage,
                                 char** out) TILEFOLD_NOEXCEPT;
/* The same as JSON, one document of all stages, whose schema is
 * explain.schema.json of the Python package. `architecture` is that of a GPU,
 * "sm_90" and the like; NULL: of this processor. */
tilefold_error* tilefold_explain_json(const tilefold_formula* formula,
                                      const tilefold_argument* arguments,
                                      int64_t count, const char* architecture,
                                      char** out) TILEFOLD_NOEXCEPT;
void tilefold_text_free(char* text) TILEFOLD_NOEXCEPT;

/* ---- systems of equations, neighbours ----------------------------------- */

#define TILEFOLD_CONJUGATE_GRADIENTS 0 /* for positive definite K + ridge */
#define TILEFOLD_MINIMAL_RESIDUALS 1   /* MINRES: symmetric is enough */
#define TILEFOLD_METHOD_AUTO 2 /* the first; the second where it must be */

#define TILEFOLD_PRECONDITIONER_AUTO 0
#define TILEFOLD_PRECONDITIONER_NONE 1
#define TILEFOLD_PRECONDITIONER_CHOLESKY 2 /* pivoted, of low rank */
#define TILEFOLD_PRECONDITIONER_NYSTROM 3

typedef struct tilefold_solve_options {
    uint64_t size;
    double ridge;    /* added to the diagonal */
    double rtol;     /* of |b - A x| / |b|; 0: 1e-6 */
    int64_t maxiter; /* 0: the smaller of 10 N and 1000 */
    int32_t method;
    int32_t preconditioner;
} tilefold_solve_options;

#define TILEFOLD_SOLVE_OPTIONS_INIT                                            \
    {sizeof(tilefold_solve_options), 0, 0, 0, 0, 0}

typedef struct tilefold_solve_outcome {
    uint64_t size;
    int64_t iterations;
    double residual;   /* the largest |b - A x| / |b| of all columns */
    int32_t converged; /* 1 where every column has converged */
    int32_t reserved;
} tilefold_solve_outcome;

#define TILEFOLD_SOLVE_OUTCOME_INIT {sizeof(tilefold_solve_outcome), 0, 0, 0, 0}

/* Solves (K + ridge) x = right, where K is the real, symmetric matrix of a
 * pair term, which is never stored. `right` and `x` have the shape (N,) or
 * (N, E); the type of `x` is that of K · right. Not to converge is no error:
 * `outcome`, which may be NULL, tells. */
tilefold_error* tilefold_solve(
    const tilefold_formula* pair_term, const tilefold_argument* arguments,
    int64_t count, const DLTensor* right, const tilefold_solve_options* options,
    const DLTensor* x, tilefold_solve_outcome* outcome) TILEFOLD_NOEXCEPT;

/* All pairs whose pair term, a distance, is at most `radius`, by ascending i,
 * then j. With `with_values` 1 their distances are kept. */
tilefold_error*
tilefold_radius_neighbors(const tilefold_formula* pair_term,
                          const tilefold_argument* arguments, int64_t count,
                          double radius, int32_t with_values,
                          tilefold_neighbors** out) TILEFOLD_NOEXCEPT;
/* The points of i; 0 of NULL. */
int64_t
tilefold_neighbors_rows(const tilefold_neighbors* neighbors) TILEFOLD_NOEXCEPT;
/* Where the neighbours of each row begin among all: rows + 1 numbers, of which
 * the last is how many there are. It lives as long as the handle, as the
 * others do; NULL of NULL. */
const int64_t* tilefold_neighbors_offsets(const tilefold_neighbors* neighbors)
    TILEFOLD_NOEXCEPT;
const int64_t* tilefold_neighbors_columns(const tilefold_neighbors* neighbors)
    TILEFOLD_NOEXCEPT;
/* NULL where they were not asked for. */
const double* tilefold_neighbors_values(const tilefold_neighbors* neighbors)
    TILEFOLD_NOEXCEPT;
void tilefold_neighbors_free(tilefold_neighbors* neighbors) TILEFOLD_NOEXCEPT;

/* ---- the cache, the language -------------------------------------------- */

/* Removes the compiled kernels in a folder (NULL: that of a session without
 * options), and writes how many files they were to `removed`, which may be
 * NULL. */
tilefold_error* tilefold_cache_clear(const char* directory,
                                     int64_t* removed) TILEFOLD_NOEXCEPT;
/* How many operations, functions, reductions and named formulas there are. */
int64_t tilefold_language_size(void) TILEFOLD_NOEXCEPT;
/* How one of them is written, which of these it is and what it means; NULL
 * beyond the last. The last two may be NULL. All live for ever. */
const char* tilefold_language_name(int64_t index, const char** kind,
                                   const char** summary) TILEFOLD_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
