/* Waves on a square, from C: a pulse spreads by hone's acoustic kernel, and plain loops say whether it is right.
 *
 *     waves_c --device cpu --cells 400 --steps 200 --tune 10
 *
 * The pressure p lies at the centres of the cells, the velocities u and v at their left faces; kappa and b hold the factor dt / h
 * (generator/families/acoustics_staggered/family.hpp). What lies around the cells stays zero. */
#include <hone.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARGUMENTS = 8, BESIDE = 4 }; /* p u v kappa b p_next u_next v_next; cells that the loops have around theirs */
static const double medium = 0.5;   /* kappa and b: 0.5 sqrt(2) (9/8 + 1/24) is below 1, so steps are stable */

typedef struct settings {
    const char *device, *database;
    int cells, steps;
    double tune;
} settings;

/* Ends the program with hone's own words where a call failed. */
static void require(hone_status status) {
    if (status == HONE_OK) return;
    fprintf(stderr, "waves_c: %s\n", hone_last_error());
    exit(1);
}

static int number(const char* text, int low, int high) {
    char* end;
    const long value = strtol(text, &end, 10);
    if (*end != 0 || value < low || value > high) {
        fprintf(stderr, "waves_c: %s is not a number from %d to %d\n", text, low, high);
        exit(2);
    }
    return (int)value;
}

static const char usage[] = "usage: waves_c [--device NAME] [--db FOLDER] [--cells N] [--steps N] [--tune SECONDS]";

static settings settings_of(int count, char** words) {
    settings wanted = {"best", NULL, 200, 100, 0};
    for (int i = 1; i < count; i += 2) {
        if (strcmp(words[i], "--help") == 0) {
            printf("%s\n", usage);
            exit(0);
        } else if (i + 1 == count) {
            fprintf(stderr, "waves_c: %s without a value\n%s\n", words[i], usage);
            exit(2);
        } else if (strcmp(words[i], "--device") == 0) {
            wanted.device = words[i + 1];
        } else if (strcmp(words[i], "--db") == 0) {
            wanted.database = words[i + 1];
        } else if (strcmp(words[i], "--cells") == 0) {
            wanted.cells = number(words[i + 1], 8, 20000);
        } else if (strcmp(words[i], "--steps") == 0) {
            wanted.steps = number(words[i + 1], 1, 1000000);
        } else if (strcmp(words[i], "--tune") == 0) {
            wanted.tune = number(words[i + 1], 1, 100000);
        } else {
            fprintf(stderr, "waves_c: there is no option %s\n%s\n", words[i], usage);
            exit(2);
        }
    }
    return wanted;
}

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double pulse(int x, int y, int cells) {
    const double dx = (x - cells / 3) / 6.0, dy = (y - cells / 2) / 6.0;
    return exp(-dx * dx - dy * dy);
}

static void* zeros(size_t count) {
    void* memory = calloc(count, sizeof(double));
    if (memory == NULL) {
        fprintf(stderr, "waves_c: there is no memory for %zu numbers; use fewer --cells\n", count);
        exit(1);
    }
    return memory;
}

/* c_1 (a[0] - a[-s]) + c_2 (a[s] - a[-2 s]) with the weights of order 4. */
static double difference(const double* a, ptrdiff_t s) {
    return 9.0 / 8 * (a[0] - a[-s]) - 1.0 / 24 * (a[s] - a[-2 * s]);
}

/* The largest difference of the kernel's pressures from those of plain loops. */
static double error_of(const double* pressure, ptrdiff_t row, int cells, int steps) {
    const ptrdiff_t width = cells + 2 * BESIDE;
    const size_t count = (size_t)width * (size_t)width;
    double *const p = zeros(count), *const u = zeros(count), *const v = zeros(count);
    double *const faces_u = zeros(count), *const faces_v = zeros(count);
    const ptrdiff_t first = BESIDE * width + BESIDE;
    for (int y = 0; y < cells; ++y)
        for (int x = 0; x < cells; ++x) p[first + y * width + x] = pulse(x, y, cells);
    for (int step = 0; step < steps; ++step) {
        for (int y = -1; y <= cells + 1; ++y) /* faces beside the cells count for this step only */
            for (int x = -1; x <= cells + 1; ++x) {
                const ptrdiff_t i = first + y * width + x;
                faces_u[i] = u[i] - medium * difference(p + i, 1);
                faces_v[i] = v[i] - medium * difference(p + i, width);
            }
        for (int y = 0; y < cells; ++y)
            for (int x = 0; x < cells; ++x) {
                const ptrdiff_t i = first + y * width + x;
                p[i] -= medium * (difference(faces_u + i + 1, 1) + difference(faces_v + i + width, width));
                u[i] = faces_u[i];
                v[i] = faces_v[i];
            }
    }
    double largest = 0;
    for (int y = 0; y < cells; ++y)
        for (int x = 0; x < cells; ++x) {
            const double error = fabs(pressure[y * row + x] - p[first + y * width + x]);
            if (!(error <= largest)) largest = error; /* a NaN counts */
        }
    free(p);
    free(u);
    free(v);
    free(faces_u);
    free(faces_v);
    return largest;
}

static int tell(const hone_progress* progress, void* data) {
    (void)data;
    printf("  %d: %s, best %.3g ms\n", (int)progress->evaluations, progress->status, 1e3 * progress->best_seconds);
    return 0;
}

int main(int count, char** words) {
    const settings wanted = settings_of(count, words);
    hone_session_options options = {.size = sizeof options, .database = wanted.database};
    hone_session* session = NULL;
    require(hone_session_open(wanted.device, &options, &session));

    char problem[160];
    snprintf(problem, sizeof problem, "acoustics_staggered kernel=step dimension=2 order=4 media=scalar precision=f64 nx=%d ny=%d", wanted.cells,
             wanted.cells);
    if (wanted.tune > 0) {
        hone_tuning_options tuning = {.size = sizeof tuning, .seconds = wanted.tune, .progress = tell};
        require(hone_session_tune(session, problem, &tuning, NULL));
    }

    hone_kernel* kernel = NULL;
    hone_kernel_info info = {.size = sizeof info};
    require(hone_session_kernel(session, problem, &kernel));
    require(hone_kernel_describe(kernel, &info));
    printf("%s\n%s (grade %s%s%s)\n", info.problem, info.configuration, hone_grade_text(info.grade), *info.note ? ": " : "", info.note);

    /* The arrays, as the kernel describes them: the same layout whatever its configuration. */
    hone_array arrays[ARGUMENTS] = {0};
    ptrdiff_t row = 0, origin = 0;
    for (int i = 0; i < info.arguments; ++i) {
        hone_argument argument = {.size = sizeof argument};
        require(hone_kernel_argument(kernel, i, &argument));
        printf("  %-7s %-15s %s\n", argument.name, argument.shape, argument.help);
        require(hone_array_allocate(session, argument.type, argument.count, &arrays[i]));
        double* const values = zeros((size_t)argument.count);
        if (strcmp(argument.name, "p") == 0) {
            row = argument.strides[0];
            origin = argument.origin;
            for (int y = 0; y < wanted.cells; ++y)
                for (int x = 0; x < wanted.cells; ++x) values[origin + y * row + x] = pulse(x, y, wanted.cells);
        } else if (argument.count == 1) {
            values[0] = medium;
        }
        require(hone_copy(session, arrays[i].data, values, argument.count * (int64_t)sizeof *values, NULL));
        require(hone_session_synchronise(session, NULL));
        free(values);
    }

    /* A step goes from p, u, v to p_next, u_next, v_next, and the next one back. */
    const hone_array back_arrays[ARGUMENTS] = {arrays[5], arrays[6], arrays[7], arrays[3], arrays[4], arrays[0], arrays[1], arrays[2]};
    hone_bound *forth = NULL, *back = NULL;
    require(hone_kernel_bind(kernel, arrays, ARGUMENTS, NULL, &forth));
    require(hone_kernel_bind(kernel, back_arrays, ARGUMENTS, NULL, &back));
    const double begin = seconds();
    for (int step = 0; step < wanted.steps; ++step) require(hone_bound_launch(step % 2 == 0 ? forth : back, NULL));
    require(hone_session_synchronise(session, NULL));
    const double each = (seconds() - begin) / wanted.steps;
    printf("%.3g ms a step, %.3g GB/s\n", 1e3 * each, 1e-9 * info.bytes / each);

    const hone_array* const result = &arrays[wanted.steps % 2 == 0 ? 0 : 5];
    double* const pressure = zeros((size_t)result->count);
    require(hone_copy(session, pressure, result->data, result->count * (int64_t)sizeof *pressure, NULL));
    require(hone_session_synchronise(session, NULL));
    const double error = error_of(pressure + origin, row, wanted.cells, wanted.steps);
    /* Both round some twenty operations of numbers below 1 in every step. */
    const double allowed = 40 * 2.2e-16 * wanted.steps;
    printf("differs from plain loops by %.2g, %.2g is allowed\n", error, allowed);

    free(pressure);
    require(hone_bound_close(forth));
    require(hone_bound_close(back));
    for (int i = 0; i < ARGUMENTS; ++i) require(hone_array_free(session, &arrays[i]));
    require(hone_session_close(session));
    return error <= allowed ? 0 : 1;
}
