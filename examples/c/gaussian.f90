! examples/c/gaussian.f90 - a sum of Gaussians at points, from Fortran 2003. An
! array (D, N) of Fortran is (N, D) in the order of C: nothing is copied.
!
!     gfortran gaussian.f90 $(pkg-config --libs tilefold)

module tilefold
    use, intrinsic :: iso_c_binding
    implicit none

    type, bind(C) :: dl_tensor
        type(c_ptr) :: data = c_null_ptr
        integer(c_int32_t) :: device_type = 1, device_id = 0
        integer(c_int32_t) :: ndim = 0
        integer(c_int8_t) :: code = 2, bits = 64 ! float64
        integer(c_int16_t) :: lanes = 1
        type(c_ptr) :: shape = c_null_ptr, strides = c_null_ptr
        integer(c_int64_t) :: byte_offset = 0
    end type

    type, bind(C) :: dl_managed_tensor
        integer(c_int32_t) :: major, minor
        type(c_ptr) :: manager_ctx
        type(c_funptr) :: deleter
        integer(c_int64_t) :: flags
        type(dl_tensor) :: tensor
    end type

    type, bind(C) :: tilefold_argument
        type(c_ptr) :: name = c_null_ptr, array = c_null_ptr
        real(c_double) :: number = 0
        integer(c_int32_t) :: axes = -1, reserved = 0
    end type

    interface
        function tilefold_session_create(options, session) bind(C)
            import :: c_ptr
            type(c_ptr), value :: options
            type(c_ptr) :: session, tilefold_session_create
        end function

        subroutine tilefold_session_free(session) bind(C)
            import :: c_ptr
            type(c_ptr), value :: session
        end subroutine

        function tilefold_reduce(session, text, arguments, count, options, &
                                 result) bind(C)
            import :: c_ptr, c_char, c_int64_t, tilefold_argument
            type(c_ptr), value :: session, options
            character(kind=c_char) :: text(*)
            type(tilefold_argument) :: arguments(*)
            integer(c_int64_t), value :: count
            type(c_ptr) :: result, tilefold_reduce
        end function

        subroutine tilefold_tensor_free(tensor) bind(C)
            import :: c_ptr
            type(c_ptr), value :: tensor
        end subroutine

        function tilefold_error_code(error) bind(C)
            import :: c_ptr
            type(c_ptr), value :: error
            type(c_ptr) :: tilefold_error_code
        end function

        function tilefold_error_message(error) bind(C)
            import :: c_ptr
            type(c_ptr), value :: error
            type(c_ptr) :: tilefold_error_message
        end function

        subroutine tilefold_error_free(error) bind(C)
            import :: c_ptr
            type(c_ptr), value :: error
        end subroutine

        function c_strlen(text) bind(C, name="strlen")
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: c_strlen
        end function
    end interface

contains

    ! A text of C as one of Fortran.
    function text_of(pointer) result(text)
        type(c_ptr), intent(in) :: pointer
        character(len=:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: k
        call c_f_pointer(pointer, letters, [c_strlen(pointer)])
        allocate (character(len=size(letters)) :: text)
        do k = 1, size(letters)
            text(k:k) = letters(k)
        end do
    end function

end module

program gaussian
    use tilefold
    implicit none
    integer(c_int64_t), parameter :: n = 4, m = 5, d = 2
    real(c_double), target :: x(d, n), y(d, m), b(m)
    integer(c_int64_t), target :: x_shape(2) = [n, d], y_shape(2) = [m, d]
    character(kind=c_char), target :: names(2, 4)
    type(dl_tensor), target :: arrays(3)
    type(tilefold_argument) :: arguments(4)
    type(c_ptr) :: session, error, handle
    type(dl_managed_tensor), pointer :: result
    real(c_double), pointer :: a(:)
    integer :: i, j, k

    do k = 1, d
        do i = 1, n
            x(k, i) = real(i - 1 + 2*(k - 1), c_double)/4
        end do
        do j = 1, m
            y(k, j) = real(2*(j - 1) - (k - 1), c_double)/5
        end do
    end do
    b = [(real(j, c_double), j=1, m)]

    names(1, :) = ["x", "y", "b", "l"]
    names(2, :) = c_null_char
    arrays(1)%data = c_loc(x)
    arrays(1)%shape = c_loc(x_shape)
    arrays(2)%data = c_loc(y)
    arrays(2)%shape = c_loc(y_shape)
    arrays(3)%data = c_loc(b)
    arrays(3)%shape = c_loc(y_shape)
    arrays%ndim = [2, 2, 1]
    do k = 1, 4
        arguments(k)%name = c_loc(names(1, k))
        if (k < 4) arguments(k)%array = c_loc(arrays(k))
    end do
    arguments(4)%number = 0.5d0

    call check(tilefold_session_create(c_null_ptr, session))
    call check(tilefold_reduce(session, &
               "sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j"//c_null_char, &
               arguments, 4_c_int64_t, c_null_ptr, handle))
    call c_f_pointer(handle, result)
    call c_f_pointer(result%tensor%data, a, [n])
    do i = 1, n
        print '(a, i0, a, f8.6)', "a[", i - 1, "] = ", a(i)
    end do
    call tilefold_tensor_free(handle)

    ! A mistake is an error, whose code does not change with versions.
    error = tilefold_reduce(session, "sum_j expp(x_i - y_j)"//c_null_char, &
                            arguments, 2_c_int64_t, c_null_ptr, handle)
    print '(2a)', "error: ", text_of(tilefold_error_code(error))
    call tilefold_error_free(error)
    call tilefold_session_free(session)

contains

    subroutine check(error)
        type(c_ptr), intent(in) :: error
        if (.not. c_associated(error)) return
        print '(a)', text_of(tilefold_error_message(error))
        error stop
    end subroutine

end program
