! SPDX-License-Identifier: BSD-2-Clause
! The loops over cells. The arithmetic of each cell is done in the order of heat_step.c, from the values around
! it and into its own place only, so that all bits agree with C's on any number of ranks. They are in a file of
! their own, so that no compiler sees that doing them twice gives the same.
module heat_cells
  use, intrinsic :: iso_fortran_env, only: dp => real64
  implicit none

contains

  ! out = u + dt div(kappa grad u): east, west, north, south, always in this order.
  pure subroutine diffuse(u, face_x, face_y, out)
    real(dp), intent(in), contiguous :: u(0:, 0:), face_x(0:, :), face_y(:, 0:)
    real(dp), intent(inout), contiguous :: out(:, :)
    real(dp) :: here, east, west, above, below
    integer :: i, j
    do j = 1, size(out, 2)
      do i = 1, size(out, 1)
        here = u(i, j)
        east = face_x(i, j) * (u(i + 1, j) - here)
        west = face_x(i - 1, j) * (u(i - 1, j) - here)
        above = face_y(i, j) * (u(i, j + 1) - here)
        below = face_y(i, j - 1) * (u(i, j - 1) - here)
        out(i, j) = here + (((east + west) + above) + below)
      end do
    end do
  end subroutine diffuse

  ! The part of dJ/dkappa of one step at u whose result has the adjoint l. Each cell sums up its own four faces.
  pure subroutine add_gradient(scale_x, scale_y, u, l, gradient)
    real(dp), intent(in) :: scale_x, scale_y
    real(dp), intent(in), contiguous :: u(0:, 0:), l(0:, 0:)
    real(dp), intent(inout), contiguous :: gradient(:, :)
    real(dp) :: east, west, above, below
    integer :: i, j
    do j = 1, size(gradient, 2)
      do i = 1, size(gradient, 1)
        east = (l(i + 1, j) - l(i, j)) * (u(i + 1, j) - u(i, j))
        west = (l(i - 1, j) - l(i, j)) * (u(i - 1, j) - u(i, j))
        above = (l(i, j + 1) - l(i, j)) * (u(i, j + 1) - u(i, j))
        below = (l(i, j - 1) - l(i, j)) * (u(i, j - 1) - u(i, j))
        gradient(i, j) = gradient(i, j) - (scale_x * (east + west) + scale_y * (above + below))
      end do
    end do
  end subroutine add_gradient
end module heat_cells
