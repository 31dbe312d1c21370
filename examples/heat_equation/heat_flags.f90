! The command line of heat_fortran: the flags of heat_equation.
module heat_flags
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private
  public :: heat_options, setting, parse_command_line, print_usage

  !> One option for anadrome_set.
  type :: setting
    character(:), allocatable :: key, value
  end type setting

  type :: heat_options
    integer(int64) :: cells_x = 256, cells_y = 256, steps = 200, repeat = 1, work = 1
    integer :: stages = 1  ! --integrator: 1 euler, 4 rk4
    logical :: tape = .false.
    logical :: steps_unknown = .false., zero_copy = .false., callbacks = .false.
    logical :: resume = .false.
    logical :: verify = .false., taylor = .false., dot_test = .false., quiet = .false., help = .false.
    character(:), allocatable :: json_file, log_file
    type(setting), allocatable :: library(:)
  end type heat_options

contains

  !> `message` is empty, or why the command line is refused.
  subroutine parse_command_line(options, message)
    type(heat_options), intent(out) :: options
    character(:), allocatable, intent(out) :: message
    character(:), allocatable :: word, name, value
    integer :: a, equals
    logical :: has_value, fine
    allocate (options%library(0))
    message = ""
    a = 1
    do while (a <= command_argument_count() .and. message == "")
      word = argument(a)
      a = a + 1
      if (index(word, "--") /= 1) then
        message = "unexpected argument '"//word//"'"
        return
      end if
      equals = index(word, "=")
      has_value = equals > 0
      name = word(3:merge(equals - 1, len(word), has_value))
      value = word(merge(equals + 1, len(word) + 1, has_value):)
      if (is_switch(name)) then
        if (has_value) message = "flag '--"//name//"' takes no value"
        if (.not. has_value) call set_switch(options, name)
        cycle
      end if
      if (.not. takes_value(name)) then
        message = "unknown flag '--"//name//"'"
        return
      end if
      if (.not. has_value .and. a > command_argument_count()) then
        message = "flag '--"//name//"' needs a value"
        return
      end if
      if (.not. has_value) then
        value = argument(a)
        a = a + 1
      end if
      call set_value(options, name, value, fine)
      if (.not. fine) message = "bad value '"//value//"' of flag '--"//name//"' ("//form_of(name)//")"
    end do
  end subroutine parse_command_line

  function argument(number) result(text)
    integer, intent(in) :: number
    character(:), allocatable :: text
    integer :: length
    call get_command_argument(number, length=length)
    allocate (character(length) :: text)
    call get_command_argument(number, text)
  end function argument

  pure function is_switch(name) result(is)
    character(*), intent(in) :: name
    logical :: is
    is = any(name == [character(13) :: "steps-unknown", "zero-copy", "callbacks", "verify", "taylor", &
         "dot-test", "tape", "resume", "quiet", "help", "progress", "keep"])
  end function is_switch

  pure function takes_value(name) result(takes)
    character(*), intent(in) :: name
    logical :: takes
    takes = any(name == [character(10) :: "grid", "integrator", "steps", "repeat", "work", "json", "log", "memory", &
         "directory", "name", "schedule", "layout", "interval", "transport", "direct", "trace", "timeline", &
         "set"])
  end function takes_value

  subroutine set_switch(options, name)
    type(heat_options), intent(inout) :: options
    character(*), intent(in) :: name
    select case (name)
    case ("steps-unknown"); options%steps_unknown = .true.
    case ("zero-copy"); options%zero_copy = .true.
    case ("callbacks"); options%callbacks = .true.
    case ("tape"); options%tape = .true.
    case ("resume"); options%resume = .true.
    case ("verify"); options%verify = .true.
    case ("taylor"); options%taylor = .true.
    case ("dot-test"); options%dot_test = .true.
    case ("quiet"); options%quiet = .true.
    case ("help"); options%help = .true.
    case default; options%library = [options%library, setting(name, "on")]
    end select
  end subroutine set_switch

  subroutine set_value(options, name, value, fine)
    type(heat_options), intent(inout) :: options
    character(*), intent(in) :: name, value
    logical, intent(out) :: fine
    integer :: cut
    fine = .true.
    select case (name)
    case ("grid")
      cut = index(value, "x")
      fine = cut > 0
      if (fine) call read_count(value(:cut - 1), 1_int64, options%cells_x, fine)
      if (fine) call read_count(value(cut + 1:), 1_int64, options%cells_y, fine)
      ! MPI counts a row in a default integer.
      if (fine) fine = max(options%cells_x, options%cells_y) <= huge(cut)
      if (fine) fine = options%cells_x <= 2_int64**48 / options%cells_y
    case ("integrator")
      fine = value == "euler" .or. value == "rk4"
      options%stages = merge(4, 1, value == "rk4")
    case ("steps"); call read_count(value, 0_int64, options%steps, fine)
    case ("repeat"); call read_count(value, 1_int64, options%repeat, fine)
    case ("work"); call read_count(value, 1_int64, options%work, fine)
    case ("json"); options%json_file = value
    case ("log"); options%log_file = value
    case ("set")
      cut = index(value, "=")
      fine = cut > 1
      if (fine) options%library = [options%library, setting(value(:cut - 1), value(cut + 1:))]
    case default
      options%library = [options%library, setting(name, value)]
    end select
    if (name == "json" .or. name == "log") fine = value /= ""
  end subroutine set_value

  ! What a value looks like.
  pure function form_of(name) result(form)
    character(*), intent(in) :: name
    character(:), allocatable :: form
    select case (name)
    case ("grid"); form = "NXxNY"
    case ("integrator"); form = "euler|rk4"
    case ("json", "log"); form = "FILE"
    case ("set"); form = "KEY=VALUE"
    case default; form = "a number"
    end select
  end function form_of

  ! A decimal number without sign or space, not below `least`.
  subroutine read_count(text, least, count, fine)
    character(*), intent(in) :: text
    integer(int64), intent(in) :: least
    integer(int64), intent(out) :: count
    logical, intent(out) :: fine
    integer :: status
    count = least
    fine = len(text) > 0 .and. verify(text, "0123456789") == 0
    if (.not. fine) return
    read (text, *, iostat=status) count
    fine = status == 0 .and. count >= least
  end subroutine read_count

  subroutine print_usage()
    print "(a)", "heat_fortran: heat_equation in Fortran, with the same flags", &
         "usage: mpirun -n RANKS heat_fortran [flags]", &
         "  --grid NXxNY --steps N --integrator euler|rk4 --tape --repeat R --work W --json FILE --log FILE --set KEY=VALUE", &
         "  --memory --directory --name --schedule --layout --interval --transport --direct", &
         "  --trace --timeline --progress --keep", &
         "  --steps-unknown --zero-copy --callbacks --resume --verify --taylor --dot-test --quiet --help", &
         "exit code: 0 fine, 1 wrong gradient, 2 usage, 3 anadrome reported an error"
  end subroutine print_usage
end module heat_flags
