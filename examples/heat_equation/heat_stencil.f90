! The loops over cells. Every cell's arithmetic is done in the order of heat_model.c, from the values around
! it and into its own place only, so that all bits agree with C's on any number of ranks. In a file of its
! own, so that no compiler sees that doing it twice gives the same.
module heat_stencils
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: add_divergence, add_gradient

contains

  ! out = base + div(kappa grad u): east, west, north, south, always in this order.
  subroutine add_divergence(base, u, face_x, face_y, out)
    real(real64), intent(in), contiguous :: base(0:, 0:), u(0:, 0:), face_x(0:, :), face_y(:, 0:)
    real(real64), intent(out), contiguous :: out(:, :)
    real(real64) :: here, east, west, above, below
    integer :: i, j
    do j = 1, size(out, 2)
      do i = 1, size(out, 1)
        here = u(i, j)
        east = face_x(i, j) * (u(i + 1, j) - here)
        west = face_x(i - 1, j) * (u(i - 1, j) - here)
        above = face_y(i, j) * (u(i, j + 1) - here)
        below = face_y(i, j - 1) * (u(i, j - 1) - here)
        out(i, j) = base(i, j) + (((east + west) + above) + below)
      end do
    end do
  end subroutine add_divergence

  ! Each cell sums up its own four faces.
  subroutine add_gradient(scale_x, scale_y, u, lambda, gradient)
    real(real64), intent(in) :: scale_x, scale_y
    real(real64), intent(in), contiguous :: u(0:, 0:), lambda(0:, 0:)
    real(real64), intent(inout), contiguous :: gradient(:, :)
    real(real64) :: v, l, east, west, above, below
    integer :: i, j
    do j = 1, size(gradient, 2)
      do i = 1, size(gradient, 1)
        v = u(i, j)
        l = lambda(i, j)
        east = (lambda(i + 1, j) - l) * (u(i + 1, j) - v)
        west = (lambda(i - 1, j) - l) * (u(i - 1, j) - v)
        above = (lambda(i, j + 1) - l) * (u(i, j + 1) - v)
        below = (lambda(i, j - 1) - l) * (u(i, j - 1) - v)
        gradient(i, j) = gradient(i, j) - (scale_x * (east + west) + scale_y * (above + below))
      end do
    end do
  end subroutine add_gradient
end module heat_stencils
