# SPDX-License-Identifier: BSD-2-Clause
# cpack -G DEB: libanadrome-schedules, libanadrome, a -dev package of each and, for what is built,
# libanadrome-fortran, libanadrome-petsc, python3-anadrome and the command line tool.
set(CPACK_PACKAGE_NAME anadrome)
set(CPACK_PACKAGE_VENDOR "the anadrome developers")
set(CPACK_PACKAGE_CONTACT "the anadrome developers <anadrome@localhost.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
# Dependencies are those of the binaries; the library of one package is known to the others.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(anadrome_this_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_DEBIAN_SCHEDULES_PACKAGE_NAME libanadrome-schedules)
set(CPACK_COMPONENT_SCHEDULES_DESCRIPTION "${PROJECT_DESCRIPTION}: schedules as streams, and sketches")

set(CPACK_DEBIAN_SCHEDULES_DEVELOPMENT_PACKAGE_NAME libanadrome-schedules-dev)
set(CPACK_DEBIAN_SCHEDULES_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_SCHEDULES_DEVELOPMENT_DESCRIPTION
  "${PROJECT_DESCRIPTION}: headers, CMake and pkg-config files of schedules and sketches")
set(CPACK_DEBIAN_SCHEDULES_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_SCHEDULES_DEVELOPMENT_PACKAGE_DEPENDS "libanadrome-schedules ${anadrome_this_version}")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libanadrome)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libanadrome-schedules ${anadrome_this_version}")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "${PROJECT_DESCRIPTION}: the library")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libanadrome-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "${PROJECT_DESCRIPTION}: headers, Fortran modules, static libraries, CMake and pkg-config files")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libanadrome ${anadrome_this_version}, libanadrome-schedules-dev ${anadrome_this_version}, libopenmpi-dev")
# What static libraries need, and a compiler for the modules.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libhdf5-openmpi-dev, liblz4-dev, libxxhash-dev, libzfp-dev, gfortran")

set(CPACK_COMPONENTS_ALL schedules schedules_development runtime development)
if(TARGET anadrome_fortran)
  list(APPEND CPACK_COMPONENTS_ALL fortran)
  set(CPACK_DEBIAN_FORTRAN_PACKAGE_NAME libanadrome-fortran)
  set(CPACK_DEBIAN_FORTRAN_PACKAGE_DEPENDS "libanadrome ${anadrome_this_version}")
  set(CPACK_COMPONENT_FORTRAN_DESCRIPTION "${PROJECT_DESCRIPTION}: the Fortran library")
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    ", libanadrome-fortran ${anadrome_this_version}")
endif()
if(TARGET anadrome_petsc)
  list(APPEND CPACK_COMPONENTS_ALL petsc)
  set(CPACK_DEBIAN_PETSC_PACKAGE_NAME libanadrome-petsc)
  set(CPACK_DEBIAN_PETSC_PACKAGE_DEPENDS "libanadrome ${anadrome_this_version}")
  set(CPACK_COMPONENT_PETSC_DESCRIPTION "${PROJECT_DESCRIPTION}: the PETSc plugin")
endif()
if(TARGET anadrome_tool)
  list(APPEND CPACK_COMPONENTS_ALL tool)
  set(CPACK_DEBIAN_TOOL_PACKAGE_NAME anadrome)
  set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION science)
  set(CPACK_COMPONENT_TOOL_DESCRIPTION "${PROJECT_DESCRIPTION}: the command line tool")
endif()
if(TARGET anadrome_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-anadrome)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  math(EXPR next_minor "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "libanadrome ${anadrome_this_version}, python3-mpi4py, python3-numpy, \
python3 (>= 3.${Python3_VERSION_MINOR}~), python3 (<< 3.${next_minor}~)")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS anadrome)  # for anadrome.plan
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "${PROJECT_DESCRIPTION}: the Python package")
endif()

# Debian wants the licence in every package.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
    RENAME copyright COMPONENT ${component})
endforeach()
include(CPack)
