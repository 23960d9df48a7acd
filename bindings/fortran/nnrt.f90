! nnrt.f90 - neural networks from Fortran: loads a .onnx, .tflite or .nnrt file and runs it. Needs bindings/fortran/nnrt_fortran.c.
!
!     type(nnrt_network) :: net
!     integer :: status
!     call net%open('surface_flux.onnx', status, batch=columns)
!     call net%set_input(x, status)
!     call net%run(status)
!     call net%get_output(y, status)
!     if (status /= nnrt_success) error stop net%error()
!
! After a failure, all calls until the next open return the same status: one check is enough, after the last call.
! The shape of an array is the reverse of the shape of a tensor: a tensor [columns,levels] is x(levels,columns). Dimensions of 1 at
! the end may be left out. Arrays are copied. An image of a coarray program, a rank of MPI or a thread has a network of its own.
module nnrt
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: nnrt_network, nnrt_success

    integer, parameter :: nnrt_success = 0
    integer(c_int32_t), parameter :: type_int32 = 34, type_int64 = 35, type_float32 = 43, type_float64 = 44
    integer, parameter :: message_length = 512

    type :: nnrt_network
        private
        type(c_ptr) :: handle = c_null_ptr
        integer :: status = nnrt_success
        character(kind=c_char) :: message(message_length) = c_null_char
    contains
        procedure, public :: open => network_open
        procedure, public :: run => network_run
        procedure, public :: error => network_error
        procedure, public :: close => network_close
        procedure, private :: copy => network_copy
        procedure, private :: input_float32, input_float64, input_int32, input_int64
        procedure, private :: output_float32, output_float64, output_int32, output_int64
        generic, public :: set_input => input_float32, input_float64, input_int32, input_int64
        generic, public :: get_output => output_float32, output_float64, output_int32, output_int64
        final :: network_final
    end type nnrt_network

    interface
        function c_open(net, path, device, threads, batch, message, bytes) bind(c, name='nnrt_fortran_open') result(code)
            import :: c_ptr, c_char, c_int, c_int32_t, c_size_t
            type(c_ptr), intent(out) :: net
            character(kind=c_char), intent(in) :: path(*), device(*)
            integer(c_int32_t), value :: threads, batch
            character(kind=c_char), intent(inout) :: message(*)
            integer(c_size_t), value :: bytes
            integer(c_int) :: code
        end function c_open

        function c_copy(net, output, name, type, rank, shape, data, message, bytes) bind(c, name='nnrt_fortran_copy') result(code)
            import :: c_ptr, c_bool, c_char, c_int, c_int32_t, c_size_t
            type(c_ptr), value :: net, data
            logical(c_bool), value :: output
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int32_t), value :: type, rank
            integer(c_int32_t), intent(in) :: shape(*)
            character(kind=c_char), intent(inout) :: message(*)
            integer(c_size_t), value :: bytes
            integer(c_int) :: code
        end function c_copy

        function c_run(net, message, bytes) bind(c, name='nnrt_fortran_run') result(code)
            import :: c_ptr, c_char, c_int, c_size_t
            type(c_ptr), value :: net
            character(kind=c_char), intent(inout) :: message(*)
            integer(c_size_t), value :: bytes
            integer(c_int) :: code
        end function c_run

        subroutine c_close(net) bind(c, name='nnrt_fortran_close')
            import :: c_ptr
            type(c_ptr), value :: net
        end subroutine c_close
    end interface

contains

    ! Loads a network, and closes the one before. device: default 'auto'; threads: default 1; batch: the size of a dynamic first
    ! dimension, default 1.
    subroutine network_open(self, path, status, device, threads, batch)
        class(nnrt_network), intent(inout) :: self
        character(len=*), intent(in) :: path
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: device
        integer, intent(in), optional :: threads, batch
        integer(c_int32_t) :: used, first
        character(len=:), allocatable :: where
        call self%close()
        used = 1
        first = 1
        where = ''
        if (present(threads)) used = int(threads, c_int32_t)
        if (present(batch)) first = int(batch, c_int32_t)
        if (present(device)) where = trim(device)
        self%status = c_open(self%handle, c_text(trim(path)), c_text(where), used, first, self%message, &
                             int(message_length, c_size_t))
        status = self%status
    end subroutine network_open

    subroutine network_run(self, status)
        class(nnrt_network), intent(inout) :: self
        integer, intent(out) :: status
        if (self%status == nnrt_success) self%status = c_run(self%handle, self%message, int(message_length, c_size_t))
        status = self%status
    end subroutine network_run

    ! The reason of the failure, one sentence.
    function network_error(self) result(text)
        class(nnrt_network), intent(in) :: self
        character(len=:), allocatable :: text
        integer :: i
        text = ''
        do i = 1, message_length
            if (self%message(i) == c_null_char .or. self%status == nnrt_success) exit
            text = text // self%message(i)
        end do
    end function network_error

    subroutine network_close(self)
        class(nnrt_network), intent(inout) :: self
        call c_close(self%handle)
        self%handle = c_null_ptr
        self%status = nnrt_success
    end subroutine network_close

    subroutine network_final(self)
        type(nnrt_network), intent(inout) :: self
        call c_close(self%handle)
        self%handle = c_null_ptr
    end subroutine network_final

    function c_text(text) result(copy)
        character(len=*), intent(in) :: text
        character(kind=c_char) :: copy(len(text) + 1)
        integer :: i
        do i = 1, len(text)
            copy(i) = text(i:i)
        end do
        copy(len(text) + 1) = c_null_char
    end function c_text

    subroutine network_copy(self, output, type, extents, data, status, name)
        class(nnrt_network), intent(inout) :: self
        logical, intent(in) :: output
        integer(c_int32_t), intent(in) :: type
        integer, intent(in) :: extents(:)
        type(c_ptr), intent(in) :: data
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: name
        character(len=:), allocatable :: which
        which = ''
        if (present(name)) which = trim(name)
        if (self%status == nnrt_success) &
            self%status = c_copy(self%handle, logical(output, c_bool), c_text(which), type, int(size(extents), c_int32_t), &
                                 int(extents, c_int32_t), data, self%message, int(message_length, c_size_t))
        status = self%status
    end subroutine network_copy

    subroutine input_float32(self, array, status, name)
        class(nnrt_network), intent(inout) :: self
        real(c_float), intent(in), contiguous, target :: array(..)
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: name
        call self%copy(.false., type_float32, shape(array), c_loc(array), status, name)
    end subroutine input_float32

    subroutine output_float32(self, array, status, name)
        class(nnrt_network), intent(inout) :: self
        real(c_float), intent(inout), contiguous, target :: array(..)
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: name
        call self%copy(.true., type_float32, shape(array), c_loc(array), status, name)
    end subroutine output_float32

    subroutine input_float64(self, array, status, name)
        class(nnrt_network), intent(inout) :: self
        real(c_double), intent(in), contiguous, target :: array(..)
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: name
        call self%copy(.false., type_float64, shape(array), c_loc(array), status, name)
    end subroutine input_float64

    subroutine output_float64(self, array, status, name)
        class(nnrt_network), intent(inout) :: self
        real(c_double), intent(inout), contiguous, target :: array(..)
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: name
        call self%copy(.true., type_float64, shape(array), c_loc(array), status, name)
    end subroutine output_float64

    subroutine input_int32(self, array, status, name)
        class(nnrt_network), intent(inout) :: self
        integer(c_int32_t), intent(in), contiguous, target :: array(..)
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: name
        call self%copy(.false., type_int32, shape(array), c_loc(array), status, name)
    end subroutine input_int32

    subroutine output_int32(self, array, status, name)
        class(nnrt_network), intent(inout) :: self
        integer(c_int32_t), intent(inout), contiguous, target :: array(..)
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: name
        call self%copy(.true., type_int32, shape(array), c_loc(array), status, name)
    end subroutine output_int32

    subroutine input_int64(self, array, status, name)
        class(nnrt_network), intent(inout) :: self
        integer(c_int64_t), intent(in), contiguous, target :: array(..)
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: name
        call self%copy(.false., type_int64, shape(array), c_loc(array), status, name)
    end subroutine input_int64

    subroutine output_int64(self, array, status, name)
        class(nnrt_network), intent(inout) :: self
        integer(c_int64_t), intent(inout), contiguous, target :: array(..)
        integer, intent(out) :: status
        character(len=*), intent(in), optional :: name
        call self%copy(.true., type_int64, shape(array), c_loc(array), status, name)
    end subroutine output_int64

end module nnrt
