! The heat equation of heat_model.c: explicit Euler steps and the discrete adjoint. Knows nothing about
! anadrome. The state is not part of the model: whoever calls says where it is.
module heat_models
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08, only: MPI_Comm
  use heat_grids
  use heat_stencils
  implicit none
  private
  public :: heat_model, heat_faces, create_model, free_model, conductivity, initial_state, set_faces
  public :: heat_step, heat_turn, heat_adjoint_step, heat_tangent_step

  real(real64), parameter :: pi = 3.14159265358979323846_real64
  real(real64), parameter :: log_conductivity_range = 0.8_real64

  !> dt / h^2 times a conductivity on the cell faces.
  type :: heat_faces
    real(real64), allocatable :: x(:, :)  ! (0:nx, ny)
    real(real64), allocatable :: y(:, :)  ! (nx, 0:ny)
  end type heat_faces

  type :: heat_model
    type(heat_grid) :: grid
    real(real64) :: hx = 0, hy = 0, dt = 0
    integer(int64) :: work = 1                     ! how often the arithmetic of a step is done
    real(real64), allocatable :: lambda(:, :)      ! the adjoint state; at the end dJ/du_0
    real(real64), allocatable :: gradient_kappa(:, :)
    real(real64), allocatable :: source(:, :), goal(:, :)
    real(real64), allocatable :: u_padded(:, :), lambda_padded(:, :)  ! (0:nx+1, 0:ny+1)
    type(heat_faces) :: faces
  end type heat_model

contains

  pure function conductivity(x, y) result(kappa)
    real(real64), intent(in) :: x, y
    real(real64) :: kappa
    kappa = exp(log_conductivity_range * sin(2.0_real64 * pi * x) * cos(pi * y))
  end function conductivity

  pure function initial_state(x, y) result(u)
    real(real64), intent(in) :: x, y
    real(real64) :: u
    u = sin(pi * x) * sin(pi * y) * (1.0_real64 + 0.5_real64 * x) &
         + 0.25_real64 * sin(3.0_real64 * pi * x) * sin(2.0_real64 * pi * y)
  end function initial_state

  pure function source_function(x, y) result(s)
    real(real64), intent(in) :: x, y
    real(real64) :: s
    s = 20.0_real64 * exp(-20.0_real64 * ((x - 0.3_real64) * (x - 0.3_real64) &
         + (y - 0.6_real64) * (y - 0.6_real64)))
  end function source_function

  pure function target_function(x, y) result(d)
    real(real64), intent(in) :: x, y
    real(real64) :: d
    d = 10.0_real64 * x * (1.0_real64 - x) * y * (1.0_real64 - y) &
         * (1.0_real64 + 0.3_real64 * cos(4.0_real64 * x + y))
  end function target_function

  subroutine create_model(model, comm, cells_x, cells_y, work)
    type(heat_model), intent(out) :: model
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: cells_x, cells_y, work
    real(real64), allocatable :: kappa(:, :)
    integer :: nx, ny
    call create_grid(model%grid, comm, cells_x, cells_y)
    nx = model%grid%nx
    ny = model%grid%ny
    model%hx = 1.0_real64 / real(cells_x, real64)
    model%hy = 1.0_real64 / real(cells_y, real64)
    model%work = work
    ! 0.8 of the largest stable step: Gershgorin's bound also holds in the cells next to a wall.
    model%dt = 0.4_real64 / (exp(log_conductivity_range) &
         * (1.0_real64 / (model%hx * model%hx) + 1.0_real64 / (model%hy * model%hy)))
    allocate (kappa(nx, ny), model%source(nx, ny), model%goal(nx, ny))
    allocate (model%u_padded(0:nx + 1, 0:ny + 1), model%lambda_padded(0:nx + 1, 0:ny + 1), &
         source=0.0_real64)
    allocate (model%lambda(nx, ny), model%gradient_kappa(nx, ny), source=0.0_real64)
    call fill(model%grid, conductivity, kappa)
    call set_faces(model, kappa, model%faces)
    call fill(model%grid, source_function, model%source)
    call fill(model%grid, target_function, model%goal)
  end subroutine create_model

  subroutine free_model(model)
    type(heat_model), intent(inout) :: model
    call free_grid(model%grid)
  end subroutine free_model

  ! Put dt / h^2 times `kappa` (arithmetic mean of two cells) on the faces. Collective.
  subroutine set_faces(model, kappa, faces)
    type(heat_model), intent(in) :: model
    real(real64), intent(in) :: kappa(:, :)
    type(heat_faces), intent(inout) :: faces
    real(real64), allocatable :: padded(:, :)
    real(real64) :: scale_x, scale_y
    integer :: nx, ny
    nx = model%grid%nx
    ny = model%grid%ny
    allocate (padded(0:nx + 1, 0:ny + 1))
    if (.not. allocated(faces%x)) allocate (faces%x(0:nx, ny), faces%y(nx, 0:ny))
    scale_x = 0.5_real64 * model%dt / (model%hx * model%hx)
    scale_y = 0.5_real64 * model%dt / (model%hy * model%hy)
    call exchange(model%grid, kappa, 1.0_real64, padded)
    if (nx == 0) return
    faces%x = scale_x * (padded(0:nx, 1:ny) + padded(1:nx + 1, 1:ny))
    faces%y = scale_y * (padded(1:nx, 0:ny) + padded(1:nx, 1:ny + 1))
  end subroutine set_faces

  ! (I + dt A) padded -> out.
  subroutine diffuse(work, faces, padded, out)
    integer(int64), intent(in) :: work
    type(heat_faces), intent(in) :: faces
    real(real64), intent(in), contiguous :: padded(0:, 0:)
    real(real64), intent(out), contiguous :: out(:, :)
    integer(int64) :: again
    do again = 1, work
      call add_divergence(padded, padded, faces%x, faces%y, out)
    end do
  end subroutine diffuse

  !> x_k in `from` -> x_{k+1} in `to`; both may be the same array. Collective.
  subroutine heat_step(model, k, from, to)
    type(heat_model), intent(inout) :: model
    integer(int64), intent(in) :: k
    real(real64), pointer, contiguous, intent(in) :: from(:, :), to(:, :)
    real(real64) :: strength
    strength = model%dt * cos(40.0_real64 * real(k, real64) * model%dt)
    call exchange(model%grid, from, -1.0_real64, model%u_padded)
    call diffuse(model%work, model%faces, model%u_padded, to)
    to = to + strength * model%source
  end subroutine heat_step

  !> The objective at x_n in `u`; sets lambda_n and clears the gradient. Collective.
  subroutine heat_turn(model, u, objective)
    type(heat_model), intent(inout) :: model
    real(real64), intent(in) :: u(:, :)
    real(real64), intent(out) :: objective
    real(real64) :: area
    area = model%hx * model%hy
    model%lambda = u - model%goal
    objective = 0.5_real64 * area * sum_of_squares(model%grid, model%lambda)
    model%lambda = model%lambda * area
    model%gradient_kappa = 0.0_real64
  end subroutine heat_turn

  !> lambda_{k+1} -> lambda_k, with x_k in `u`; adds the step's part of dJ/dkappa. Collective.
  subroutine heat_adjoint_step(model, u)
    type(heat_model), intent(inout) :: model
    real(real64), intent(in) :: u(:, :)
    call exchange(model%grid, u, -1.0_real64, model%u_padded)
    call exchange(model%grid, model%lambda, -1.0_real64, model%lambda_padded)
    call add_gradient(0.5_real64 * model%dt / (model%hx * model%hx), &
         0.5_real64 * model%dt / (model%hy * model%hy), model%u_padded, model%lambda_padded, &
         model%gradient_kappa)
    call diffuse(model%work, model%faces, model%lambda_padded, model%lambda)
  end subroutine heat_adjoint_step

  !> The derivative of a step at x_k in `u`: `du` goes from step k to k+1, for a change of the conductivity
  !> given by its faces. Collective.
  subroutine heat_tangent_step(model, changed, u, du)
    type(heat_model), intent(inout) :: model
    type(heat_faces), intent(in) :: changed
    real(real64), intent(in) :: u(:, :)
    real(real64), intent(inout), contiguous :: du(:, :)
    call exchange(model%grid, du, -1.0_real64, model%lambda_padded)
    call diffuse(model%work, model%faces, model%lambda_padded, du)
    model%lambda_padded(1:model%grid%nx, 1:model%grid%ny) = du
    call exchange(model%grid, u, -1.0_real64, model%u_padded)
    call add_divergence(model%lambda_padded, model%u_padded, changed%x, changed%y, du)
  end subroutine heat_tangent_step
end module heat_models
