!> hone from Fortran: the C interface (interfaces/c/hone.h) with Fortran's arrays and texts.
!>
!>     use hone
!>     type(hone_session) :: session
!>     type(hone_kernel)  :: kernel
!>     type(hone_bound)   :: sweep
!>     call session%open('best')
!>     kernel = session%kernel('gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96')
!>     call sweep%bind(kernel, [hone_array_of(u), hone_array_of(f), hone_array_of(stencil)])
!>     do i = 1, 100
!>         call sweep%launch()
!>     end do
!>     call session%synchronise()
!>     call sweep%close()
!>     call session%close()
!>
!> Every procedure that can fail has an optional last argument `status`: HONE_OK, or one of the
!> other codes with the reason in hone_last_error(). Without it a failure ends the program with that
!> reason. Arrays that are bound must be contiguous targets, and stay where they are for as long as
!> the kernel is bound to them.
module hone
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    use hone_c
    implicit none
    private

    public :: hone_session, hone_kernel, hone_bound, hone_online, hone_array, hone_argument, hone_kernel_info, hone_tuning_result
    public :: hone_array_of, hone_abi, hone_version, hone_last_error, hone_status_text, hone_grade_text, hone_devices
    public :: HONE_OK, HONE_BAD_HANDLE, HONE_BAD_ARGUMENT, HONE_ERROR, HONE_NO_MEMORY, HONE_NO_RESULT
    public :: HONE_F32, HONE_F64, HONE_I32, HONE_IN, HONE_OUT, HONE_INOUT, HONE_ANYWHERE, HONE_HOST, HONE_CUDA
    public :: HONE_EXACT, HONE_MEASURED, HONE_NEAREST_SIZE, HONE_SAME_ARCHITECTURE, HONE_PREDICTED, HONE_NONE, HONE_UNTUNED
    public :: HONE_OTHER_ARCHITECTURE

    !> What a kernel says of itself. `grade`: HONE_EXACT and so on; hone_grade_text gives the word.
    !> `updates`, `operations` and `bytes` are of one time step.
    type :: hone_kernel_info
        character(:), allocatable :: problem, configuration, note, range_unit
        integer(c_int64_t)        :: range = 0
        integer(c_int32_t)        :: grade = 0, arguments = 0, place = 0
        logical                   :: plain_loops = .false.
        real(c_double)            :: updates = 0, operations = 0, bytes = 0
    end type

    !> One array that a kernel is bound to. `strides` are those of C, slowest index first; element
    !> (i, j) of a shape [n][m] is number 1 + origin + i * strides(1) + j * strides(2) of the array,
    !> with i and j from 0.
    type :: hone_argument
        character(:), allocatable       :: name, shape, help
        integer(c_int32_t)              :: type = 0, access = 0, alignment = 0
        integer(c_int64_t)              :: count = 0, origin = 0
        integer(c_int64_t), allocatable :: strides(:)
    end type

    type :: hone_tuning_result
        character(:), allocatable :: configuration
        real(c_double)            :: seconds = 0, safe_seconds = 0, elapsed = 0
        integer(c_int32_t)        :: evaluations = 0
    end type

    !> A kernel that was looked up. It belongs to its session, and is not closed.
    type :: hone_kernel
        type(c_ptr) :: handle = c_null_ptr
    contains
        procedure :: describe => kernel_describe
        procedure :: argument => kernel_argument
    end type

    !> A device, the tuned results and compiled code.
    type :: hone_session
        type(c_ptr) :: handle = c_null_ptr
    contains
        procedure :: open => session_open
        procedure :: close => session_close
        procedure :: synchronise => session_synchronise
        procedure :: families => session_families
        procedure :: problems => session_problems
        procedure :: kernel => session_kernel
        procedure :: tune => session_tune
        procedure :: allocate => session_allocate
        procedure :: free => session_free
        procedure :: copy => session_copy
    end type

    !> A kernel with the application's arrays.
    type :: hone_bound
        type(c_ptr) :: handle = c_null_ptr
    contains
        procedure :: bind => bound_bind
        procedure :: launch => bound_launch
        procedure :: run => bound_run
        procedure :: prepare => bound_prepare
        procedure :: close => bound_close
    end type

    !> A kernel that is tuned while the application steps.
    type :: hone_online
        type(c_ptr) :: handle = c_null_ptr
    contains
        procedure :: open => online_open
        procedure :: step => online_step
        procedure :: prepare => online_prepare
        procedure :: report => online_report
        procedure :: finish => online_finish
        procedure :: close => online_close
    end type

    !> A contiguous array of Fortran's, of any rank, as a kernel of the processor takes it: no copy
    !> is made.
    interface hone_array_of
        module procedure array_of_f32, array_of_f64, array_of_i32
    end interface

contains

    !> A text of C's, or an empty one for a null pointer.
    function text_of(address) result(text)
        type(c_ptr), intent(in)            :: address
        character(:), allocatable          :: text
        character(kind=c_char), pointer    :: letters(:)
        integer                            :: i, length
        length = 0
        if (c_associated(address)) length = int(c_strlen(address))
        allocate (character(length) :: text)
        if (length == 0) return
        call c_f_pointer(address, letters, [length])
        do i = 1, length
            text(i:i) = letters(i)
        end do
    end function

    !> The release of the library: "0.1.0".
    function hone_version() result(text)
        character(:), allocatable :: text
        text = text_of(c_hone_version())
    end function

    !> What the last call that failed has to say: where, what was found, and what to do.
    function hone_last_error() result(text)
        character(:), allocatable :: text
        text = text_of(c_hone_last_error())
    end function

    !> A status in words: 'ok', 'bad handle'.
    function hone_status_text(status) result(text)
        integer(c_int), intent(in) :: status
        character(:), allocatable  :: text
        text = text_of(c_status_text(status))
    end function

    !> A grade as a word: 'exact', 'measured', 'nearest_size', 'same_architecture',
    !> 'predicted', 'other_architecture', 'none'.
    function hone_grade_text(grade) result(text)
        integer(c_int32_t), intent(in) :: grade
        character(:), allocatable      :: text
        text = text_of(c_grade_text(grade))
    end function

    !> The devices of this machine that hone can use, as the JSON document of 'hone devices --json'.
    function hone_devices(status) result(json)
        integer(c_int), intent(out), optional :: status
        character(:), allocatable             :: json
        type(c_ptr)                           :: text
        integer(c_int)                        :: code
        text = c_null_ptr
        code = c_devices(text)
        json = taken(text)
        call settle(code, status)
    end function

    !> Copies a text that the library allocated, and frees it.
    function taken(text) result(copy)
        type(c_ptr), intent(in)   :: text
        character(:), allocatable :: copy
        copy = text_of(text)
        call c_text_free(text)
    end function

    !> Hands a status to a caller who asked for it; ends the program where nobody did.
    subroutine settle(code, status)
        integer(c_int), intent(in)            :: code
        integer(c_int), intent(out), optional :: status
        if (present(status)) then
            status = code
        else if (code /= HONE_OK) then
            write (error_unit, '(2a)') 'hone: ', hone_last_error()
            flush (error_unit)
            stop 1, quiet=.true.  ! error stop would print a backtrace below the message
        end if
    end subroutine

    type(c_ptr) function stream_or_default(stream)
        type(c_ptr), intent(in), optional :: stream
        stream_or_default = c_null_ptr
        if (present(stream)) stream_or_default = stream
    end function

    function array_of_f32(array) result(described)
        real(c_float), intent(in), target :: array(..)
        type(hone_array)                  :: described
        call require_contiguous(is_contiguous(array))
        described = hone_array(c_loc(array), size(array, kind=c_int64_t), HONE_F32, HONE_HOST)
    end function

    function array_of_f64(array) result(described)
        real(c_double), intent(in), target :: array(..)
        type(hone_array)                   :: described
        call require_contiguous(is_contiguous(array))
        described = hone_array(c_loc(array), size(array, kind=c_int64_t), HONE_F64, HONE_HOST)
    end function

    function array_of_i32(array) result(described)
        integer(c_int32_t), intent(in), target :: array(..)
        type(hone_array)                       :: described
        call require_contiguous(is_contiguous(array))
        described = hone_array(c_loc(array), size(array, kind=c_int64_t), HONE_I32, HONE_HOST)
    end function

    subroutine require_contiguous(contiguous)
        logical, intent(in) :: contiguous
        if (contiguous) return
        write (error_unit, '(a)') 'hone_array_of: the array is not contiguous; give a whole array, or copy the part into one'
        flush (error_unit)
        stop 1, quiet=.true.
    end subroutine

    !> `device` is 'best', 'cpu', 'cuda' or 'cuda:1'. `database` is a folder of tuned results, which
    !> must be there; without it all usual places are read. `kernels` are folders of kernels of
    !> one's own (docs/your-own-kernel.md), separated by colons; without it those in HONE_KERNELS.
    !> `first_use` is 'predicted' or 'measured': whether suggestions are measured, for
    !> `first_use_seconds`, when a problem that nobody tuned is used first; without it what
    !> HONE_FIRST_USE says.
    subroutine session_open(self, device, database, status, kernels, first_use, first_use_seconds)
        class(hone_session), intent(inout)            :: self
        character(*), intent(in)                      :: device
        character(*), intent(in), optional            :: database
        integer(c_int), intent(out), optional         :: status
        character(*), intent(in), optional            :: kernels, first_use
        real(c_double), intent(in), optional          :: first_use_seconds
        type(session_options)                         :: options
        character(:, c_char), allocatable, target     :: folder, folders, first
        options%size = c_sizeof(options)
        if (present(database)) then
            folder = trim(database)//c_null_char
            options%database = c_loc(folder)
        end if
        if (present(kernels)) then
            folders = trim(kernels)//c_null_char
            options%kernels = c_loc(folders)
        end if
        if (present(first_use)) then
            first = trim(first_use)//c_null_char
            options%first_use = c_loc(first)
        end if
        if (present(first_use_seconds)) options%first_use_seconds = first_use_seconds
        call settle(c_session_open(trim(device)//c_null_char, options, self%handle), status)
    end subroutine

    !> Ends the session and its kernels; bound kernels go on until they are closed themselves.
    subroutine session_close(self, status)
        class(hone_session), intent(inout)    :: self
        integer(c_int), intent(out), optional :: status
        call settle(c_session_close(self%handle), status)
    end subroutine

    !> Waits for all that was queued on a stream; on processors nothing is.
    subroutine session_synchronise(self, stream, status)
        class(hone_session), intent(in)       :: self
        type(c_ptr), intent(in), optional     :: stream
        integer(c_int), intent(out), optional :: status
        call settle(c_session_synchronise(self%handle, stream_or_default(stream)), status)
    end subroutine

    !> The families that the session knows, as the JSON document of 'hone families --json'.
    function session_families(self, status) result(json)
        class(hone_session), intent(in)       :: self
        integer(c_int), intent(out), optional :: status
        character(:), allocatable             :: json
        type(c_ptr)                           :: text
        integer(c_int)                        :: code
        text = c_null_ptr
        code = c_session_families(self%handle, text)
        json = taken(text)
        call settle(code, status)
    end function

    !> The problems with a result for the device's model, of one family or of all, as a JSON
    !> document: {"problems": [{"problem", "grade", "seconds"}]}.
    function session_problems(self, family, status) result(json)
        class(hone_session), intent(in)           :: self
        character(*), intent(in), optional        :: family
        integer(c_int), intent(out), optional     :: status
        character(:), allocatable                 :: json
        character(:, c_char), allocatable, target :: name
        type(c_ptr)                               :: chosen, text
        integer(c_int)                            :: code
        chosen = c_null_ptr
        text = c_null_ptr
        if (present(family)) then
            name = trim(family)//c_null_char
            chosen = c_loc(name)
        end if
        code = c_session_problems(self%handle, chosen, text)
        json = taken(text)
        call settle(code, status)
    end function

    !> The best kernel known for a problem, "family name=value ...".
    function session_kernel(self, problem, status) result(kernel)
        class(hone_session), intent(in)       :: self
        character(*), intent(in)              :: problem
        integer(c_int), intent(out), optional :: status
        type(hone_kernel)                     :: kernel
        call settle(c_session_kernel(self%handle, trim(problem)//c_null_char, kernel%handle), status)
    end function

    !> Tunes a problem for so many seconds, or so many candidates; the result is kept, and is what
    !> `kernel` gives from then on.
    subroutine session_tune(self, problem, seconds, evaluations, result, status)
        class(hone_session), intent(in)                 :: self
        character(*), intent(in)                        :: problem
        real(c_double), intent(in), optional            :: seconds
        integer, intent(in), optional                   :: evaluations
        type(hone_tuning_result), intent(out), optional :: result
        integer(c_int), intent(out), optional           :: status
        type(tuning_options)                            :: options
        type(tuning_result)                             :: found
        integer(c_int)                                  :: code
        options%size = c_sizeof(options)
        found%size = c_sizeof(found)
        if (present(seconds)) options%seconds = seconds
        if (present(evaluations)) options%evaluations = evaluations
        code = c_session_tune(self%handle, trim(problem)//c_null_char, options, found)
        if (present(result) .and. code == HONE_OK) then
            result%configuration = text_of(found%configuration)
            result%seconds = found%seconds
            result%safe_seconds = found%safe_seconds
            result%elapsed = found%elapsed
            result%evaluations = found%evaluations
        end if
        call settle(code, status)
    end subroutine

    !> Memory on the session's device for `count` elements of a type (HONE_F32 and so on), not
    !> initialised.
    subroutine session_allocate(self, type, count, array, status)
        class(hone_session), intent(in)       :: self
        integer(c_int32_t), intent(in)        :: type
        integer(c_int64_t), intent(in)        :: count
        type(hone_array), intent(inout)       :: array
        integer(c_int), intent(out), optional :: status
        call settle(c_array_allocate(self%handle, type, count, array), status)
    end subroutine

    !> Frees what `allocate` gave.
    subroutine session_free(self, array, status)
        class(hone_session), intent(in)       :: self
        type(hone_array), intent(inout)       :: array
        integer(c_int), intent(out), optional :: status
        call settle(c_array_free(self%handle, array), status)
    end subroutine

    !> Copies all of `from` to the beginning of `to`, between any two of host and device memory;
    !> synchronise before host memory is used again.
    subroutine session_copy(self, to, from, stream, status)
        class(hone_session), intent(in)       :: self
        type(hone_array), intent(in)          :: to, from
        type(c_ptr), intent(in), optional     :: stream
        integer(c_int), intent(out), optional :: status
        integer(c_int64_t)                    :: bytes
        bytes = 4 * from%count
        if (from%type == HONE_F64) bytes = 8 * from%count
        call settle(c_copy(self%handle, to%data, from%data, bytes, stream_or_default(stream)), status)
    end subroutine

    function kernel_describe(self, status) result(info)
        class(hone_kernel), intent(in)        :: self
        integer(c_int), intent(out), optional :: status
        type(hone_kernel_info)                :: info
        type(kernel_info)                     :: found
        integer(c_int)                        :: code
        found%size = c_sizeof(found)
        code = c_kernel_describe(self%handle, found)
        if (code == HONE_OK) then
            info%problem = text_of(found%problem)
            info%configuration = text_of(found%configuration)
            info%note = text_of(found%note)
            info%range_unit = text_of(found%range_unit)
            info%range = found%range
            info%grade = found%grade
            info%arguments = found%arguments
            info%place = found%place
            info%plain_loops = found%plain_loops /= 0
            info%updates = found%updates
            info%operations = found%operations
            info%bytes = found%bytes
        end if
        call settle(code, status)
    end function

    !> Argument `index`, from 1.
    function kernel_argument(self, index, status) result(argument)
        class(hone_kernel), intent(in)        :: self
        integer, intent(in)                   :: index
        integer(c_int), intent(out), optional :: status
        type(hone_argument)                   :: argument
        type(argument_info)                   :: found
        integer(c_int64_t), pointer           :: strides(:)
        integer(c_int)                        :: code
        found%size = c_sizeof(found)
        code = c_kernel_argument(self%handle, int(index - 1, c_int32_t), found)
        if (code == HONE_OK) then
            argument%name = text_of(found%name)
            argument%shape = text_of(found%shape)
            argument%help = text_of(found%help)
            argument%type = found%type
            argument%access = found%access
            argument%alignment = found%alignment
            argument%count = found%count
            argument%origin = found%origin
            allocate (argument%strides(found%indices))
            if (found%indices > 0) then
                call c_f_pointer(found%strides, strides, [found%indices])
                argument%strides = strides
            end if
        end if
        call settle(code, status)
    end function

    !> Binds a kernel to arrays in the order of its arguments. No copy is made.
    subroutine bound_bind(self, kernel, arrays, stream, status)
        class(hone_bound), intent(inout)      :: self
        type(hone_kernel), intent(in)         :: kernel
        type(hone_array), intent(in)          :: arrays(:)
        type(c_ptr), intent(in), optional     :: stream
        integer(c_int), intent(out), optional :: status
        call settle(c_kernel_bind(kernel%handle, arrays, size(arrays, kind=c_int32_t), stream_or_default(stream), &
                                  self%handle), status)
    end subroutine

    !> One time step, over the whole range or over elements first to last of it, both counted from 1
    !> and included.
    subroutine bound_launch(self, first, last, stream, status)
        class(hone_bound), intent(in)            :: self
        integer(c_int64_t), intent(in), optional :: first, last
        type(c_ptr), intent(in), optional        :: stream
        integer(c_int), intent(out), optional    :: status
        if (present(first) .and. present(last)) then
            call settle(c_bound_launch_range(self%handle, first - 1, last, stream_or_default(stream)), status)
        else
            call settle(c_bound_launch(self%handle, stream_or_default(stream)), status)
        end if
    end subroutine

    !> So many time steps, and waits until they have ended.
    subroutine bound_run(self, steps, stream, status)
        class(hone_bound), intent(in)         :: self
        integer, intent(in)                   :: steps
        type(c_ptr), intent(in), optional     :: stream
        integer(c_int), intent(out), optional :: status
        call settle(c_bound_run(self%handle, int(steps, c_int64_t), stream_or_default(stream)), status)
    end subroutine

    !> An array that steps do not write has changed: makes what comes from it again.
    subroutine bound_prepare(self, stream, status)
        class(hone_bound), intent(in)         :: self
        type(c_ptr), intent(in), optional     :: stream
        integer(c_int), intent(out), optional :: status
        call settle(c_bound_prepare(self%handle, stream_or_default(stream)), status)
    end subroutine

    subroutine bound_close(self, status)
        class(hone_bound), intent(inout)      :: self
        integer(c_int), intent(out), optional :: status
        call settle(c_bound_close(self%handle), status)
    end subroutine

    !> A kernel that is tuned while the application steps; `bound`: the part of the time that may be
    !> spent on it, 0.05 by default. `verify_reduced`: candidates of large problems run once they
    !> are right on smaller arrays, without a look at the problem's own size.
    subroutine online_open(self, session, problem, arrays, bound, verify_reduced, status)
        class(hone_online), intent(inout)     :: self
        type(hone_session), intent(in)        :: session
        character(*), intent(in)              :: problem
        type(hone_array), intent(in)          :: arrays(:)
        real(c_double), intent(in), optional  :: bound
        logical, intent(in), optional         :: verify_reduced
        integer(c_int), intent(out), optional :: status
        type(online_options)                  :: options
        options%size = c_sizeof(options)
        if (present(bound)) options%bound = bound
        if (present(verify_reduced)) options%verify_reduced = merge(1_c_int32_t, 0_c_int32_t, verify_reduced)
        call settle(c_online_open(session%handle, trim(problem)//c_null_char, arrays, size(arrays, kind=c_int32_t), options, &
                                  self%handle), status)
    end subroutine

    !> One time step, in place of a bound kernel's launch.
    subroutine online_step(self, stream, status)
        class(hone_online), intent(in)        :: self
        type(c_ptr), intent(in), optional     :: stream
        integer(c_int), intent(out), optional :: status
        call settle(c_online_step(self%handle, stream_or_default(stream)), status)
    end subroutine

    !> As of a bound kernel.
    subroutine online_prepare(self, stream, status)
        class(hone_online), intent(in)        :: self
        type(c_ptr), intent(in), optional     :: stream
        integer(c_int), intent(out), optional :: status
        call settle(c_online_prepare(self%handle, stream_or_default(stream)), status)
    end subroutine

    !> Several lines for people: what was tried, what runs, what it cost.
    function online_report(self, status) result(text)
        class(hone_online), intent(in)        :: self
        integer(c_int), intent(out), optional :: status
        character(:), allocatable             :: text
        type(online_info)                     :: info
        integer(c_int)                        :: code
        info%size = c_sizeof(info)
        text = ''
        code = c_online_describe(self%handle, info)
        if (code == HONE_OK) text = text_of(info%report)
        call settle(code, status)
    end function

    !> Keeps the results and tries nothing more; steps then run the best configuration.
    subroutine online_finish(self, status)
        class(hone_online), intent(in)        :: self
        integer(c_int), intent(out), optional :: status
        call settle(c_online_finish(self%handle), status)
    end subroutine

    subroutine online_close(self, status)
        class(hone_online), intent(inout)     :: self
        integer(c_int), intent(out), optional :: status
        call settle(c_online_close(self%handle), status)
    end subroutine

end module
