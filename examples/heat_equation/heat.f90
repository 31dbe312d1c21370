! heat_equation in Fortran: the same problem, flags, results and exit codes, with the module `anadrome`. The
! gradient has the bits of the C program's. See README.md.
program heat
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, output_unit, real64
  use mpi_f08
  use anadrome
  use heat_checks
  use heat_flags
  use heat_grids
  use heat_models
  use heat_reports
  use heat_sweeps
  implicit none

  integer, parameter :: fine = 0, wrong = 1, usage = 2, library_error = 3

  interface
    ! Resident memory, from heat_memory.c.
    function memory_start() bind(c, name="heat_memory_start") result(bytes)
      import :: c_int64_t
      integer(c_int64_t) :: bytes
    end function memory_start
    function memory_peak() bind(c, name="heat_memory_peak") result(bytes)
      import :: c_int64_t
      integer(c_int64_t) :: bytes
    end function memory_peak
  end interface

  type(heat_options) :: options
  type(heat_result) :: result
  type(heat_sweep), target :: sweep
  character(:), allocatable :: message
  integer :: rank, provided, json

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, result%ranks)
  result%message = ""
  call parse_command_line(options, message)
  if (message /= "") then
    call end_with(usage, message)
  else if (options%help) then
    if (rank == 0) call print_usage()
  else
    json = opened("json", options%json_file)
    if (result%exit_code == fine) call whole_job()
    if (rank == 0 .and. json /= -1) call write_json(json, options, result)
    call close_file("json", options%json_file, json)
  end if
  if (rank == 0 .and. result%exit_code /= fine) write (error_unit, "(a)") "heat_fortran: "//result%message
  ! mpirun ends every rank as soon as one has stopped with an exit code: nothing may wait in a buffer.
  flush (output_unit)
  flush (error_unit)
  call MPI_Finalize()
  if (result%exit_code /= fine) stop result%exit_code, quiet=.true.

contains

  subroutine end_with(exit_code, why)
    integer, intent(in) :: exit_code
    character(*), intent(in) :: why
    if (result%exit_code /= fine) return  ! the first reason counts
    result%exit_code = exit_code
    result%message = why
    if (exit_code == usage) result%message = why//"; see heat_fortran --help"
  end subroutine end_with

  ! Open the file of a flag on rank 0; -1: there is none. Collective.
  function opened(flag, name) result(unit)
    character(*), intent(in) :: flag
    character(:), allocatable, intent(in) :: name
    integer :: unit, status
    unit = -1
    status = 0
    if (.not. allocated(name)) return
    if (rank == 0) open (newunit=unit, file=name, status="replace", action="write", iostat=status)
    call MPI_Bcast(status, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (status /= 0) call end_with(usage, "cannot write '"//name//"' (--"//flag//")")
    if (status /= 0) unit = -1
  end function opened

  ! Close what `opened` has opened. Collective.
  subroutine close_file(flag, name, unit)
    character(*), intent(in) :: flag
    character(:), allocatable, intent(in) :: name
    integer, intent(in) :: unit
    integer :: status
    status = 0
    if (unit /= -1) close (unit, iostat=status)
    call MPI_Bcast(status, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (status /= 0) call end_with(usage, "cannot write '"//name//"' (--"//flag//")")
  end subroutine close_file

  subroutine whole_job()
    call create_model(sweep%model, MPI_COMM_WORLD, options%cells_x, options%cells_y, options%work, &
         options%stages)
    sweep%options = options
    allocate (sweep%u(sweep%model%grid%nx, sweep%model%grid%ny))
    if (options%tape) allocate (sweep%tape(sweep%model%grid%nx, sweep%model%grid%ny, options%stages))
    call gradient_with_anadrome()
    call combine_statistics(MPI_COMM_WORLD, result%all)
    if (result%exit_code == fine) call check()
    if (.not. options%quiet) call print_results(sweep%model%grid, result)
    deallocate (sweep%u)
    if (options%tape) deallocate (sweep%tape)
    call free_model(sweep%model)
  end subroutine whole_job

  subroutine gradient_with_anadrome()
    integer(int64) :: resident, growth, r
    integer :: status
    resident = memory_start()
    call anadrome_open(sweep%run, MPI_COMM_WORLD, status)
    call all_fine(status, library_error)
    if (result%exit_code == fine) call prepare()
    sweep%log = opened("log", options%log_file)
    sweep%log_start = MPI_Wtime()
    sweep%header_is_due = .not. options%quiet
    do r = 1, options%repeat
      if (result%exit_code /= fine) exit
      call sweep_once(sweep, status)
      call all_fine(status, library_error)
      call anadrome_statistics(sweep%run, result%all, status)
      if (result%exit_code == fine) call keep_gradient()
    end do
    call close_file("log", options%log_file, sweep%log)
    result%seconds_step_median = median_step(sweep)
    call MPI_Allreduce(MPI_IN_PLACE, result%seconds_step_median, 1, MPI_DOUBLE_PRECISION, MPI_MAX, &
         MPI_COMM_WORLD)
    growth = memory_peak()
    growth = merge(max(0_int64, growth - resident), huge(growth), resident >= 0 .and. growth >= 0)
    call MPI_Allreduce(MPI_IN_PLACE, growth, 1, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD)
    if (growth < huge(growth)) result%rss_growth_bytes = growth
    call anadrome_close(sweep%run, status)
    if (result%exit_code == fine) call all_fine(status, library_error)
  end subroutine gradient_with_anadrome

  ! anadrome_set and anadrome_add_field are local: a failure on one rank must become everyone's.
  subroutine prepare()
    integer :: s, status
    status = ANADROME_OK
    if (.not. options%quiet) call anadrome_set(sweep%run, "report", "-", status)
    if (options%resume .and. status == ANADROME_OK) call set_resume(status)
    do s = 1, size(options%library)
      if (status /= ANADROME_OK) exit
      call anadrome_set(sweep%run, options%library(s)%key, options%library(s)%value, status)
    end do
    ! An option that anadrome does not know, or a bad value, is the user's mistake.
    call all_fine(status, merge(usage, library_error, status == ANADROME_ERR_ARGUMENT))
    if (result%exit_code /= fine) return
    if (options%zero_copy) then
      call anadrome_add_exchanged(sweep%run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, size(sweep%u), &
           sweep%field, status)
    else
      call anadrome_add_field(sweep%run, "u", ANADROME_ROLE_STATE, sweep%u, status)
    end if
    if (status == ANADROME_OK .and. options%tape) &
         call anadrome_add_field(sweep%run, "stages", ANADROME_ROLE_TAPE, sweep%tape, status)
    if (status == ANADROME_OK .and. options%resume) call add_adjoint(status)
    call all_fine(status, library_error)
  end subroutine prepare

  ! What must not change between two processes of one run, besides what anadrome sees itself.
  subroutine set_resume(status)
    integer, intent(out) :: status
    character(160) :: problem
    write (problem, "(a,i0,a,i0,a,i0,a)") "heat equation, ", options%cells_x, "x", options%cells_y, " cells, ", &
         options%stages, " stages"
    call anadrome_set(sweep%run, "problem", trim(problem), status)
    if (status == ANADROME_OK) call anadrome_set(sweep%run, "resume", "on", status)
  end subroutine set_resume

  ! What the adjoint sweep has so far: never computed again, so a run that goes on gets it back.
  subroutine add_adjoint(status)
    integer, intent(out) :: status
    call anadrome_add_field(sweep%run, "lambda", ANADROME_ROLE_ADJOINT, sweep%model%lambda, status)
    if (status /= ANADROME_OK) return
    call anadrome_add_field(sweep%run, "gradient_kappa", ANADROME_ROLE_ADJOINT, sweep%model%gradient_kappa, status)
    if (status /= ANADROME_OK) return
    call anadrome_add_field(sweep%run, "objective", ANADROME_ROLE_ADJOINT, sweep%objective, status)
  end subroutine add_adjoint

  ! If `status` is a failure on any rank, end with the account of one that failed by itself. Collective.
  subroutine all_fine(status, exit_code)
    integer, intent(in) :: status, exit_code
    integer :: own(2), chosen(2), code
    character(1024) :: text
    own = [merge(2, merge(1, 0, status == ANADROME_ERR_PEER), status == ANADROME_OK), rank]
    text = anadrome_status_name(status)//": "//anadrome_last_error()
    call MPI_Allreduce(own, chosen, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD)
    if (chosen(1) == 2) return
    code = exit_code
    call MPI_Bcast(text, len(text), MPI_CHARACTER, chosen(2), MPI_COMM_WORLD)
    call MPI_Bcast(code, 1, MPI_INTEGER, chosen(2), MPI_COMM_WORLD)
    call end_with(code, trim(text))
  end subroutine all_fine

  subroutine keep_gradient()
    real(real64) :: kappa, state
    integer(int64) :: hash
    kappa = sum_of_squares(sweep%model%grid, sweep%model%gradient_kappa)
    state = sum_of_squares(sweep%model%grid, sweep%model%lambda)
    hash = hash_of(sweep%model%grid, sweep%model%gradient_kappa, sweep%model%lambda)
    if (result%have_gradient .and. hash /= result%hash) &
         call end_with(wrong, "two sweeps of one run gave different gradients")
    result%have_gradient = .true.
    result%objective = sweep%objective
    result%gradient_norm = sqrt(kappa + state)
    result%norm_kappa = sqrt(kappa)
    result%norm_state = sqrt(state)
    result%hash = hash
  end subroutine keep_gradient

  subroutine check()
    integer(int64) :: differences
    if (options%verify) then
      call verify(sweep%model, MPI_COMM_WORLD, options%steps, sweep%u, options%tape, &
           result%objective, differences)
      if (differences < 0) then
        call end_with(usage, "--verify keeps every stage in memory, which does not suffice")
        return
      end if
      result%checked = .true.
      result%verified = differences == 0
      if (.not. result%verified) call end_with(wrong, &
           "the gradient is wrong: values differ from the run with every state kept")
    end if
    if (options%taylor) then
      call taylor_test(sweep%model, MPI_COMM_WORLD, options%steps, result%objective, result%slopes, &
           result%taylor_passed)
      result%have_taylor = .true.
      if (.not. result%taylor_passed) call end_with(wrong, "the Taylor test failed")
    end if
    if (options%dot_test) then
      call dot_test(MPI_COMM_WORLD, options%cells_x, options%cells_y, options%stages, options%steps, &
           result%dot_test_error)
      if (.not. result%dot_test_error <= 1e-12_real64) call end_with(wrong, "the dot-product test failed")
    end if
  end subroutine check
end program heat
