/* hone from C, and from every language that can call C.
 *
 *     hone_session *session = NULL;
 *     hone_kernel *kernel = NULL;
 *     hone_bound *sweep = NULL;
 *     if (hone_session_open("best", NULL, &session) != HONE_OK) { puts(hone_last_error()); return 1; }
 *     hone_session_kernel(session, "gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96", &kernel);
 *     hone_kernel_bind(kernel, arrays, 3, NULL, &sweep);
 *     for (int i = 0; i < 100; ++i) hone_bound_launch(sweep, NULL);
 *     hone_session_synchronise(session, NULL);
 *     hone_bound_close(sweep);
 *     hone_session_close(session);
 *
 * Every call that can fail returns a status and writes its results through its last arguments, and only if it succeeds. hone_last_error() says where
 * it failed, what was found and what to do. No C++ exception leaves the library.
 *
 * Handles (hone_session, hone_kernel, hone_bound, hone_online) are opaque. A null handle, one of another kind and one that was closed are refused
 * with HONE_BAD_HANDLE; of those that were closed, at least the last thousand are known.
 *
 * Threads: all calls may be made from several threads at once, with two exceptions. A handle must not be closed while another thread uses it. A
 * hone_online belongs to one thread at a time. A bound kernel may be launched from several threads on different streams.
 *
 * Structures with a `size` are told how large the caller knows them: set it to sizeof. Later versions of the library add members at their ends and
 * functions, and change nothing that is here. */
#ifndef HONE_H
#define HONE_H

#include <stddef.h>
#include <stdint.h>

/* The version of this interface. A program runs with every library of the same major and the same or a later minor version. */
#define HONE_ABI_MAJOR 1
#define HONE_ABI_MINOR 2

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum hone_status {
    HONE_OK = 0,
    HONE_BAD_HANDLE = 1,   /* a handle that is null, of another kind, or closed */
    HONE_BAD_ARGUMENT = 2, /* an argument or an array that this call cannot take */
    HONE_ERROR = 3,        /* hone refuses, or the machine does: an unknown problem, no such device, a compiler that fails */
    HONE_NO_MEMORY = 4,    /* of the host */
    HONE_NO_RESULT = 5     /* tuning ended without a configuration that could be measured */
} hone_status;

typedef enum hone_type { HONE_F32 = 1, HONE_F64 = 2, HONE_I32 = 3 } hone_type;
typedef enum hone_access { HONE_IN = 1, HONE_OUT = 2, HONE_INOUT = 3 } hone_access;
/* Where memory lies. HONE_ANYWHERE: the caller does not say, and answers for it. */
typedef enum hone_place { HONE_ANYWHERE = 0, HONE_HOST = 1, HONE_CUDA = 2 } hone_place;
/* How well a configuration fits: tuned for this problem on this device model, for another size, on another device of the same architecture, predicted
 * from neighbouring problems, or not tuned at all. */
typedef enum hone_grade {
    HONE_EXACT = 1,
    HONE_NEAREST_SIZE = 2,
    HONE_SAME_ARCHITECTURE = 3,
    HONE_PREDICTED = 4,
    HONE_UNTUNED = 5
} hone_grade;

typedef struct hone_session hone_session; /* a device, tuned results, compiled code */
typedef struct hone_kernel hone_kernel;   /* the best kernel known for a problem; belongs to its session, and is not closed */
typedef struct hone_bound hone_bound;     /* a kernel with the application's arrays */
typedef struct hone_online hone_online;   /* a kernel with arrays, tuned while the application steps */

/* HONE_ABI_MAJOR * 1000 + HONE_ABI_MINOR of the library, and its release: "0.1.0". */
int hone_abi(void);
const char *hone_version(void);
/* What the last call of this thread that failed has to say; "" if none did. Valid until the thread's next call that fails. */
const char *hone_last_error(void);

/* ---- Sessions ---- */

typedef struct hone_session_options {
    size_t size;
    const char *database; /* folder of tuned results, which must be there; null: HONE_DB, this user's, and what ships with hone */
    const char *cache;    /* folder of compiled code; null: HONE_CACHE, else ~/.cache/hone */
    /* Called with a line of text when a kernel other than the tuned one runs, from any thread that calls hone; null: lines on standard error. */
    void (*warn)(const char *text, void *data);
    void *data; /* for warn */
    /* Since 1.1: kernel folders (docs/your-own-kernel.md) whose families are known beside hone's own, separated by colons; null: HONE_KERNELS */
    const char *kernels;
} hone_session_options;

typedef struct hone_session_info {
    size_t size;
    const char *device; /* "cpu", "cuda:0" */
    const char *name;   /* of the device's model */
    int32_t place;      /* hone_place: where the arrays of its kernels lie */
    int32_t index;      /* among the devices of its kind */
    int64_t memory_bytes;
    const char *results; /* since 1.1: the folder that tuning writes to; journals of its searches lie below, in journals/ */
} hone_session_info;

/* `device` is "best", "cpu", "cuda" or "cuda:1"; null: "best". `options` may be null. Reads all tuned results once; takes some milliseconds. */
hone_status hone_session_open(const char *device, const hone_session_options *options, hone_session **session);
/* Ends the session's handle and those of its kernels. What the session consists of stays until the last of its bound kernels and online tuners is
 * closed; then arrays that were allocated with it and not freed go, too. */
hone_status hone_session_close(hone_session *session);
hone_status hone_session_describe(const hone_session *session, hone_session_info *info);
/* Waits for all that was queued on `stream`: a CUstream or cudaStream_t, null for the default stream. On processors nothing is queued. */
hone_status hone_session_synchronise(hone_session *session, void *stream);

/* The tuned results that the session knows, of one problem's family and class or, with null, all, as a JSON array of records
 * (tuning_db/schema/). Free the text with hone_text_free. */
hone_status hone_session_records(const hone_session *session, const char *problem, char **json);
void hone_text_free(char *text);

/* ---- Arrays ---- */

typedef struct hone_array {
    void *data;    /* device memory for a CUDA device, ordinary memory for the processor */
    int64_t count; /* elements that it has room for */
    int32_t type;  /* hone_type */
    int32_t place; /* hone_place */
} hone_array;

/* Memory on the session's device for `count` elements of a hone_type, not initialised. `array` is an input of the other calls as it stands. */
hone_status hone_array_allocate(hone_session *session, int32_t type, int64_t count, hone_array *array);
/* Frees what hone_array_allocate gave in this session and sets array->data to null. An array without data is freed already. Kernels that are bound to
 * it are not launched any more: they say that it was freed. */
hone_status hone_array_free(hone_session *session, hone_array *array);
/* Copies bytes between any two of host and device memory, in the order of `stream`; hone_session_synchronise before host memory is used again. */
hone_status hone_copy(hone_session *session, void *to, const void *from, int64_t bytes, void *stream);

/* ---- Kernels ---- */

typedef struct hone_kernel_info {
    size_t size;
    const char *problem;       /* in full, with the values that were left out */
    const char *configuration; /* "block_x=32,block_y=8,..." */
    const char *note;          /* what may make the configuration less fit, beside its grade; "" if nothing */
    const char *source;        /* the text that was compiled */
    const char *range_unit;    /* "planes", "elements" */
    int64_t range;             /* how many of them a time step runs over */
    int32_t grade;             /* hone_grade */
    int32_t arguments;         /* arrays that it is bound to */
    int32_t plain_loops;       /* 1: nothing can be compiled here, and the family's reference runs instead */
    int32_t place;             /* hone_place of its arrays */
    double updates;            /* of one time step: grid points, elements */
    double operations;         /* of one time step, floating point */
    double bytes;              /* of one time step: compulsory memory traffic */
} hone_kernel_info;

typedef struct hone_argument {
    size_t size;
    const char *name;
    const char *shape; /* "[nz+2][ny+2][pitch]", slowest index first */
    const char *help;
    int32_t type;           /* hone_type */
    int32_t access;         /* hone_access */
    int64_t count;          /* elements that a bound array must have room for */
    int64_t origin;         /* elements before the first that is no boundary, ghost or padding */
    const int64_t *strides; /* from one place to the next along each index of the shape, in elements; null where there are none */
    int32_t indices;        /* how many strides there are */
    int32_t alignment;      /* bytes that its address must be a multiple of */
} hone_argument;

/* The best kernel known for a problem, in the words of the command line: "family name=value ...". Looked up, generated and compiled once; later
 * calls with the same text take a fraction of a microsecond, from however many threads. The same handle is given for the same problem, until
 * hone_session_tune finds another result. */
hone_status hone_session_kernel(hone_session *session, const char *problem, hone_kernel **kernel);
/* Texts and strides are valid as long as the session is open. */
hone_status hone_kernel_describe(const hone_kernel *kernel, hone_kernel_info *info);
/* Argument `index`, from 0. */
hone_status hone_kernel_argument(const hone_kernel *kernel, int32_t index, hone_argument *argument);

/* A kernel with `count` arrays in the order of its arguments, not copied: they stay the application's and must outlive the bound kernel. Refused,
 * by name, are arrays that are null, of another type, too small, in another place, misaligned, or that overlap one that is written. What the kernel
 * makes from the arrays, such as packed stencils, is queued on `stream`. */
hone_status hone_kernel_bind(hone_kernel *kernel, const hone_array *arrays, int32_t count, void *stream, hone_bound **bound);
/* One time step, over the whole range or over [first, last). On CUDA it is queued on `stream`; on processors it has ended at the return. */
hone_status hone_bound_launch(const hone_bound *bound, void *stream);
hone_status hone_bound_launch_range(const hone_bound *bound, int64_t first, int64_t last, void *stream);
/* The same over the whole range `steps` times, and waits until they have ended. */
hone_status hone_bound_run(hone_bound *bound, int64_t steps, void *stream);
/* An array that is not written by steps (a stencil, a medium) has changed: makes what comes from it again. */
hone_status hone_bound_prepare(hone_bound *bound, void *stream);
hone_status hone_bound_close(hone_bound *bound);

/* ---- Tuning ---- */

typedef struct hone_progress {
    size_t size;
    const char *configuration; /* of the candidate that was evaluated last */
    const char *status;        /* "measured", or what became of it: "compile_failed", "wrong", "timed_out", ... */
    double seconds;            /* of a time step of it; 0 if it was not measured */
    const char *best;          /* configuration; "" while there is none */
    double best_seconds;
    double elapsed; /* seconds since the beginning */
    int64_t members; /* of the search space */
    int32_t evaluations;
    int32_t finals; /* 1: the best few are measured again */
} hone_progress;

typedef struct hone_tuning_options {
    size_t size;
    double seconds;        /* budget; 0: no bound */
    int64_t evaluations;   /* candidates at most; 0: no bound. Without either bound: a minute */
    const char *strategy;  /* null: the default; 'hone tune --help' lists them */
    const char *objective; /* "time", "energy", ...; null: time */
    const char *only;      /* "key=value,...": only configurations with these values, and the safe one; null: all */
    int64_t seed;          /* of all random choices, from 1; 0: the default */
    int32_t resume;        /* 1: go on with a run of the same problem that was interrupted or killed */
    /* After every candidate, in the thread that tunes; a value other than 0 ends the run with the best so far. May be null. */
    int (*progress)(const hone_progress *progress, void *data);
    /* Asked several times a second; a value other than 0 ends the run with the best so far. May be null. */
    int (*stop)(void *data);
    void *data; /* for both */
} hone_tuning_options;

typedef struct hone_tuning_result {
    size_t size;
    const char *configuration; /* the winner; valid as long as the session is open */
    double seconds;            /* median of its time step */
    double safe_seconds;       /* of the untuned safe configuration in the same run; 0 if it could not be measured */
    double elapsed;
    int32_t evaluations;
    int32_t interrupted; /* 1: the application ended it; `resume` goes on */
} hone_tuning_result;

/* Tunes a problem on the session's device: candidates run in a process of their own (the `hone` program), are verified against the plain loops with
 * random data, and timed. The winner is kept in the session's database, or without one in HONE_DB or this user's folder, and is what
 * hone_session_kernel gives from then on. `options` and `result` may be null. A run that ends before a candidate beside the safe configuration was
 * measured keeps nothing, and says so as a warning: with a longer time `resume` goes on. */
hone_status hone_session_tune(hone_session *session, const char *problem, const hone_tuning_options *options, hone_tuning_result *result);

typedef struct hone_online_options {
    size_t size;
    double bound;        /* part of the time of all steps that may be spent on trying candidates; 0: the default, 0.05 */
    int32_t evaluations; /* candidates before the best few are compared; 0: the default, 100 */
    int32_t disabled;    /* 1: the best configuration known runs, and nothing is tried */
    int32_t verify_reduced; /* 1: candidates of large problems run once they are right on smaller arrays, and records say so; 0: once they are right
                               at the problem's own size, too, as far as memory allows */
} hone_online_options;

typedef struct hone_online_info {
    size_t size;
    const char *configuration; /* that runs now; like the other texts valid until the next call with this handle */
    const char *state;         /* in a few words: "trying candidates", "settled", or why nothing is tried */
    const char *report;        /* several lines for people */
    double first_seconds;      /* of a step with the configuration that ran first */
    double seconds;            /* of a step with the one that runs now */
    int64_t steps;
    int32_t evaluations;
    int32_t adopted; /* candidates that took over */
    const char *verified_on; /* the smaller problem on which the configuration was verified; "" if it was on its own, or is not yet */
} hone_online_info;

/* A kernel that is tuned while the application computes with it. Arrays as for hone_kernel_bind; `options` may be null. Every step computes the
 * result of the safe configuration, up to the order of the arithmetic. */
hone_status hone_online_open(hone_session *session, const char *problem, const hone_array *arrays, int32_t count, const hone_online_options *options,
                             hone_online **online);
/* One time step, in place of hone_bound_launch. */
hone_status hone_online_step(hone_online *online, void *stream);
/* As hone_bound_prepare. */
hone_status hone_online_prepare(hone_online *online, void *stream);
/* Keeps the results and tries nothing more; steps then run the best configuration. */
hone_status hone_online_finish(hone_online *online);
hone_status hone_online_describe(hone_online *online, hone_online_info *info);
/* Finishes, and ends the handle. */
hone_status hone_online_close(hone_online *online);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
