! Steps of the heat equation and their adjoints: explicit Euler, and the classical Runge-Kutta method, whose four
! stages may be kept (a tape). The arithmetic of heat_euler.c and heat_rk4.c, in their order.
module heat_steps
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use heat_grids, only: exchange
  use heat_models
  use heat_stencils
  implicit none
  private
  public :: heat_step, heat_record_step, heat_adjoint_step, heat_adjoint_of_tape, heat_tangent_step

  ! K_s = dt (div(kappa grad Y_s) + f(t_k + node(s) dt)), Y_{s+1} = x_k + reach(s) K_s,
  ! x_{k+1} = x_k + sum_s weight(s) K_s.
  real(real64), parameter :: node(4) = [0.0_real64, 0.5_real64, 0.5_real64, 1.0_real64]
  ! 0 before the first stage and, for reach, after the last.
  real(real64), parameter :: reach(0:4) = [0.0_real64, 0.5_real64, 0.5_real64, 1.0_real64, 0.0_real64]
  real(real64), parameter :: weight(0:4) = [0.0_real64, 1.0_real64 / 6.0_real64, 1.0_real64 / 3.0_real64, &
       1.0_real64 / 3.0_real64, 1.0_real64 / 6.0_real64]

contains

  ! out = base + A padded, with A = dt div(kappa grad).
  subroutine diffuse(work, faces, base, padded, out)
    integer(int64), intent(in) :: work
    type(heat_faces), intent(in) :: faces
    real(real64), intent(in), contiguous :: base(0:, 0:), padded(0:, 0:)
    real(real64), intent(out), contiguous :: out(:, :)
    integer(int64) :: again
    do again = 1, work
      call add_divergence(base, padded, faces%x, faces%y, out)
    end do
  end subroutine diffuse

  !> x_k in `from` -> x_{k+1} in `to`; both may be the same array. Collective.
  subroutine heat_step(model, k, from, to)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: k
    real(real64), pointer, contiguous, intent(in) :: from(:, :), to(:, :)
    real(real64), allocatable :: stages(:, :, :)
    if (model%stages == 1) then
      call euler(model, k, from, to)
    else
      allocate (stages(size(from, 1), size(from, 2), 4))
      call rk4(model, k, from, to, stages)
    end if
  end subroutine heat_step

  !> The same, and the stages into `tape`; the first is x_k. Collective.
  subroutine heat_record_step(model, k, from, to, tape)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: k
    real(real64), pointer, contiguous, intent(in) :: from(:, :), to(:, :)
    real(real64), intent(inout), contiguous :: tape(:, :, :)
    if (model%stages == 1) then
      tape(:, :, 1) = from
      call euler(model, k, from, to)
    else
      call rk4(model, k, from, to, tape)
    end if
  end subroutine heat_record_step

  !> lambda_{k+1} -> lambda_k, with x_k in `u`; adds the step's part of dJ/dkappa. Collective.
  subroutine heat_adjoint_step(model, k, u)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: k
    real(real64), pointer, contiguous, intent(in) :: u(:, :)
    real(real64), allocatable :: stages(:, :, :)
    if (model%stages == 1) then
      call euler_adjoint(model, u)
    else
      call stages_of(model, k, u, stages)
      call rk4_adjoint(model, stages)
    end if
  end subroutine heat_adjoint_step

  !> The same from the stages alone. Collective.
  subroutine heat_adjoint_of_tape(model, tape)
    type(heat_model), intent(inout) :: model
    real(real64), intent(in), contiguous :: tape(:, :, :)
    if (model%stages == 1) then
      call euler_adjoint(model, tape(:, :, 1))
    else
      call rk4_adjoint(model, tape)
    end if
  end subroutine heat_adjoint_of_tape

  subroutine euler(model, k, from, to)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: k
    real(real64), pointer, contiguous, intent(in) :: from(:, :), to(:, :)
    real(real64) :: strength
    strength = model%dt * cos(40.0_real64 * real(k, real64) * model%dt)
    call exchange(model%grid, from, -1.0_real64, model%u_padded)
    call diffuse(model%work, model%faces, model%u_padded, model%u_padded, to)
    to = to + strength * model%source
  end subroutine euler

  subroutine euler_adjoint(model, u)
    type(heat_model), intent(inout) :: model
    real(real64), intent(in) :: u(:, :)
    call exchange(model%grid, u, -1.0_real64, model%u_padded)
    call exchange(model%grid, model%lambda, -1.0_real64, model%lambda_padded)
    call add_to_gradient(model)
    call diffuse(model%work, model%faces, model%lambda_padded, model%lambda_padded, model%lambda)
  end subroutine euler_adjoint

  ! From what is in u_padded and lambda_padded.
  subroutine add_to_gradient(model)
    type(heat_model), intent(inout) :: model
    call add_gradient(0.5_real64 * model%dt / (model%hx * model%hx), &
         0.5_real64 * model%dt / (model%hy * model%hy), model%u_padded, model%lambda_padded, &
         model%gradient_kappa)
  end subroutine add_to_gradient

  ! K of stage s at y.
  subroutine slope_at(model, k, s, y, slope)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: k
    integer, intent(in) :: s
    real(real64), intent(in) :: y(:, :)
    real(real64), intent(out), contiguous :: slope(:, :)
    real(real64) :: strength
    strength = model%dt * cos(40.0_real64 * (real(k, real64) + node(s)) * model%dt)
    call exchange(model%grid, y, -1.0_real64, model%u_padded)
    model%base_padded(1:model%grid%nx, 1:model%grid%ny) = strength * model%source
    call diffuse(model%work, model%faces, model%base_padded, model%u_padded, slope)
  end subroutine slope_at

  subroutine rk4(model, k, from, to, stages)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: k
    real(real64), pointer, contiguous, intent(in) :: from(:, :), to(:, :)
    real(real64), intent(inout), contiguous :: stages(:, :, :)
    real(real64) :: slope(size(from, 1), size(from, 2)), sum(size(from, 1), size(from, 2))
    integer :: s
    sum = from
    stages(:, :, 1) = from
    do s = 1, 4
      call slope_at(model, k, s, stages(:, :, s), slope)
      sum = sum + weight(s) * slope
      if (s < 4) stages(:, :, s + 1) = from + reach(s) * slope
    end do
    to = sum
  end subroutine rk4

  subroutine stages_of(model, k, u, stages)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: k
    real(real64), intent(in) :: u(:, :)
    real(real64), allocatable, intent(out) :: stages(:, :, :)
    real(real64), allocatable :: slope(:, :)
    integer :: s
    allocate (stages(size(u, 1), size(u, 2), 4), slope(size(u, 1), size(u, 2)))
    stages(:, :, 1) = u
    do s = 1, 3
      call slope_at(model, k, s, stages(:, :, s), slope)
      stages(:, :, s + 1) = u + reach(s) * slope
    end do
  end subroutine stages_of

  ! mu_s, the adjoint of K_s: mu_4 = weight lambda, mu_s = weight lambda + reach A mu_{s+1}; A is its own transpose;
  ! lambda_k = lambda_{k+1} + sum_s A mu_s.
  subroutine rk4_adjoint(model, stages)
    type(heat_model), intent(inout) :: model
    real(real64), intent(in), contiguous :: stages(:, :, :)
    real(real64), dimension(size(stages, 1), size(stages, 2)) :: mu, sum, diffused
    integer :: s
    mu = weight(4) * model%lambda
    sum = model%lambda
    model%base_padded = 0.0_real64
    do s = 4, 1, -1
      call exchange(model%grid, stages(:, :, s), -1.0_real64, model%u_padded)
      call exchange(model%grid, mu, -1.0_real64, model%lambda_padded)
      call add_to_gradient(model)
      call diffuse(model%work, model%faces, model%base_padded, model%lambda_padded, diffused)
      sum = sum + diffused
      if (s > 1) mu = weight(s - 1) * model%lambda + reach(s - 1) * diffused
    end do
    model%lambda = sum
  end subroutine rk4_adjoint

  !> The derivative of a step at x_k in `u`: `du` goes from step k to k+1, for a change of the conductivity given by
  !> its faces. Collective.
  subroutine heat_tangent_step(model, k, changed, u, du)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: k
    type(heat_faces), intent(in) :: changed
    real(real64), intent(in) :: u(:, :)
    real(real64), intent(inout), contiguous :: du(:, :)
    real(real64), allocatable :: stages(:, :, :)
    real(real64), dimension(size(u, 1), size(u, 2)) :: dy, slope, sum
    integer :: s
    if (model%stages == 1) then
      stages = reshape(u, [size(u, 1), size(u, 2), 1])
    else
      call stages_of(model, k, u, stages)
    end if
    dy = du
    sum = du
    do s = 1, model%stages
      call exchange(model%grid, stages(:, :, s), -1.0_real64, model%u_padded)
      call exchange(model%grid, dy, -1.0_real64, model%lambda_padded)
      model%base_padded = 0.0_real64
      call diffuse(1_int64, model%faces, model%base_padded, model%lambda_padded, slope)
      model%base_padded(1:model%grid%nx, 1:model%grid%ny) = slope
      call diffuse(1_int64, changed, model%base_padded, model%u_padded, slope)
      sum = sum + merge(1.0_real64, weight(s), model%stages == 1) * slope
      if (s < model%stages) dy = du + reach(s) * slope
    end do
    du = sum
  end subroutine heat_tangent_step
end module heat_steps
