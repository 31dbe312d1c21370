# What anadrome::petsc is linked with. The plugin fits one minor version of PETSc, the one it was built for.
find_dependency(PkgConfig)
if(NOT TARGET PkgConfig::PETSC)
  pkg_check_modules(PETSC REQUIRED IMPORTED_TARGET PETSc)
  set_property(TARGET PkgConfig::PETSC PROPERTY INTERFACE_COMPILE_OPTIONS "")
endif()
