!> The functions, structures and numbers of interfaces/c/hone.h as Fortran sees them. Programs use
!> the module hone, which is made of these.
module hone_c
    use, intrinsic :: iso_c_binding
    implicit none
    public

    integer(c_int), parameter :: HONE_OK = 0, HONE_BAD_HANDLE = 1, HONE_BAD_ARGUMENT = 2
    integer(c_int), parameter :: HONE_ERROR = 3, HONE_NO_MEMORY = 4, HONE_NO_RESULT = 5
    integer(c_int32_t), parameter :: HONE_F32 = 1, HONE_F64 = 2, HONE_I32 = 3
    integer(c_int32_t), parameter :: HONE_IN = 1, HONE_OUT = 2, HONE_INOUT = 3
    integer(c_int32_t), parameter :: HONE_ANYWHERE = 0, HONE_HOST = 1, HONE_CUDA = 2
    integer(c_int32_t), parameter :: HONE_EXACT = 1, HONE_NEAREST_SIZE = 2, HONE_SAME_ARCHITECTURE = 3
    integer(c_int32_t), parameter :: HONE_PREDICTED = 4, HONE_NONE = 5
    integer(c_int32_t), parameter :: HONE_OTHER_ARCHITECTURE = 6, HONE_MEASURED = 7
    integer(c_int32_t), parameter :: HONE_UNTUNED = HONE_NONE  ! the name before version 1.3

    !> An array as a kernel takes it: hone_array_of(array) for one of Fortran's,
    !> hone_session%allocate for memory of the session's device.
    type, bind(c) :: hone_array
        type(c_ptr)        :: data = c_null_ptr
        integer(c_int64_t) :: count = 0
        integer(c_int32_t) :: type = 0
        integer(c_int32_t) :: place = HONE_ANYWHERE
    end type

    type, bind(c) :: session_options
        integer(c_size_t) :: size = 0
        type(c_ptr)       :: database = c_null_ptr, cache = c_null_ptr
        type(c_funptr)    :: warn = c_null_funptr
        type(c_ptr)       :: data = c_null_ptr, kernels = c_null_ptr, first_use = c_null_ptr
        real(c_double)    :: first_use_seconds = 0
    end type

    type, bind(c) :: kernel_info
        integer(c_size_t)  :: size = 0
        type(c_ptr)        :: problem, configuration, note, source, range_unit
        integer(c_int64_t) :: range
        integer(c_int32_t) :: grade, arguments, plain_loops, place
        real(c_double)     :: updates, operations, bytes
    end type

    type, bind(c) :: argument_info
        integer(c_size_t)  :: size = 0
        type(c_ptr)        :: name, shape, help
        integer(c_int32_t) :: type, access
        integer(c_int64_t) :: count, origin
        type(c_ptr)        :: strides
        integer(c_int32_t) :: indices, alignment
    end type

    type, bind(c) :: tuning_options
        integer(c_size_t)  :: size = 0
        real(c_double)     :: seconds = 0
        integer(c_int64_t) :: evaluations = 0
        type(c_ptr)        :: strategy = c_null_ptr, objective = c_null_ptr, only = c_null_ptr
        integer(c_int64_t) :: seed = 0
        integer(c_int32_t) :: resume = 0
        type(c_funptr)     :: progress = c_null_funptr, stop = c_null_funptr
        type(c_ptr)        :: data = c_null_ptr
    end type

    type, bind(c) :: tuning_result
        integer(c_size_t)  :: size = 0
        type(c_ptr)        :: configuration
        real(c_double)     :: seconds, safe_seconds, elapsed
        integer(c_int32_t) :: evaluations, interrupted
    end type

    type, bind(c) :: online_options
        integer(c_size_t)  :: size = 0
        real(c_double)     :: bound = 0
        integer(c_int32_t) :: evaluations = 0, disabled = 0, verify_reduced = 0
    end type

    type, bind(c) :: online_info
        integer(c_size_t)  :: size = 0
        type(c_ptr)        :: configuration, state, report
        real(c_double)     :: first_seconds, seconds
        integer(c_int64_t) :: steps
        integer(c_int32_t) :: evaluations, adopted
        type(c_ptr)        :: verified_on
    end type

    interface
        integer(c_int) function hone_abi() bind(c)
            import :: c_int
        end function
        type(c_ptr) function c_hone_version() bind(c, name='hone_version')
            import :: c_ptr
        end function
        type(c_ptr) function c_hone_last_error() bind(c, name='hone_last_error')
            import :: c_ptr
        end function
        type(c_ptr) function c_status_text(status) bind(c, name='hone_status_text')
            import :: c_int, c_ptr
            integer(c_int), value :: status
        end function
        type(c_ptr) function c_grade_text(grade) bind(c, name='hone_grade_text')
            import :: c_int32_t, c_ptr
            integer(c_int32_t), value :: grade
        end function
        integer(c_int) function c_devices(json) bind(c, name='hone_devices')
            import :: c_int, c_ptr
            type(c_ptr), intent(inout) :: json
        end function
        subroutine c_text_free(text) bind(c, name='hone_text_free')
            import :: c_ptr
            type(c_ptr), value :: text
        end subroutine
        integer(c_int) function c_session_open(device, options, session) bind(c, name='hone_session_open')
            import :: c_char, c_int, c_ptr, session_options
            character(kind=c_char), intent(in) :: device(*)
            type(session_options), intent(in)  :: options
            type(c_ptr), intent(inout)         :: session
        end function
        integer(c_int) function c_session_close(session) bind(c, name='hone_session_close')
            import :: c_int, c_ptr
            type(c_ptr), value :: session
        end function
        integer(c_int) function c_session_synchronise(session, stream) bind(c, name='hone_session_synchronise')
            import :: c_int, c_ptr
            type(c_ptr), value :: session, stream
        end function
        integer(c_int) function c_session_families(session, json) bind(c, name='hone_session_families')
            import :: c_int, c_ptr
            type(c_ptr), value         :: session
            type(c_ptr), intent(inout) :: json
        end function
        integer(c_int) function c_session_problems(session, family, json) bind(c, name='hone_session_problems')
            import :: c_int, c_ptr
            type(c_ptr), value         :: session, family
            type(c_ptr), intent(inout) :: json
        end function
        integer(c_int) function c_session_kernel(session, problem, kernel) bind(c, name='hone_session_kernel')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value                 :: session
            character(kind=c_char), intent(in) :: problem(*)
            type(c_ptr), intent(inout)         :: kernel
        end function
        integer(c_int) function c_session_tune(session, problem, options, result) bind(c, name='hone_session_tune')
            import :: c_char, c_int, c_ptr, tuning_options, tuning_result
            type(c_ptr), value                 :: session
            character(kind=c_char), intent(in) :: problem(*)
            type(tuning_options), intent(in)   :: options
            type(tuning_result), intent(inout) :: result
        end function
        integer(c_int) function c_array_allocate(session, type, count, array) bind(c, name='hone_array_allocate')
            import :: c_int, c_int32_t, c_int64_t, c_ptr, hone_array
            type(c_ptr), value              :: session
            integer(c_int32_t), value       :: type
            integer(c_int64_t), value       :: count
            type(hone_array), intent(inout) :: array
        end function
        integer(c_int) function c_array_free(session, array) bind(c, name='hone_array_free')
            import :: c_int, c_ptr, hone_array
            type(c_ptr), value              :: session
            type(hone_array), intent(inout) :: array
        end function
        integer(c_int) function c_copy(session, to, from, bytes, stream) bind(c, name='hone_copy')
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value        :: session, to, from, stream
            integer(c_int64_t), value :: bytes
        end function
        integer(c_int) function c_kernel_describe(kernel, info) bind(c, name='hone_kernel_describe')
            import :: c_int, c_ptr, kernel_info
            type(c_ptr), value               :: kernel
            type(kernel_info), intent(inout) :: info
        end function
        integer(c_int) function c_kernel_argument(kernel, index, argument) bind(c, name='hone_kernel_argument')
            import :: c_int, c_int32_t, c_ptr, argument_info
            type(c_ptr), value                 :: kernel
            integer(c_int32_t), value          :: index
            type(argument_info), intent(inout) :: argument
        end function
        integer(c_int) function c_kernel_bind(kernel, arrays, count, stream, bound) bind(c, name='hone_kernel_bind')
            import :: c_int, c_int32_t, c_ptr, hone_array
            type(c_ptr), value           :: kernel, stream
            type(hone_array), intent(in) :: arrays(*)
            integer(c_int32_t), value    :: count
            type(c_ptr), intent(inout)   :: bound
        end function
        integer(c_int) function c_bound_launch(bound, stream) bind(c, name='hone_bound_launch')
            import :: c_int, c_ptr
            type(c_ptr), value :: bound, stream
        end function
        integer(c_int) function c_bound_launch_range(bound, first, last, stream) bind(c, name='hone_bound_launch_range')
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value        :: bound, stream
            integer(c_int64_t), value :: first, last
        end function
        integer(c_int) function c_bound_run(bound, steps, stream) bind(c, name='hone_bound_run')
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value        :: bound, stream
            integer(c_int64_t), value :: steps
        end function
        integer(c_int) function c_bound_prepare(bound, stream) bind(c, name='hone_bound_prepare')
            import :: c_int, c_ptr
            type(c_ptr), value :: bound, stream
        end function
        integer(c_int) function c_bound_close(bound) bind(c, name='hone_bound_close')
            import :: c_int, c_ptr
            type(c_ptr), value :: bound
        end function
        integer(c_int) function c_online_open(session, problem, arrays, count, options, online) bind(c, name='hone_online_open')
            import :: c_char, c_int, c_int32_t, c_ptr, hone_array, online_options
            type(c_ptr), value                 :: session
            character(kind=c_char), intent(in) :: problem(*)
            type(hone_array), intent(in)       :: arrays(*)
            integer(c_int32_t), value          :: count
            type(online_options), intent(in)   :: options
            type(c_ptr), intent(inout)         :: online
        end function
        integer(c_int) function c_online_step(online, stream) bind(c, name='hone_online_step')
            import :: c_int, c_ptr
            type(c_ptr), value :: online, stream
        end function
        integer(c_int) function c_online_prepare(online, stream) bind(c, name='hone_online_prepare')
            import :: c_int, c_ptr
            type(c_ptr), value :: online, stream
        end function
        integer(c_int) function c_online_finish(online) bind(c, name='hone_online_finish')
            import :: c_int, c_ptr
            type(c_ptr), value :: online
        end function
        integer(c_int) function c_online_describe(online, info) bind(c, name='hone_online_describe')
            import :: c_int, c_ptr, online_info
            type(c_ptr), value               :: online
            type(online_info), intent(inout) :: info
        end function
        integer(c_int) function c_online_close(online) bind(c, name='hone_online_close')
            import :: c_int, c_ptr
            type(c_ptr), value :: online
        end function
        integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
        end function
    end interface

end module
