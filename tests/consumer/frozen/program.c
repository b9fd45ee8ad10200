/* tests/consumer/frozen/program.c - a program of release 1 of the interface,
 * with the header as it was then: every later library runs it. Neither is
 * changed; a later release adds another of each. */
#include <tilefold/tilefold.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static double x[6][2], b[6], out[6];
static int64_t shape[2] = {6, 2};

static DLTensor array_of(double* data, int32_t axes) {
    DLTensor array;
    memset(&array, 0, sizeof array);
    array.data = data;
    array.device.device_type = kDLCPU;
    array.ndim = axes;
    array.dtype.code = kDLFloat;
    array.dtype.bits = 64;
    array.dtype.lanes = 1;
    array.shape = shape;
    return array;
}

static int32_t go_on(void* context, double done, double total) {
    (void)done, (void)total;
    ++*(int*)context;
    return 1;
}

/* Ends the program where there is an error. */
#define MUST(call)                                                             \
    do {                                                                       \
        tilefold_error* failure = (call);                                      \
        if (failure) {                                                         \
            printf("%s: %s\n", #call, tilefold_error_message(failure));        \
            return 1;                                                          \
        }                                                                      \
    } while (0)
#define HOLDS(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            printf("does not hold: %s\n", #condition);                         \
            return 1;                                                          \
        }                                                                      \
    } while (0)

static int reductions(tilefold_session* session) {
    const DLTensor points = array_of(&x[0][0], 2), weights = array_of(b, 1),
                   result = array_of(out, 1);
    const DLTensor* outs[] = {&result};
    const tilefold_argument arguments[] = {TILEFOLD_ARRAY("x", &points),
                                           TILEFOLD_ARRAY("b", &weights),
                                           TILEFOLD_NUMBER("l", 2)};
    tilefold_run_options run = TILEFOLD_RUN_OPTIONS_INIT;
    tilefold_bind_options options = TILEFOLD_BIND_OPTIONS_INIT;
    tilefold_formula *formula, *gradient;
    tilefold_bound* bound;
    DLManagedTensorVersioned* made;
    const char* names[] = {"b"};
    int32_t axes = -1, asked = 0;
    double sum = 0, error = 1;

    MUST(tilefold_formula_parse(session, "sum_j exp(-|x_i - x_j|^2 / l) b_j",
                                &formula));
    HOLDS(tilefold_formula_names(formula) == 3);
    HOLDS(!strcmp(tilefold_formula_name(formula, 2, &axes), "b") || axes >= 0);
    MUST(tilefold_bind(formula, arguments, 3, &options, &bound));
    run.poll = go_on;
    run.context = &asked;
    MUST(tilefold_bound_run(bound, outs, 1, &run));
    for (int j = 0; j < 6; ++j)
        sum +=
            b[j] *
            exp(-(pow(x[1][0] - x[j][0], 2) + pow(x[1][1] - x[j][1], 2)) / 2);
    HOLDS(fabs(out[1] - sum) < 1e-12);
    MUST(tilefold_bound_check(bound, &result, 6, &error));
    HOLDS(error < 1e-12);
    MUST(tilefold_bound_allocate(bound, 0, NULL, &made));
    HOLDS(made->dl_tensor.shape[0] == 6);
    tilefold_tensor_free(made);
    tilefold_bound_free(bound);
    MUST(tilefold_formula_gradient(formula, names, 1, NULL, 0, &gradient));
    HOLDS(tilefold_formula_names(gradient) == 4);
    tilefold_formula_free(gradient);
    MUST(tilefold_reduce(session, "sum_j b_j", arguments + 1, 1, NULL, &made));
    HOLDS(fabs(*(double*)made->dl_tensor.data - 21) < 1e-12);
    tilefold_tensor_free(made);
    tilefold_formula_free(formula);
    return 0;
}

static int systems(tilefold_session* session) {
    const DLTensor points = array_of(&x[0][0], 2), weights = array_of(b, 1),
                   result = array_of(out, 1);
    const tilefold_argument argument = TILEFOLD_ARRAY("x", &points);
    tilefold_solve_options options = TILEFOLD_SOLVE_OPTIONS_INIT;
    tilefold_solve_outcome outcome = TILEFOLD_SOLVE_OUTCOME_INIT;
    tilefold_statistics counted = TILEFOLD_STATISTICS_INIT;
    tilefold_neighbors* found;
    tilefold_formula* pair;

    options.ridge = 1;
    MUST(tilefold_formula_parse(session, "norm(x_i - x_j)", &pair));
    MUST(tilefold_radius_neighbors(pair, &argument, 1, 100, 1, &found));
    HOLDS(tilefold_neighbors_rows(found) == 6);
    HOLDS(tilefold_neighbors_offsets(found)[6] == 36);
    HOLDS(tilefold_neighbors_columns(found)[35] == 5);
    HOLDS(fabs(tilefold_neighbors_values(found)[0]) == 0);
    tilefold_neighbors_free(found);
    tilefold_formula_free(pair);
    MUST(tilefold_formula_parse(session, "exp(-|x_i - x_j|^2)", &pair));
    MUST(tilefold_solve(pair, &argument, 1, &weights, &options, &result,
                        &outcome));
    HOLDS(outcome.converged == 1);
    tilefold_formula_free(pair);
    MUST(tilefold_session_statistics(session, &counted));
    HOLDS(counted.runs > 0);
    return 0;
}

int main(void) {
    tilefold_options options = TILEFOLD_OPTIONS_INIT;
    tilefold_session* session;
    tilefold_formula* none = NULL;
    tilefold_error* error;

    HOLDS(tilefold_abi() >= TILEFOLD_ABI);
    for (int i = 0; i < 6; ++i) {
        x[i][0] = i;
        x[i][1] = i * i / 4.0;
        b[i] = 1 + i;
    }
    options.threads = 2;
    MUST(tilefold_session_create(&options, &session));
    HOLDS(tilefold_session_threads(session) == 2);
    if (reductions(session) || systems(session))
        return 1;
    error = tilefold_formula_parse(session, "sum_j expp(x_j)", &none);
    HOLDS(!strcmp(tilefold_error_code(error), "MisspeltFunction"));
    HOLDS(tilefold_error_family(error) == TILEFOLD_ERROR_FORMULA);
    HOLDS(!none);
    tilefold_error_free(error);
    tilefold_session_free(session);
    puts("ok");
    return 0;
}
