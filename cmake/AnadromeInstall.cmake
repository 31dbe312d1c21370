# SPDX-License-Identifier: BSD-2-Clause
# What is installed. Each component of find_package has an export set of its own, anadrome-<component>, so that
# a C user needs neither Fortran nor PETSc; those of cpack are runtime, fortran, development and what the
# optional parts add: petsc, tool, python.
include(CMakePackageConfigHelpers)

set(anadrome_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/anadrome)
set(anadrome_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# anadrome_install_library(component cpack-component target...): the targets, their export set and, if there is
# such a file, what finds their dependencies. CMake's files about the plugin are in its package, so that those of
# the development package never name a library that is not there.
function(anadrome_install_library component package)
  install(TARGETS ${ARGN} EXPORT anadrome-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT ${package} NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  set(home development)
  if(component STREQUAL "petsc")
    set(home petsc)
  endif()
  install(EXPORT anadrome-${component} FILE anadrome-${component}-targets.cmake
    NAMESPACE anadrome:: DESTINATION ${anadrome_config_dir} COMPONENT ${home})
  install(FILES cmake/anadrome-${component}-dependencies.cmake DESTINATION ${anadrome_config_dir}
    COMPONENT ${home} OPTIONAL)
endfunction()

# anadrome_install_pkgconfig(name): from cmake/name.pc.in. Its prefix is relative to the file.
function(anadrome_install_pkgconfig name)
  file(RELATIVE_PATH anadrome_pc_to_prefix
    /prefix/${anadrome_pkgconfig_dir} /prefix)
  string(REGEX REPLACE "/$" "" anadrome_pc_to_prefix "${anadrome_pc_to_prefix}")
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${anadrome_pkgconfig_dir}
    COMPONENT development)
endfunction()

list(JOIN HDF5_C_LIBRARIES " " anadrome_private_libs)

anadrome_install_library(c runtime anadrome)
anadrome_install_pkgconfig(anadrome)
if(TARGET anadrome_static)
  anadrome_install_library(static development anadrome_static)
endif()
if(TARGET anadrome_fortran)
  anadrome_install_library(fortran fortran anadrome_fortran)
  if(TARGET anadrome_fortran_static)
    anadrome_install_library(fortran_static development anadrome_fortran_static)
  endif()
  anadrome_install_pkgconfig(anadrome-fortran)
  get_target_property(modules anadrome_fortran_objects Fortran_MODULE_DIRECTORY)
  install(DIRECTORY ${modules}/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/fortran/anadrome
    COMPONENT development FILES_MATCHING PATTERN "*.mod")
endif()
if(TARGET anadrome_petsc)
  set_target_properties(anadrome_petsc PROPERTIES EXPORT_NAME petsc)
  anadrome_install_library(petsc petsc anadrome_petsc)
endif()
if(TARGET anadrome_tool)
  install(TARGETS anadrome_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  install(FILES src/tool/completion/anadrome
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
endif()
if(TARGET anadrome_man)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
endif()

if(TARGET anadrome_python)
  # Where this Python looks below the prefix; with another prefix the user sets PYTHONPATH.
  if(NOT ANADROME_PYTHON_DIR)
    execute_process(COMMAND ${Python3_EXECUTABLE} -c "import os, site, sys
folders = [os.path.relpath(path, sys.argv[1]) for path in site.getsitepackages()]
usual = 'lib/python%d.%d/site-packages' % sys.version_info[:2]
print(next((path for path in folders if path.startswith('lib')), usual), end='')" ${CMAKE_INSTALL_PREFIX}
      OUTPUT_VARIABLE folder COMMAND_ERROR_IS_FATAL ANY)
    set(ANADROME_PYTHON_DIR ${folder} CACHE STRING "Folder of Python packages, below the prefix")
  endif()
  set(package ${ANADROME_PYTHON_DIR}/anadrome)
  file(RELATIVE_PATH package_to_library /prefix/${package} /prefix/${CMAKE_INSTALL_LIBDIR})
  set_target_properties(anadrome_python PROPERTIES INSTALL_RPATH "$ORIGIN/${package_to_library}")
  install(TARGETS anadrome_python LIBRARY DESTINATION ${package} COMPONENT python)
  install(DIRECTORY python/anadrome/ DESTINATION ${package} COMPONENT python
    FILES_MATCHING REGEX "\\.pyi?$|/py\\.typed$")
endif()

install(DIRECTORY include/anadrome DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
configure_package_config_file(cmake/anadromeConfig.cmake.in ${PROJECT_BINARY_DIR}/anadromeConfig.cmake
  INSTALL_DESTINATION ${anadrome_config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/anadromeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/anadromeConfig.cmake ${PROJECT_BINARY_DIR}/anadromeConfigVersion.cmake
  DESTINATION ${anadrome_config_dir} COMPONENT development)
