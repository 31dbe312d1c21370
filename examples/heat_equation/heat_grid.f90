! The cells of the unit square, their blocks on the ranks, the exchange of block edges, and what is computed
! from a field as a whole. The same decomposition, sums and hash as in heat_grid.c and heat_field.c.
module heat_grids
  use, intrinsic :: iso_c_binding, only: c_int64_t, c_loc, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_positive_inf, ieee_quiet_nan, ieee_value
  use mpi_f08
  implicit none
  private
  public :: heat_grid, heat_function, create_grid, free_grid, fill, exchange, sum_of_squares, dot, hash_of

  !> This rank owns the block of nx by ny cells after the first (before_x, before_y) ones.
  type :: heat_grid
    type(MPI_Comm) :: comm
    integer :: rank = 0, ranks = 1
    integer(int64) :: cells_x = 0, cells_y = 0
    integer :: blocks_x = 1, blocks_y = 1  ! block (bx, by) is on rank by * blocks_x + bx
    integer(int64) :: before_x = 0, before_y = 0
    integer :: nx = 0, ny = 0              ! both 0 on a rank without cells
    integer :: west = MPI_PROC_NULL, east = MPI_PROC_NULL, south = MPI_PROC_NULL, north = MPI_PROC_NULL
  end type heat_grid

  abstract interface
    pure function heat_function(x, y) result(value)
      import :: real64
      real(real64), intent(in) :: x, y
      real(real64) :: value
    end function heat_function
  end interface

  interface
    function xxh3_64bits(bytes, length) bind(c, name="XXH3_64bits") result(hash)
      import :: c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: length
      integer(c_int64_t) :: hash
    end function xxh3_64bits
  end interface

contains

  ! The cells of block `index` of `blocks` along a line of `cells`.
  pure subroutine block_of(cells, blocks, index, before, count)
    integer(int64), intent(in) :: cells
    integer, intent(in) :: blocks, index
    integer(int64), intent(out) :: before
    integer, intent(out) :: count
    integer(int64) :: each, extra
    each = cells / blocks
    extra = mod(cells, int(blocks, int64))
    before = index * each + min(int(index, int64), extra)
    count = int(each + merge(1, 0, index < extra))
  end subroutine block_of

  subroutine create_grid(grid, comm, cells_x, cells_y)
    type(heat_grid), intent(out) :: grid
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: cells_x, cells_y
    integer :: blocks(2), position(2)
    grid%cells_x = cells_x
    grid%cells_y = cells_y
    call MPI_Comm_size(comm, grid%ranks)
    blocks = 0
    ! The first (larger) factor cuts the y axis, so that rows stay long.
    call MPI_Dims_create(grid%ranks, 2, blocks)
    grid%blocks_y = blocks(1)
    grid%blocks_x = blocks(2)
    call MPI_Cart_create(comm, 2, blocks, [.false., .false.], .false., grid%comm)
    call MPI_Comm_rank(grid%comm, grid%rank)
    call MPI_Cart_coords(grid%comm, grid%rank, 2, position)
    call block_of(cells_y, blocks(1), position(1), grid%before_y, grid%ny)
    call block_of(cells_x, blocks(2), position(2), grid%before_x, grid%nx)
    if (grid%nx == 0 .or. grid%ny == 0) then
      grid%nx = 0
      grid%ny = 0
      return
    end if
    call MPI_Cart_shift(grid%comm, 0, 1, grid%south, grid%north)
    call MPI_Cart_shift(grid%comm, 1, 1, grid%west, grid%east)
    ! A neighbour beyond the last cell owns none: this block ends at the wall.
    if (grid%before_x + grid%nx == cells_x) grid%east = MPI_PROC_NULL
    if (grid%before_y + grid%ny == cells_y) grid%north = MPI_PROC_NULL
  end subroutine create_grid

  subroutine free_grid(grid)
    type(heat_grid), intent(inout) :: grid
    call MPI_Comm_free(grid%comm)
  end subroutine free_grid

  ! function(x, y) at the cell centres.
  subroutine fill(grid, at, field)
    type(heat_grid), intent(in) :: grid
    procedure(heat_function) :: at
    real(real64), intent(out) :: field(:, :)
    integer :: i, j
    real(real64) :: x, y
    do j = 1, grid%ny
      y = (real(grid%before_y + (j - 1), real64) + 0.5_real64) / real(grid%cells_y, real64)
      do i = 1, grid%nx
        x = (real(grid%before_x + (i - 1), real64) + 0.5_real64) / real(grid%cells_x, real64)
        field(i, j) = at(x, y)
      end do
    end do
  end subroutine fill

  ! Copy `field` into the middle of `padded` and fetch the cells around it. Behind a wall lies wall_sign
  ! times the cell inside. Collective.
  subroutine exchange(grid, field, wall_sign, padded)
    type(heat_grid), intent(in) :: grid
    real(real64), intent(in) :: field(:, :)
    real(real64), intent(in) :: wall_sign
    real(real64), intent(inout) :: padded(0:, 0:)
    integer :: nx, ny
    nx = grid%nx
    ny = grid%ny
    if (nx == 0) return
    padded(1:nx, 1:ny) = field
    call swap(grid%west, field(1, :), padded(0, 1:ny), grid%east, field(nx, :), padded(nx + 1, 1:ny))
    call swap(grid%south, field(:, 1), padded(1:nx, 0), grid%north, field(:, ny), padded(1:nx, ny + 1))

  contains

    subroutine swap(low, send_low, from_low, high, send_high, from_high)
      integer, intent(in) :: low, high
      real(real64), intent(in), contiguous :: send_low(:), send_high(:)
      real(real64), intent(inout) :: from_low(:), from_high(:)
      real(real64) :: received(size(send_low))
      received = wall_sign * send_high
      call MPI_Sendrecv(send_low, size(send_low), MPI_DOUBLE_PRECISION, low, 0, received, size(received), &
           MPI_DOUBLE_PRECISION, high, 0, grid%comm, MPI_STATUS_IGNORE)
      from_high = received
      received = wall_sign * send_low
      call MPI_Sendrecv(send_high, size(send_high), MPI_DOUBLE_PRECISION, high, 0, received, &
           size(received), MPI_DOUBLE_PRECISION, low, 0, grid%comm, MPI_STATUS_IGNORE)
      from_low = received
    end subroutine swap
  end subroutine exchange

  ! Over all ranks, with the same bits for every number of ranks: in fixed point sums are exact.
  function sum_of_squares(grid, field) result(total)
    type(heat_grid), intent(in) :: grid
    real(real64), intent(in) :: field(:, :)
    real(real64) :: total
    real(real64), parameter :: digit = 1073741824.0_real64  ! 2**30: leaves room for 2**33 summands
    real(real64) :: largest, factor, scaled, square
    integer(int64) :: sums(2), high
    integer :: power, i, j
    largest = 0.0_real64
    if (size(field) > 0) largest = maxval(abs(field))
    if (.not. all(ieee_is_finite(field))) largest = ieee_value(largest, ieee_positive_inf)
    call MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid%comm)
    total = 0.0_real64
    if (.not. ieee_is_finite(largest)) total = ieee_value(total, ieee_quiet_nan)
    if (.not. (ieee_is_finite(largest) .and. largest > 0.0_real64)) return
    power = max(exponent(largest), -1000)
    factor = scale(1.0_real64, -power)
    sums = 0
    do j = 1, size(field, 2)
      do i = 1, size(field, 1)
        scaled = field(i, j) * factor
        square = scaled * scaled * digit
        high = int(square, int64)
        sums(1) = sums(1) + high
        sums(2) = sums(2) + int((square - real(high, real64)) * digit, int64)
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER8, MPI_SUM, grid%comm)
    total = real(sums(1), real64) / digit + real(sums(2), real64) / (digit * digit)
    total = scale(total, 2 * power)
  end function sum_of_squares

  ! The inner product over all ranks; its last bits depend on the number of ranks.
  function dot(grid, a, b) result(total)
    type(heat_grid), intent(in) :: grid
    real(real64), intent(in) :: a(:, :), b(:, :)
    real(real64) :: total, excess, term, next
    integer :: i, j
    total = 0.0_real64
    excess = 0.0_real64  ! compensated: the rounding of millions of sums would show
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        term = a(i, j) * b(i, j) - excess
        next = total + term
        excess = (next - total) - term
        total = next
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, grid%comm)
  end function dot

  ! XXH3-64 of `first` and then `second`, each in row-major order of the global grid. Rank 0 gathers both.
  function hash_of(grid, first, second) result(hash)
    type(heat_grid), intent(in) :: grid
    real(real64), intent(in), contiguous :: first(:, :), second(:, :)
    integer(int64) :: hash
    real(real64), allocatable, target :: whole(:, :, :)
    if (grid%rank == 0) then
      allocate (whole(grid%cells_x, grid%cells_y, 2))
    else
      allocate (whole(0, 0, 2))
    end if
    call gather(grid, first, whole(:, :, 1))
    call gather(grid, second, whole(:, :, 2))
    if (grid%rank == 0) hash = xxh3_64bits(c_loc(whole), size(whole, kind=c_size_t) * 8_c_size_t)
    call MPI_Bcast(hash, 1, MPI_INTEGER8, 0, grid%comm)
  end function hash_of

  subroutine gather(grid, field, whole)
    type(heat_grid), intent(in) :: grid
    real(real64), intent(in), contiguous :: field(:, :)
    real(real64), intent(inout) :: whole(:, :)
    real(real64), allocatable :: part(:, :)
    integer(int64) :: x, y
    integer :: bx, by, nx, ny
    if (grid%rank /= 0) then
      if (size(field) > 0) call MPI_Ssend(field, size(field), MPI_DOUBLE_PRECISION, 0, 0, grid%comm)
      return
    end if
    do by = 0, grid%blocks_y - 1
      call block_of(grid%cells_y, grid%blocks_y, by, y, ny)
      do bx = 0, grid%blocks_x - 1
        call block_of(grid%cells_x, grid%blocks_x, bx, x, nx)
        if (nx == 0 .or. ny == 0) cycle
        if (bx + by == 0) then
          whole(1:nx, 1:ny) = field
          cycle
        end if
        allocate (part(nx, ny))
        call MPI_Recv(part, size(part), MPI_DOUBLE_PRECISION, by * grid%blocks_x + bx, 0, grid%comm, &
             MPI_STATUS_IGNORE)
        whole(x + 1:x + nx, y + 1:y + ny) = part
        deallocate (part)
      end do
    end do
  end subroutine gather
end module heat_grids
