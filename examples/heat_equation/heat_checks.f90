! Checks of a gradient, all without anadrome: every state kept, Taylor test, dot-product test.
module heat_checks
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use heat_grids
  use heat_models
  use heat_steps
  implicit none
  private
  public :: verify, taylor_test, dot_test

contains

  ! The same answer on every rank.
  function all_ready(comm, status) result(ready)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: status
    logical :: ready
    ready = status == 0
    call MPI_Allreduce(MPI_IN_PLACE, ready, 1, MPI_LOGICAL, MPI_LAND, comm)
  end function all_ready

  pure function smooth_noise(x, y, shift) result(noise)
    real(real64), intent(in) :: x, y, shift
    real(real64) :: noise
    noise = 0.5_real64 * sin(5.3_real64 * x + 2.1_real64 * y + shift) &
         + 0.3_real64 * cos(9.7_real64 * x - 4.9_real64 * y + 2.0_real64 * shift) &
         + 0.2_real64 * sin(3.1_real64 * x + 11.3_real64 * y - shift)
  end function smooth_noise

  pure function kappa_direction(x, y) result(d)
    real(real64), intent(in) :: x, y
    real(real64) :: d
    d = 0.4_real64 * (1.0_real64 + smooth_noise(x, y, 0.7_real64))
  end function kappa_direction

  pure function state_direction(x, y) result(d)
    real(real64), intent(in) :: x, y
    real(real64) :: d
    d = 1.0_real64 + 0.5_real64 * smooth_noise(x, y, 1.9_real64)
  end function state_direction

  pure function positive_weight(x, y) result(w)
    real(real64), intent(in) :: x, y
    real(real64) :: w
    w = 1.0_real64 + 0.5_real64 * smooth_noise(x, y, 3.3_real64)
  end function positive_weight

  ! Values whose bits differ: 0 and -0 differ, a NaN equals itself.
  pure function differing(a, b) result(count)
    real(real64), intent(in) :: a(:, :), b(:, :)
    integer(int64) :: count
    integer :: i, j
    count = 0
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        if (transfer(a(i, j), 0_int64) /= transfer(b(i, j), 0_int64)) count = count + 1
      end do
    end do
  end function differing

  !> Compare the gradient in `model`, x_0 in `u` (not with a tape, which gives none back) and `objective` with those
  !> computed with every stage kept in an array of its own: the number of values that differ on all ranks, -1 without
  !> memory. Collective.
  subroutine verify(model, comm, steps, u, with_tape, objective, differences)
    type(heat_model), intent(in) :: model
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: steps
    real(real64), intent(in) :: u(:, :), objective
    logical, intent(in) :: with_tape
    integer(int64), intent(out) :: differences
    type(heat_model) :: own
    real(real64), allocatable, target :: live(:, :), kept(:, :, :, :)
    real(real64), pointer, contiguous :: x(:, :)
    real(real64) :: own_objective
    integer(int64) :: k
    integer :: status
    call create_model(own, comm, model%grid%cells_x, model%grid%cells_y, 1_int64, model%stages)
    allocate (live(own%grid%nx, own%grid%ny))
    allocate (kept(own%grid%nx, own%grid%ny, own%stages, steps), stat=status)
    differences = -1
    if (all_ready(comm, status)) then
      x => live
      call fill(own%grid, initial_state, x)
      do k = 0, steps - 1
        call heat_record_step(own, k, x, x, kept(:, :, :, k + 1))
      end do
      call heat_turn(own, x, own_objective)
      do k = steps - 1, 0, -1
        call heat_adjoint_of_tape(own, kept(:, :, :, k + 1))
      end do
      if (steps > 0) x = kept(:, :, 1, 1)
      differences = differing(model%gradient_kappa, own%gradient_kappa) + differing(model%lambda, own%lambda)
      if (.not. with_tape) differences = differences + differing(u, x)
      if (own%grid%rank == 0) then
        if (transfer(objective, 0_int64) /= transfer(own_objective, 0_int64)) differences = differences + 1
      end if
      call MPI_Allreduce(MPI_IN_PLACE, differences, 1, MPI_INTEGER8, MPI_SUM, comm)
    end if
    call free_model(own)
  end subroutine verify

  ! J at (kappa, u_0) + epsilon (d_kappa, d_state).
  function perturbed_objective(model, steps, epsilon, d_kappa, d_state) result(objective)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: steps
    real(real64), intent(in) :: epsilon, d_kappa(:, :), d_state(:, :)
    real(real64) :: objective
    real(real64), allocatable, target :: live(:, :)
    real(real64), pointer, contiguous :: x(:, :)
    integer(int64) :: k
    allocate (live(model%grid%nx, model%grid%ny))
    x => live
    call fill(model%grid, conductivity, x)
    x = x + epsilon * d_kappa
    call set_faces(model, x, model%faces)
    call fill(model%grid, initial_state, x)
    x = x + epsilon * d_state
    do k = 0, steps - 1
      call heat_step(model, k, x, x)
    end do
    call heat_turn(model, x, objective)
  end function perturbed_objective

  !> Slopes of log |J(m + e d) - J(m) - e <gradient, d>| over log e, m = (kappa, u_0), where rounding does not
  !> hide them: there are at least two, and all are 2 within 0.1. Collective.
  subroutine taylor_test(model, comm, steps, objective, slopes, passed)
    type(heat_model), intent(in) :: model
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: steps
    real(real64), intent(in) :: objective
    real(real64), allocatable, intent(out) :: slopes(:)
    logical, intent(out) :: passed
    integer, parameter :: points = 8
    type(heat_model) :: own
    real(real64), allocatable :: d_kappa(:, :), d_state(:, :)
    real(real64) :: remainders(points), part_kappa, part_state, weight, epsilon
    integer :: p
    call create_model(own, comm, model%grid%cells_x, model%grid%cells_y, 1_int64, model%stages)
    allocate (d_kappa(own%grid%nx, own%grid%ny), d_state(own%grid%nx, own%grid%ny))
    call fill(own%grid, kappa_direction, d_kappa)
    call fill(own%grid, state_direction, d_state)
    ! On a fine grid the time covered is short, and an error in the part of kappa would drown.
    part_kappa = dot(own%grid, model%gradient_kappa, d_kappa)
    part_state = dot(own%grid, model%lambda, d_state)
    weight = 1.0_real64
    if (abs(part_state) > 0.0_real64) weight = min(1.0_real64, max(1e-3_real64, abs(part_kappa / part_state)))
    d_state = weight * d_state
    do p = 1, points
      ! Small enough for the slope to be near 2 from the start.
      epsilon = scale(0.025_real64, 1 - p)
      remainders(p) = abs(perturbed_objective(own, steps, epsilon, d_kappa, d_state) - objective &
           - epsilon * (part_kappa + weight * part_state))
    end do
    allocate (slopes(0))
    do p = 1, points - 1
      if (.not. remainders(p + 1) > 1e-13_real64 * abs(objective)) exit
      slopes = [slopes, log(remainders(p) / remainders(p + 1)) / log(2.0_real64)]
    end do
    passed = size(slopes) >= 2 .and. all(abs(slopes - 2.0_real64) <= 0.1_real64)
    call free_model(own)
  end subroutine taylor_test

  !> The relative error of <M v, w> = <v, M^T w>, M the derivative of up to 8 steps with respect to kappa and
  !> u_0. Collective.
  subroutine dot_test(comm, cells_x, cells_y, stages, all_steps, error)
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: cells_x, cells_y, all_steps
    integer, intent(in) :: stages
    real(real64), intent(out) :: error
    type(heat_model) :: model
    type(heat_faces) :: changed
    real(real64), allocatable, target :: live(:, :), states(:, :, :)
    real(real64), allocatable :: d_kappa(:, :), d_state(:, :), moved(:, :), weight(:, :)
    real(real64), pointer, contiguous :: x(:, :)
    real(real64) :: objective, forward, backward
    integer(int64) :: k, steps
    integer :: nx, ny
    steps = min(all_steps, 8_int64)
    call create_model(model, comm, cells_x, cells_y, 1_int64, stages)
    nx = model%grid%nx
    ny = model%grid%ny
    allocate (live(nx, ny), d_kappa(nx, ny), d_state(nx, ny), weight(nx, ny), states(nx, ny, steps))
    x => live
    call fill(model%grid, initial_state, x)
    call fill(model%grid, kappa_direction, d_kappa)
    call fill(model%grid, state_direction, d_state)
    call fill(model%grid, positive_weight, weight)
    call set_faces(model, d_kappa, changed)
    moved = d_state
    do k = 0, steps - 1
      states(:, :, k + 1) = x
      call heat_tangent_step(model, k, changed, x, moved)
      call heat_step(model, k, x, x)
    end do
    call heat_turn(model, x, objective)  ! clears the gradient; its terminal condition is replaced by w
    model%lambda = weight
    do k = steps - 1, 0, -1
      x => states(:, :, k + 1)
      call heat_adjoint_step(model, k, x)
    end do
    forward = dot(model%grid, moved, weight)
    backward = dot(model%grid, d_kappa, model%gradient_kappa) + dot(model%grid, d_state, model%lambda)
    error = abs(forward - backward) / max(abs(forward), abs(backward))
    call free_model(model)
  end subroutine dot_test
end module heat_checks
