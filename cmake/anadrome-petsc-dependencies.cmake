# SPDX-License-Identifier: BSD-2-Clause
# What anadrome::petsc is linked with. The plugin fits one minor version of PETSc, the one it was built for.
if(NOT TARGET PkgConfig::PETSC)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(PETSC QUIET IMPORTED_TARGET PETSc>=3.18 PETSc<3.26)
  endif()
  if(NOT TARGET PkgConfig::PETSC)
    set(anadrome_lacks "pkg-config finds no PETSc 3.18 to 3.25")
    return()
  endif()
  set_property(TARGET PkgConfig::PETSC PROPERTY INTERFACE_COMPILE_OPTIONS "")
endif()
