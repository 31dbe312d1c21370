! What heat_fortran prints, and the JSON file it writes: the members of heat_report.c.
module heat_reports
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite
  use mpi_f08
  use anadrome, only: anadrome_stats, anadrome_text
  use heat_flags, only: heat_options
  use heat_grids, only: heat_grid
  implicit none
  private
  public :: heat_result, combine_statistics, print_header, print_results, write_json

  type :: heat_result
    integer :: exit_code = 0                    ! 0 fine, 1 wrong gradient, 2 usage, 3 anadrome failed
    character(:), allocatable :: message        ! why exit_code is not 0
    integer :: ranks = 0
    logical :: have_gradient = .false.
    real(real64) :: objective = 0, gradient_norm = 0, norm_kappa = 0, norm_state = 0
    integer(int64) :: hash = 0
    logical :: checked = .false., verified = .false.
    logical :: have_taylor = .false., taylor_passed = .false.
    real(real64), allocatable :: slopes(:)
    real(real64) :: dot_test_error = -1         ! -1: not asked, or not reached
    real(real64) :: seconds_step_median = -1
    integer(int64) :: rss_growth_bytes = -1     ! -1: not known
    type(anadrome_stats) :: all                 ! of all ranks, last sweep
  end type heat_result

contains

  ! Sums of bytes and of copied states, maxima of times and of memory, rank 0's of what is agreed.
  subroutine combine_statistics(comm, stats)
    type(MPI_Comm), intent(in) :: comm
    type(anadrome_stats), intent(inout) :: stats
    integer(int64) :: sums(4), sizes(4)
    real(real64) :: seconds(10)
    sums = [stats%bytes_written, stats%bytes_read, stats%states_kept, stats%states_restored]
    sizes = [stats%state_bytes, stats%peak_library_bytes, stats%memory_bytes, stats%forward_steps_taken]
    seconds = [stats%seconds_total, stats%seconds_forward, stats%seconds_adjoint, &
         stats%seconds_stalled_write, stats%seconds_stalled_read, stats%seconds_copying, &
         stats%seconds_agreeing, stats%seconds_writing, stats%seconds_reading, stats%seconds_checksums]
    call MPI_Allreduce(MPI_IN_PLACE, sums, size(sums), MPI_INTEGER8, MPI_SUM, comm)
    call MPI_Allreduce(MPI_IN_PLACE, sizes, size(sizes), MPI_INTEGER8, MPI_MAX, comm)
    call MPI_Allreduce(MPI_IN_PLACE, seconds, size(seconds), MPI_DOUBLE_PRECISION, MPI_MAX, comm)
    stats%bytes_written = sums(1)
    stats%bytes_read = sums(2)
    stats%states_kept = sums(3)
    stats%states_restored = sums(4)
    stats%state_bytes = sizes(1)
    stats%peak_library_bytes = sizes(2)
    stats%memory_bytes = sizes(3)
    stats%forward_steps_taken = sizes(4)
    stats%seconds_total = seconds(1)
    stats%seconds_forward = seconds(2)
    stats%seconds_adjoint = seconds(3)
    stats%seconds_stalled_write = seconds(4)
    stats%seconds_stalled_read = seconds(5)
    stats%seconds_copying = seconds(6)
    stats%seconds_agreeing = seconds(7)
    stats%seconds_writing = seconds(8)
    stats%seconds_reading = seconds(9)
    stats%seconds_checksums = seconds(10)
  end subroutine combine_statistics

  subroutine print_header(grid, options, stats)
    type(heat_grid), intent(in) :: grid
    type(heat_options), intent(in) :: options
    type(anadrome_stats), intent(in) :: stats
    real(real64) :: states
    if (grid%rank /= 0) return
    states = 8.0_real64 * real(grid%cells_x, real64) * real(grid%cells_y, real64) * real(options%steps, real64)
    print "(a,i0,a,i0,a,i0,a,i0,a,i0,a,i0,a)", "heat equation: ", grid%cells_x, "x", grid%cells_y, " cells, ", &
         options%steps, " steps, ", grid%ranks, " ranks (", grid%blocks_x, "x", grid%blocks_y, " blocks)"
    print "(a,f0.1,a,f0.1,a)", "all states: ", states / 2.0_real64**20, " MiB; memory for states: ", &
         real(stats%memory_bytes, real64) / 2.0_real64**20, " MiB per rank"
  end subroutine print_header

  subroutine print_results(grid, result)
    type(heat_grid), intent(in) :: grid
    type(heat_result), intent(in) :: result
    if (grid%rank /= 0 .or. .not. result%have_gradient) return
    print "(a,a)", "objective          ", number(result%objective)
    print "(a,a)", "gradient norm      ", number(result%gradient_norm)
    print "(a,a)", "gradient hash      ", hexadecimal(result%hash)
    if (result%checked) print "(a,a)", "verify             ", &
         merge("same bits as with every state kept", "DIFFERENT                         ", result%verified)
    if (result%have_taylor) print "(a,*(f7.4))", "taylor slopes      ", result%slopes
    if (result%dot_test_error >= 0) print "(a,es9.2)", "dot-product test   relative error ", result%dot_test_error
  end subroutine print_results

  pure function hexadecimal(hash) result(text)
    integer(int64), intent(in) :: hash
    character(16) :: text
    character(*), parameter :: digits = "0123456789abcdef"
    integer :: i, digit
    do i = 1, 16
      digit = int(ibits(hash, 64 - 4 * i, 4))
      text(i:i) = digits(digit + 1:digit + 1)
    end do
  end function hexadecimal

  ! As JSON wants it; 17 digits are all there are.
  function number(value) result(text)
    real(real64), intent(in) :: value
    character(:), allocatable :: text
    character(32) :: buffer
    text = "null"
    if (.not. ieee_is_finite(value)) return
    write (buffer, "(es24.16e3)") value
    text = trim(adjustl(buffer))
  end function number

  function known(value) result(text)
    real(real64), intent(in) :: value
    character(:), allocatable :: text
    text = "null"
    if (value >= 0) text = number(value)
  end function known

  function whole(value) result(text)
    integer(int64), intent(in) :: value
    character(:), allocatable :: text
    character(24) :: buffer
    write (buffer, "(i0)") value
    text = trim(buffer)
  end function whole

  function quoted(text) result(json)
    character(*), intent(in) :: text
    character(:), allocatable :: json
    integer :: i
    json = '"'
    do i = 1, len(text)
      if (text(i:i) == '"' .or. text(i:i) == "\") json = json//"\"
      json = json//merge(text(i:i), " ", iachar(text(i:i)) >= 32)
    end do
    json = json//'"'
  end function quoted

  subroutine write_json(unit, options, result)
    integer, intent(in) :: unit
    type(heat_options), intent(in) :: options
    type(heat_result), intent(in) :: result
    character(:), allocatable :: slopes, verified
    integer :: s
    slopes = ""
    if (result%have_taylor) then
      do s = 1, size(result%slopes)
        slopes = slopes//merge("  ", ", ", s == 1)//number(result%slopes(s))
      end do
    end if
    verified = "null"
    if (result%checked) verified = trim(merge("true ", "false", result%verified))
    write (unit, "(a)") "{"
    call put("exit_code", whole(int(result%exit_code, int64)))
    if (result%exit_code /= 0) call put("error", quoted(result%message))
    call put("grid", quoted(whole(options%cells_x)//"x"//whole(options%cells_y)))
    call put("steps", whole(options%steps))
    call put("integrator", quoted(trim(merge("euler", "rk4  ", options%stages == 1))))
    call put("tape", trim(merge("true ", "false", options%tape)))
    call put("ranks", whole(int(result%ranks, int64)))
    call put("state_bytes", whole(8 * options%cells_x * options%cells_y))
    call put_statistics(result%all)
    call put("seconds_step_median", known(result%seconds_step_median))
    call put("rss_growth_bytes", merge_text(result%rss_growth_bytes >= 0, whole(result%rss_growth_bytes)))
    call put("objective", merge_text(result%have_gradient, number(result%objective)))
    call put("gradient_norm", merge_text(result%have_gradient, number(result%gradient_norm)))
    call put("gradient_norm_kappa", merge_text(result%have_gradient, number(result%norm_kappa)))
    call put("gradient_norm_u0", merge_text(result%have_gradient, number(result%norm_state)))
    call put("gradient_hash", merge_text(result%have_gradient, quoted(hexadecimal(result%hash))))
    call put("dot_test_error", known(result%dot_test_error))
    call put("verified", verified)
    write (unit, "(a)") '  "taylor_slopes": ['//slopes//"]", "}"

  contains

    subroutine put(key, value)
      character(*), intent(in) :: key, value
      write (unit, "(a)") '  "'//key//'": '//value//","
    end subroutine put

    function merge_text(have, text) result(json)
      logical, intent(in) :: have
      character(*), intent(in) :: text
      character(:), allocatable :: json
      json = "null"
      if (have) json = text
    end function merge_text

    subroutine put_statistics(all)
      type(anadrome_stats), intent(in) :: all
      call put("schedule", quoted(anadrome_text(all%schedule)))
      call put("layout", quoted(anadrome_text(all%layout)))
      call put("transport", quoted(anadrome_text(all%transport)))
      call put("direct_io", whole(int(all%direct_io, int64)))
      call put("memory_bytes", whole(all%memory_bytes))
      call put("peak_library_bytes", whole(all%peak_library_bytes))
      call put("interval", whole(all%interval))
      call put("slots", whole(all%slots))
      call put("checkpoint_slots", whole(all%checkpoint_slots))
      call put("prefetch_depth", whole(all%prefetch_depth))
      call put("anchors", whole(all%anchors))
      call put("states_per_write", whole(all%states_per_write))
      call put("forward_steps_taken", whole(all%forward_steps_taken))
      call put("forward_steps_planned", whole(all%forward_steps_planned))
      call put("recompute_factor", merge_text(options%steps > 0, &
           number(real(all%forward_steps_taken, real64) / real(max(1_int64, options%steps), real64))))
      call put("bytes_written", whole(all%bytes_written))
      call put("bytes_read", whole(all%bytes_read))
      call put("seconds_total", number(all%seconds_total))
      call put("seconds_forward", number(all%seconds_forward))
      call put("seconds_adjoint", number(all%seconds_adjoint))
      call put("seconds_stalled_write", number(all%seconds_stalled_write))
      call put("seconds_stalled_read", number(all%seconds_stalled_read))
      call put("seconds_copying", number(all%seconds_copying))
      call put("seconds_agreeing", number(all%seconds_agreeing))
      call put("seconds_writing", number(all%seconds_writing))
      call put("seconds_reading", number(all%seconds_reading))
      call put("seconds_checksums", number(all%seconds_checksums))
    end subroutine put_statistics
  end subroutine write_json
end module heat_reports
