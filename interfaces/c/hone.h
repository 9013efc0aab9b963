/* hone from C, and from every language that can call C.
 *
 *     hone_session *session = NULL;
 *     hone_kernel *kernel = NULL;
 *     hone_bound *sweep = NULL;
 *     const char *problem = "gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96";
 *     if (hone_session_open("best", NULL, &session) != HONE_OK) return puts(hone_last_error()), 1;
 *     hone_session_kernel(session, problem, &kernel);
 *     hone_kernel_bind(kernel, arrays, 3, NULL, &sweep);
 *     for (int i = 0; i < 100; ++i) hone_bound_launch(sweep, NULL);
 *     hone_session_synchronise(session, NULL);
 *     hone_bound_close(sweep);
 *     hone_session_close(session);
 *
 * Errors. Every call that can fail returns a status. It writes its results through its last
 * arguments, and only if it succeeds. hone_last_error() says where it failed, what was found and
 * what to do. No C++ exception leaves the library.
 *
 * Handles. hone_session, hone_kernel, hone_bound and hone_online are opaque. A handle that is null,
 * of another kind or closed is refused with HONE_BAD_HANDLE. Of the closed handles, the library
 * recognises at least the last thousand.
 *
 * Threads. All calls may be made from several threads at once, with two exceptions. A handle must
 * not be closed while another thread uses it. A hone_online belongs to one thread at a time. A
 * bound kernel may be launched from several threads on different streams.
 *
 * Structures. `size` tells the library which version of a structure the caller knows. Set it to
 * sizeof the structure. Later versions of the library add functions, and members at the ends of
 * structures. They change nothing that is here.
 *
 * Texts. A `char **json` receives a JSON document as UTF-8. Free it with hone_text_free. */
#ifndef HONE_H
#define HONE_H

#include <stddef.h>
#include <stdint.h>

/* The version of this interface. A program runs with every library of the same major version and
 * the same or a later minor version. */
#define HONE_ABI_MAJOR 1
#define HONE_ABI_MINOR 3

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum hone_status {
    HONE_OK = 0,
    HONE_BAD_HANDLE = 1,   /* a handle that is null, of another kind, or closed */
    HONE_BAD_ARGUMENT = 2, /* an argument or an array that this call cannot take */
    HONE_ERROR = 3,        /* an unknown problem, a missing device, a compiler that fails, ... */
    HONE_NO_MEMORY = 4,    /* the host has none left */
    HONE_NO_RESULT = 5     /* tuning ended without a configuration that could be measured */
} hone_status;

typedef enum hone_type { HONE_F32 = 1, HONE_F64 = 2, HONE_I32 = 3 } hone_type;
typedef enum hone_access { HONE_IN = 1, HONE_OUT = 2, HONE_INOUT = 3 } hone_access;
/* Where memory lies. HONE_ANYWHERE: the caller does not say, and is responsible. */
typedef enum hone_place { HONE_ANYWHERE = 0, HONE_HOST = 1, HONE_CUDA = 2 } hone_place;
/* How well a configuration fits. hone_grade_text gives the word that the command line, JSON and
 * Python use. */
typedef enum hone_grade {
    HONE_EXACT = 1,              /* tuned for this very problem on this device model */
    HONE_NEAREST_SIZE = 2,       /* tuned for another size on this device model */
    HONE_SAME_ARCHITECTURE = 3,  /* tuned on another device of the same architecture */
    HONE_PREDICTED = 4,          /* nothing tuned fits; results of other problems suggest it */
    HONE_NONE = 5,               /* nothing tuned fits; the family's safe configuration runs */
    HONE_OTHER_ARCHITECTURE = 6, /* found on devices of other architectures; since 1.3 */
    HONE_MEASURED = 7,           /* the best of several, measured at first use; since 1.3 */
    HONE_UNTUNED = HONE_NONE     /* the name before 1.3 */
} hone_grade;

typedef struct hone_session hone_session; /* a device, tuned results, compiled code */
/* The best kernel known for a problem. It belongs to its session, and is not closed. */
typedef struct hone_kernel hone_kernel;
typedef struct hone_bound hone_bound;   /* a kernel with the application's arrays */
typedef struct hone_online hone_online; /* a kernel with arrays, tuned while the program runs */

/* HONE_ABI_MAJOR * 1000 + HONE_ABI_MINOR of the library. */
int hone_abi(void);
/* The library's release: "0.1.0". */
const char *hone_version(void);
/* Why this thread's last failed call failed; "" if none did. Valid until its next failed call. */
const char *hone_last_error(void);
/* A status in words: "ok", "bad handle". A number that is no status gives "unknown status". The
 * text is static and never null.
 * Since 1.3. */
const char *hone_status_text(hone_status status);
/* A hone_grade as a word: "exact", "measured", "nearest_size", "same_architecture", "predicted",
 * "other_architecture", "none". A number that is no grade gives "unknown grade". The text is static
 * and never null.
 * Since 1.3. */
const char *hone_grade_text(int32_t grade);
/* The devices of this machine that hone can use, as 'hone devices --json' prints them: their id,
 * name, architecture, memory and limits. The id is what hone_session_open takes.
 * Since 1.3. */
hone_status hone_devices(char **json);
void hone_text_free(char *text);

/* ---- Sessions ---- */

typedef struct hone_session_options {
    size_t size;
    /* Folder of tuned results, which must exist. Null: the results in HONE_DB, those of this user
     * and those that ship with hone. */
    const char *database;
    const char *cache; /* folder of compiled code; null: HONE_CACHE, else ~/.cache/hone */
    /* Called with a line of text when a kernel other than the tuned one runs. It may be called by
     * any thread that calls hone. Null: lines on standard error. */
    void (*warn)(const char *text, void *data);
    void *data; /* for warn */
    /* Kernel folders (docs/your-own-kernel.md), separated by colons. The session knows their
     * families beside hone's own. Null: the folders in HONE_KERNELS. Since 1.1. */
    const char *kernels;
    /* What happens when a problem that nobody tuned is used first. "predicted": the configuration
     * that other results suggest runs. "measured": several suggestions are verified and timed for
     * `first_use_seconds`, the best runs, and its result is kept for the next start. Null: what
     * HONE_FIRST_USE says, else "predicted". Since 1.3. */
    const char *first_use;
    double first_use_seconds; /* for each problem; 0: 2. Since 1.3. */
} hone_session_options;

typedef struct hone_session_info {
    size_t size;
    const char *device; /* "cpu", "cuda:0" */
    const char *name;   /* of the device's model */
    int32_t place;      /* hone_place: where the arrays of its kernels lie */
    int32_t index;      /* among the devices of its kind */
    int64_t memory_bytes;
    /* The folder that tuning writes to. Journals of its searches lie in journals/ below it. Since
     * 1.1. */
    const char *results;
} hone_session_info;

/* `device` is "best", "cpu", "cuda" or "cuda:1"; null: "best". `options` may be null. The call
 * reads all tuned results once, which takes some milliseconds. */
hone_status hone_session_open(const char *device, const hone_session_options *options,
                              hone_session **session);
/* Closes the session and its kernels. Its bound kernels and online tuners go on. When the last of
 * them is closed, the library frees the session's arrays that are still allocated. */
hone_status hone_session_close(hone_session *session);
/* Texts are valid as long as the session is open. */
hone_status hone_session_describe(const hone_session *session, hone_session_info *info);
/* Waits for all work that was queued on `stream`: a CUstream or cudaStream_t, or null for the
 * default stream. A processor queues no work. */
hone_status hone_session_synchronise(hone_session *session, void *stream);

/* The families that the session knows, with those of its kernel folders, as 'hone families --json'
 * prints them: name, summary, an example of a problem, and each parameter of a problem with its
 * allowed values.
 * Since 1.3. */
hone_status hone_session_families(const hone_session *session, char **json);
/* The problems with a tuned result for the session's device model: of one family or, with null, of
 * all. {"problems": [{"problem": "family name=value ...", "grade": "exact", "seconds": 1.2e-4}]}:
 * hone_session_kernel gives each problem this grade. Its configuration took so many seconds a time
 * step when it was measured.
 * Since 1.3. */
hone_status hone_session_problems(const hone_session *session, const char *family, char **json);
/* The tuned results that the session knows, as an array of records (tuning_db/schema/). `problem`
 * selects those of its family and class, at every size. Null selects all. */
hone_status hone_session_records(const hone_session *session, const char *problem, char **json);

/* ---- Arrays ---- */

typedef struct hone_array {
    void *data;    /* device memory for a CUDA device, ordinary memory for the processor */
    int64_t count; /* elements that fit */
    int32_t type;  /* hone_type */
    int32_t place; /* hone_place */
} hone_array;

/* Allocates memory on the session's device for `count` elements of a hone_type. The elements are
 * not initialised. The other calls take `array` as it is. */
hone_status hone_array_allocate(hone_session *session, int32_t type, int64_t count,
                                hone_array *array);
/* Frees an array that hone_array_allocate gave in this session, and sets array->data to null. An
 * array whose data is null is left alone. Bound kernels that use the array refuse to launch. */
hone_status hone_array_free(hone_session *session, hone_array *array);
/* Copies bytes between any two of host and device memory, in the order of `stream`. Call
 * hone_session_synchronise before you use the host memory again. */
hone_status hone_copy(hone_session *session, void *to, const void *from, int64_t bytes,
                      void *stream);

/* ---- Kernels ---- */

typedef struct hone_kernel_info {
    size_t size;
    const char *problem;       /* in full, with the values that were left out */
    const char *configuration; /* "block_x=32,block_y=8,..." */
    const char *note;          /* a reason besides its grade why it may fit less well; "" if none */
    const char *source;        /* the text that was compiled */
    const char *range_unit;    /* "planes", "elements" */
    int64_t range;             /* number of units that a time step runs over */
    int32_t grade;             /* hone_grade */
    int32_t arguments;         /* number of arrays that it is bound to */
    int32_t plain_loops;       /* 1: nothing can be compiled here; the family's reference runs */
    int32_t place;             /* hone_place of its arrays */
    double updates;            /* grid points or elements per time step */
    double operations;         /* floating-point operations per time step */
    double bytes;              /* compulsory memory traffic per time step */
} hone_kernel_info;

typedef struct hone_argument {
    size_t size;
    const char *name;
    const char *shape; /* "[nz+2][ny+2][pitch]", slowest index first */
    const char *help;
    int32_t type;   /* hone_type */
    int32_t access; /* hone_access */
    int64_t count;  /* elements that must fit in a bound array */
    int64_t origin; /* elements before the first one that is not boundary, ghost or padding */
    /* Elements from one place to the next along each index of the shape; null if there are none. */
    const int64_t *strides;
    int32_t indices;   /* number of strides */
    int32_t alignment; /* the array's address must be a multiple of this many bytes */
} hone_argument;

/* The best kernel known for a problem. `problem` is written as on the command line: "family
 * name=value ...". The first call looks it up, generates and compiles it. Later calls with the same
 * text take a fraction of a microsecond, from any number of threads. They give the same handle
 * until hone_session_tune finds another result. */
hone_status hone_session_kernel(hone_session *session, const char *problem, hone_kernel **kernel);
/* Texts and strides are valid as long as the session is open. */
hone_status hone_kernel_describe(const hone_kernel *kernel, hone_kernel_info *info);
/* Argument `index`, from 0. */
hone_status hone_kernel_argument(const hone_kernel *kernel, int32_t index,
                                 hone_argument *argument);

/* Binds a kernel to `count` arrays in the order of its arguments. Nothing is copied: the arrays
 * belong to the application and must outlive the bound kernel. The call refuses an array that is
 * null, of another type, too small, in another place or misaligned, and names it. It also refuses
 * an array that overlaps one that is written. Data that the kernel makes from the arrays, such as
 * packed stencils, is computed on `stream`. */
hone_status hone_kernel_bind(hone_kernel *kernel, const hone_array *arrays, int32_t count,
                             void *stream, hone_bound **bound);
/* One time step over the whole range, or over [first, last). CUDA queues it on `stream`. On a
 * processor it has ended when the call returns. */
hone_status hone_bound_launch(const hone_bound *bound, void *stream);
hone_status hone_bound_launch_range(const hone_bound *bound, int64_t first, int64_t last,
                                    void *stream);
/* `steps` time steps over the whole range. Waits until they have ended. */
hone_status hone_bound_run(hone_bound *bound, int64_t steps, void *stream);
/* Call this after you changed an array that steps only read, such as a stencil or a medium. It
 * computes again what the kernel makes from the array. */
hone_status hone_bound_prepare(hone_bound *bound, void *stream);
hone_status hone_bound_close(hone_bound *bound);

/* ---- Tuning ---- */

typedef struct hone_progress {
    size_t size;
    const char *configuration; /* of the candidate that was evaluated last */
    const char *status;  /* its outcome: "measured", "compile_failed", "wrong", "timed_out", ... */
    double seconds;      /* per time step; 0 if it was not measured */
    const char *best;    /* the best configuration so far; "" while there is none */
    double best_seconds; /* per time step */
    double elapsed;      /* seconds since the beginning */
    int64_t members;     /* of the search space */
    int32_t evaluations;
    int32_t finals; /* 1: the best few are being measured again */
} hone_progress;

typedef struct hone_tuning_options {
    size_t size;
    double seconds;        /* budget; 0: no limit */
    int64_t evaluations;   /* most candidates; 0: no limit. Without either limit: one minute */
    const char *strategy;  /* null: the default. 'hone tune --help' lists them */
    const char *objective; /* "time", "energy", ...; null: time */
    /* "key=value,...": only configurations with these values, and the safe one; null: all. */
    const char *only;
    int64_t seed;   /* of all random choices, from 1; 0: the default */
    int32_t resume; /* 1: continue an interrupted or killed run of the same problem */
    /* Called after every candidate, in the thread that tunes. A value other than 0 ends the run
     * with the best result so far. May be null. */
    int (*progress)(const hone_progress *progress, void *data);
    /* Called several times a second. A value other than 0 ends the run with the best result so
     * far. May be null. */
    int (*stop)(void *data);
    void *data; /* for both */
} hone_tuning_options;

typedef struct hone_tuning_result {
    size_t size;
    const char *configuration; /* the winner; valid as long as the session is open */
    double seconds;            /* median of its time step */
    double safe_seconds; /* the same of the safe configuration in this run; 0: not measured */
    double elapsed;
    int32_t evaluations;
    int32_t interrupted; /* 1: the application ended it; `resume` continues it */
} hone_tuning_result;

/* Tunes a problem on the session's device. Candidates run in another process (the `hone` program).
 * They are verified against the plain loops with random data, and timed. The winner is stored in
 * the session's database, or without one in HONE_DB or this user's folder. From then on
 * hone_session_kernel gives it. `options` and `result` may be null. A run that ends before it
 * measured a candidate besides the safe configuration stores nothing and warns: `resume` continues
 * it with a longer time. */
hone_status hone_session_tune(hone_session *session, const char *problem,
                              const hone_tuning_options *options, hone_tuning_result *result);

typedef struct hone_online_options {
    size_t size;
    double bound;        /* share of all steps' time to spend on candidates; 0: 0.05 */
    int32_t evaluations; /* candidates before the best few are compared; 0: 100 */
    int32_t disabled;    /* 1: the best configuration known runs, and nothing is tried */
    /* 1: candidates of large problems are verified on smaller arrays only, and their records say
     * so. 0: also at the problem's own size, as far as memory allows. Since 1.2. */
    int32_t verify_reduced;
} hone_online_options;

/* Texts are valid until the next call with this handle. */
typedef struct hone_online_info {
    size_t size;
    const char *configuration; /* that runs now */
    const char *state;         /* "trying candidates", "settled", or why nothing is tried */
    const char *report;        /* several lines for people */
    double first_seconds;      /* per step with the configuration that ran first */
    double seconds;            /* per step with the one that runs now */
    int64_t steps;
    int32_t evaluations;
    int32_t adopted; /* candidates that replaced the one before */
    /* The smaller problem that the configuration was verified on. "": its own problem, or not
     * verified yet. Since 1.2. */
    const char *verified_on;
} hone_online_info;

/* A kernel that is tuned while the application computes with it. Arrays as for hone_kernel_bind.
 * `options` may be null. Every step computes the result of the safe configuration, up to the order
 * of the arithmetic. */
hone_status hone_online_open(hone_session *session, const char *problem, const hone_array *arrays,
                             int32_t count, const hone_online_options *options,
                             hone_online **online);
/* One time step, in place of hone_bound_launch. */
hone_status hone_online_step(hone_online *online, void *stream);
/* As hone_bound_prepare. */
hone_status hone_online_prepare(hone_online *online, void *stream);
/* Stores the results and tries nothing more. Steps then run the best configuration. */
hone_status hone_online_finish(hone_online *online);
hone_status hone_online_describe(hone_online *online, hone_online_info *info);
/* Finishes, and closes the handle. */
hone_status hone_online_close(hone_online *online);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
