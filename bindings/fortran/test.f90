! test.f90 - runs a network on the samples of a raw file, for tests/tools/batch_test.py, and checks what wrong arguments give.
! arguments: MODEL SAMPLES RESULTS N: 784 and 10 float32 a sample, N samples
program test
    use, intrinsic :: iso_fortran_env, only: real32, real64
    use nnrt, only: nnrt_network, nnrt_success
    implicit none
    type(nnrt_network) :: net
    character(len=4096) :: model, samples, results, number
    real(real32) :: image(28, 28), y(10), two(28, 2)
    real(real32), target :: wide(56, 28)
    real(real64) :: double_image(28, 28)
    integer :: status, from, to, n, i, failed = 0

    call get_command_argument(1, model)
    call get_command_argument(2, samples)
    call get_command_argument(3, results)
    call get_command_argument(4, number)
    read (number, *) n
    open (newunit=from, file=samples, access='stream', form='unformatted', status='old', action='read')
    open (newunit=to, file=results, access='stream', form='unformatted', status='replace', action='write')
    call net%open(model, status, device='auto', threads=2)
    do i = 1, n
        read (from) image
        if (mod(i, 2) == 0) then  ! an array that is not contiguous
            wide = -1
            wide(1:56:2, :) = image
            call net%set_input(wide(1:56:2, :), status, name='image')
        else
            call net%set_input(image, status)
        end if
        call net%run(status)
        call net%get_output(y, status)
        write (to) y
    end do
    call expect('a run', nnrt_success, '')
    call net%set_input(two, status)
    call expect('a wrong shape', -1, "'image': the array is float32(28,2), expected float32(28,28,1,1)")
    call net%run(status)
    call expect('the first error stays', -1, 'expected float32(28,28,1,1)')

    call net%open(model, status)
    double_image = 0
    call net%set_input(double_image, status)
    call expect('a wrong type', -1, 'the array is float64(28,28), expected float32')
    call net%open(model, status)
    call net%set_input(image, status, name='picture')
    call expect('an unknown name', -1, "no input 'picture'; it has 1, the first one is 'image'")
    call net%open(model, status)
    call net%get_output(image, status)
    call expect('a wrong shape of an output', -1, 'expected float32(10,1)')
    call net%open('there is no such file.onnx', status)
    call expect('a missing file', -1, 'there is no such file.onnx')
    call net%open(samples, status)
    call expect('a file that is no model', -1, 'ONNX')
    call net%open(model, status, device='npu')
    call expect('an unknown device', -1, 'npu')
    call net%close()
    call net%run(status)
    call expect('a closed network', -1, 'the network is not open')
    call net%close()
    print '(a,i0,a)', 'fortran: ', failed, ' failed'
    if (failed > 0) stop 1

contains

    ! The status is success, or, for -1, another one with that part of a message.
    subroutine expect(what, code, part)
        character(len=*), intent(in) :: what, part
        integer, intent(in) :: code
        if ((code == nnrt_success .eqv. status == nnrt_success) .and. index(net%error(), part) > 0) return
        print '(5a,i0)', 'FAIL fortran: ', what, ': ', net%error(), ', status ', status
        failed = failed + 1
    end subroutine expect
end program test
