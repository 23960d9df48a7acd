! example.f90 - a network in the time loop of a model: it classifies a drawing, which here stands for a column of air.
!
!     gfortran -c bindings/fortran/nnrt.f90 && gfortran bindings/fortran/example.f90 nnrt.o nnrt_fortran.o -lpthread -o example
!     ./example examples/digits/digits.onnx
program example
    use, intrinsic :: iso_fortran_env, only: error_unit, real32
    use nnrt, only: nnrt_network, nnrt_success
    implicit none
    type(nnrt_network) :: net
    character(len=4096) :: path
    real(real32) :: image(28, 28), probabilities(10)
    integer :: status, step

    call get_command_argument(1, path)
    call net%open(path, status, threads=1)
    do step = 1, 3
        image = 0
        image(13:16, 4 + step:25) = 1  ! a vertical bar: the first index is the column of the picture
        call net%set_input(image, status)
        call net%run(status)
        call net%get_output(probabilities, status)
        if (status /= nnrt_success) exit
        print '(a,i0,a,i0,a,f6.4)', 'step ', step, ': digit ', maxloc(probabilities) - 1, ', probability ', maxval(probabilities)
    end do
    if (status /= nnrt_success) then
        write (error_unit, '(a)') net%error()
        stop 1
    end if
end program example
