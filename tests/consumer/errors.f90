!> What a Fortran program is told of devices, families and problems; and of what is refused: arrays of
!> another type, too small, on another device, freed, not contiguous (which ends the program: "errors
!> parts"), sessions and kernels that are closed, a device that is not there ("errors device").
program errors
    use, intrinsic :: iso_c_binding
    use hone
    implicit none

    type(hone_session) :: session
    type(hone_kernel)  :: kernel
    type(hone_bound)   :: bound
    type(hone_array)   :: given(3), other
    real(c_float), allocatable, target  :: u(:), f(:), stencil(:), wide(:, :)
    real(c_double), allocatable, target :: doubles(:)
    type(hone_argument)    :: argument
    type(hone_kernel_info) :: info
    character(:), allocatable :: unknown
    integer(c_int)      :: status
    character(8)        :: word
    logical             :: failed = .false.

    call get_command_argument(1, word)
    if (word == 'device') call session%open('no_such_device')
    call session%open('cpu')
    kernel = session%kernel('gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=9 nz=11')
    argument = kernel%argument(1)
    allocate (u(argument%count), f(argument%count), stencil(27), doubles(argument%count), wide(2, argument%count))
    u = 0
    f = 0
    stencil = 1
    if (word == 'parts') given(1) = hone_array_of(wide(1, :))

    call contain('devices', hone_devices(), '{"devices": [', '"id": "cpu"')
    call contain('families', session%families(), '{"families": [', '"gauss_seidel_27 ')
    call contain('problems', session%problems('gauss_seidel_27'), '{"problems": [', ']}')
    call contain('a status', hone_status_text(HONE_BAD_HANDLE), 'bad', 'bad handle')
    info = kernel%describe()
    call contain('a grade', hone_grade_text(info%grade)//' '//hone_grade_text(HONE_NONE), hone_grade_text(info%grade), 'none')
    unknown = session%problems('gauss_seidel_28', status)
    call expect('problems of no family', HONE_ERROR, 'gauss_seidel_28', 'did you mean gauss_seidel_27')
    if (len(unknown) > 0) failed = .true.

    given = [hone_array_of(doubles), hone_array_of(f), hone_array_of(stencil)]
    call bound%bind(kernel, given, status=status)
    call expect('of another type', HONE_BAD_ARGUMENT, 'array 0 (u)', 'HONE_F32')
    given(1) = hone_array_of(u(2:))
    call bound%bind(kernel, given, status=status)
    call expect('too small', HONE_BAD_ARGUMENT, 'array 0 (u)', 'elements; give')
    given(1) = hone_array_of(u)
    given(1)%place = HONE_CUDA
    call bound%bind(kernel, given, status=status)
    call expect('on another device', HONE_BAD_ARGUMENT, 'memory of a CUDA device', 'copy it there')
    call bound%bind(kernel, given(1:2), status=status)
    call expect('too few', HONE_BAD_ARGUMENT, '2 arrays', 'u, f, stencil')
    kernel = session%kernel('gauss_seidel_28', status)
    call expect('no such family', HONE_ERROR, 'gauss_seidel_28', 'did you mean gauss_seidel_27')
    kernel = session%kernel('gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=9 nz=11')

    call session%allocate(HONE_F32, argument%count, other)
    call session%copy(other, hone_array_of(u))
    call bound%bind(kernel, [other, hone_array_of(f), hone_array_of(stencil)])
    call bound%launch()
    call session%free(other)
    call bound%launch(status=status)
    call expect('freed', HONE_BAD_ARGUMENT, 'array 0 (u)', 'was freed by hone_array_free')
    call bound%close()
    call bound%launch(status=status)
    call expect('a kernel that is closed', HONE_BAD_HANDLE, 'bound kernel is closed', 'hone_kernel_bind')
    call session%close()
    call session%synchronise(status=status)
    call expect('a session that is closed', HONE_BAD_HANDLE, 'session is closed', 'hone_session_open')
    if (failed) stop 1, quiet=.true.

contains

    subroutine contain(what, text, one, other)
        character(*), intent(in) :: what, text, one, other
        if (len(one) > 0 .and. index(text, one) > 0 .and. index(text, other) > 0) return
        print '(4a)', what, ': NOT as expected: ', text
        failed = .true.
    end subroutine

    subroutine expect(what, code, found, remedy)
        character(*), intent(in)   :: what, found, remedy
        integer(c_int), intent(in) :: code
        character(:), allocatable  :: text
        text = hone_last_error()
        if (status == code .and. index(text, found) > 0 .and. index(text, remedy) > 0) return
        print '(3a, i0, 2a)', what, ': NOT refused as it should be', ', status ', status, ': ', text
        failed = .true.
    end subroutine

end program
