!> Waves on a square, from Fortran: a pulse spreads by hone's acoustic kernel on Fortran's arrays, and array expressions say whether it is right.
!>
!>     waves_fortran --device cpu --cells 400 --steps 200 --tune 10
!>
!> The pressure p lies at the centres of the cells, the velocities u and v at their left faces; kappa and b hold the factor dt / h
!> (generator/families/acoustics_staggered/family.hpp). What lies around the cells stays zero.
program waves
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit, int64
    use hone
    implicit none

    !> One of the kernel's arrays in the host's memory, with its padding, and as the kernel takes it.
    type :: field
        real(c_double), allocatable :: values(:, :)
        type(hone_array)            :: bound
    end type

    real(c_double), parameter :: medium = 0.5_c_double  !< kappa and b: 0.5 sqrt(2) (9/8 + 1/24) is below 1, so steps are stable
    integer, parameter        :: forth(8) = [1, 2, 3, 4, 5, 6, 7, 8], back(8) = [6, 7, 8, 4, 5, 1, 2, 3]

    type(hone_session)      :: session
    type(hone_kernel)       :: kernel
    type(hone_kernel_info)  :: info
    type(hone_argument)     :: argument
    type(hone_bound)        :: there, and_back
    type(field), target     :: fields(8)
    character(:), allocatable :: device, database
    character(160)          :: problem
    integer                 :: cells = 200, steps = 100, seconds_of_tuning = 0, i, x0, y0, step
    integer(int64)          :: began, ended, ticks
    integer(c_int)          :: status
    real(c_double)          :: seconds, error, allowed

    call read_options()
    if (len(database) > 0) then
        call session%open(device, database, status)
    else
        call session%open(device, status=status)
    end if
    if (status /= HONE_OK) then
        write (error_unit, '(2a)') 'waves_fortran: ', hone_last_error()
        stop 2, quiet=.true.
    end if
    write (problem, '(a, i0, a, i0)') 'acoustics_staggered kernel=step dimension=2 order=4 media=scalar precision=f64 nx=', cells, &
        ' ny=', cells
    if (seconds_of_tuning > 0) call session%tune(problem, seconds=real(seconds_of_tuning, c_double))

    kernel = session%kernel(problem)
    info = kernel%describe()
    print '(a)', info%problem
    print '(4a)', info%configuration, ' (grade ', hone_grade_text(info%grade), ')'

    ! The arrays, as the kernel describes them: the same layout whatever its configuration. C's rows are Fortran's columns.
    do i = 1, info%arguments
        argument = kernel%argument(i)
        print '(2x, a, t12, a, t28, a)', argument%name, argument%shape, argument%help
        if (argument%count == 1) then
            allocate (fields(i)%values(1, 1), source=medium)
        else
            allocate (fields(i)%values(argument%strides(1), argument%count/argument%strides(1)), source=0.0_c_double)
        end if
        if (argument%name == 'p') then
            x0 = 1 + int(mod(argument%origin, argument%strides(1)))
            y0 = 1 + int(argument%origin/argument%strides(1))
            fields(i)%values(x0:x0 + cells - 1, y0:y0 + cells - 1) = pulse()
        end if
        fields(i)%bound = hone_array_of(fields(i)%values)
        if (info%place /= HONE_HOST) call move_to_device(fields(i)%bound)
    end do

    ! A step goes from p, u, v to p_next, u_next, v_next, and the next one back.
    call there%bind(kernel, fields(forth)%bound)
    call and_back%bind(kernel, fields(back)%bound)
    call system_clock(began, ticks)
    do step = 1, steps
        if (mod(step, 2) == 1) then
            call there%launch()
        else
            call and_back%launch()
        end if
    end do
    call session%synchronise()
    call system_clock(ended)
    seconds = real(ended - began, c_double)/real(ticks, c_double)/steps
    print '(es9.2, " ms a step, ", es9.2, " GB/s")', 1e3*seconds, 1e-9*info%bytes/seconds

    i = merge(1, 6, mod(steps, 2) == 0)
    if (info%place /= HONE_HOST) then
        call session%copy(hone_array_of(fields(i)%values), fields(i)%bound)
        call session%synchronise()
    end if
    error = maxval(abs(fields(i)%values(x0:x0 + cells - 1, y0:y0 + cells - 1) - expected()))
    ! Both round some twenty operations of numbers below 1 in every step.
    allowed = 40*epsilon(1.0_c_double)*steps
    print '("differs from array expressions by ", es8.1, ", ", es8.1, " is allowed")', error, allowed
    call there%close()
    call and_back%close()
    call session%close()
    if (.not. error <= allowed) stop 1, quiet=.true.

contains

    subroutine read_options()
        character(*), parameter :: usage = 'usage: waves_fortran [--device NAME] [--db FOLDER] [--cells N] [--steps N]'// &
                                           ' [--tune SECONDS]'
        character(256) :: name, value
        integer        :: place, wrong
        device = 'best'
        database = ''
        do place = 1, command_argument_count(), 2
            call get_command_argument(place, name)
            if (name == '--help') then
                print '(a)', usage
                stop
            end if
            call get_command_argument(place + 1, value)
            wrong = 0
            select case (name)
            case ('--device'); device = trim(value)
            case ('--db'); database = trim(value)
            case ('--cells'); read (value, *, iostat=wrong) cells
            case ('--steps'); read (value, *, iostat=wrong) steps
            case ('--tune'); read (value, *, iostat=wrong) seconds_of_tuning
            case default; wrong = 1
            end select
            if (wrong /= 0 .or. value == '' .or. cells < 8 .or. cells > 20000 .or. steps < 1 .or. seconds_of_tuning < 0) then
                write (error_unit, '(4a)') 'waves_fortran: ', trim(name), ' ', trim(value)
                write (error_unit, '(a)') usage
                stop 2, quiet=.true.
            end if
        end do
    end subroutine

    function pulse() result(pressure)
        real(c_double) :: pressure(cells, cells)
        integer        :: x, y
        do concurrent(x=1:cells, y=1:cells)
            pressure(x, y) = exp(-((x - 1 - cells/3)/6.0_c_double)**2 - ((y - 1 - cells/2)/6.0_c_double)**2)
        end do
    end function

    !> From the host's memory, which a CUDA device does not work on, to memory of its own.
    subroutine move_to_device(array)
        type(hone_array), intent(inout) :: array
        type(hone_array)                :: host
        host = array
        call session%allocate(host%type, host%count, array)
        call session%copy(array, host)
        call session%synchronise()
    end subroutine

    !> The pressures after all steps, by the formulas of order 4 on whole arrays.
    function expected() result(pressure)
        real(c_double)              :: pressure(cells, cells)
        real(c_double), allocatable :: p(:, :), u(:, :), v(:, :), faces_u(:, :), faces_v(:, :)
        integer                     :: step, n
        n = cells
        allocate (p(-3:n + 4, -3:n + 4), u(-3:n + 4, -3:n + 4), v(-3:n + 4, -3:n + 4), source=0.0_c_double)
        allocate (faces_u(0:n + 2, n), faces_v(n, 0:n + 2))
        p(1:n, 1:n) = pulse()
        do step = 1, steps
            ! Faces beside the cells count for this step only.
            faces_u = u(0:n + 2, 1:n) - medium*(9/8.0_c_double*(p(0:n + 2, 1:n) - p(-1:n + 1, 1:n)) &
                                                - 1/24.0_c_double*(p(1:n + 3, 1:n) - p(-2:n, 1:n)))
            faces_v = v(1:n, 0:n + 2) - medium*(9/8.0_c_double*(p(1:n, 0:n + 2) - p(1:n, -1:n + 1)) &
                                                - 1/24.0_c_double*(p(1:n, 1:n + 3) - p(1:n, -2:n)))
            p(1:n, 1:n) = p(1:n, 1:n) - medium*(9/8.0_c_double*(faces_u(2:n + 1, :) - faces_u(1:n, :)) &
                                                - 1/24.0_c_double*(faces_u(3:n + 2, :) - faces_u(0:n - 1, :)) &
                                                + 9/8.0_c_double*(faces_v(:, 2:n + 1) - faces_v(:, 1:n)) &
                                                - 1/24.0_c_double*(faces_v(:, 3:n + 2) - faces_v(:, 0:n - 1)))
            u(1:n, 1:n) = faces_u(1:n, :)
            v(1:n, 1:n) = faces_v(:, 1:n)
        end do
        pressure = p(1:n, 1:n)
    end function
end program
