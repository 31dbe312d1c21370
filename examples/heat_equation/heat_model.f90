! The heat equation of heat_model.c: its fields and the objective. Knows nothing about anadrome. The state is not part
! of the model: whoever calls says where it is.
module heat_models
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08, only: MPI_Comm
  use heat_grids
  implicit none
  private
  public :: heat_model, heat_faces, create_model, free_model, conductivity, initial_state, set_faces
  public :: heat_turn

  real(real64), parameter :: pi = 3.14159265358979323846_real64
  real(real64), parameter :: log_conductivity_range = 0.8_real64

  !> dt / h^2 times a conductivity on the cell faces.
  type :: heat_faces
    real(real64), allocatable :: x(:, :)  ! (0:nx, ny)
    real(real64), allocatable :: y(:, :)  ! (nx, 0:ny)
  end type heat_faces

  type :: heat_model
    type(heat_grid) :: grid
    integer :: stages = 1                          ! 1: explicit Euler; 4: the classical Runge-Kutta method
    real(real64) :: hx = 0, hy = 0, dt = 0
    integer(int64) :: work = 1                     ! how often the arithmetic of a step is done
    real(real64), allocatable :: lambda(:, :)      ! the adjoint state; at the end dJ/du_0
    real(real64), allocatable :: gradient_kappa(:, :)
    real(real64), allocatable :: source(:, :), goal(:, :)
    ! Scratch, (0:nx+1, 0:ny+1).
    real(real64), allocatable :: u_padded(:, :), lambda_padded(:, :), base_padded(:, :)
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

  subroutine create_model(model, comm, cells_x, cells_y, work, stages)
    type(heat_model), intent(out) :: model
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: cells_x, cells_y, work
    integer, intent(in) :: stages
    real(real64), allocatable :: kappa(:, :)
    integer :: nx, ny
    call create_grid(model%grid, comm, cells_x, cells_y)
    nx = model%grid%nx
    ny = model%grid%ny
    model%hx = 1.0_real64 / real(cells_x, real64)
    model%hy = 1.0_real64 / real(cells_y, real64)
    model%work = work
    model%stages = stages
    ! 0.8 of the largest stable step: Gershgorin's bound also holds in the cells next to a wall.
    model%dt = 0.4_real64 / (exp(log_conductivity_range) &
         * (1.0_real64 / (model%hx * model%hx) + 1.0_real64 / (model%hy * model%hy)))
    allocate (kappa(nx, ny), model%source(nx, ny), model%goal(nx, ny))
    allocate (model%u_padded(0:nx + 1, 0:ny + 1), model%lambda_padded(0:nx + 1, 0:ny + 1), &
         model%base_padded(0:nx + 1, 0:ny + 1), source=0.0_real64)
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
end module heat_models
