# SPDX-License-Identifier: BSD-2-Clause
# What is installed. Each component of find_package has an export set of its own, anadrome-<component>, so that
# a C user needs neither Fortran nor PETSc, and who wants streams alone no MPI; those of cpack are schedules,
# schedules_development, runtime, fortran, development and what the optional parts add: petsc, tool, python.
include(CMakePackageConfigHelpers)

set(anadrome_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/anadrome)
set(anadrome_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# anadrome_install_library(component cpack-component target...): the targets, their export set and, if there is
# such a file, what finds their dependencies. CMake's files about the plugin are in its package, so that those of
# the development package never name a library that is not there.
function(anadrome_install_library component package)
  set(development development)
  if(component STREQUAL "schedules")
    set(development schedules_development)
  endif()
  install(TARGETS ${ARGN} EXPORT anadrome-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT ${package} NAMELINK_COMPONENT ${development}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${development})
  set(home ${development})
  if(component STREQUAL "petsc")
    set(home petsc)
  endif()
  install(EXPORT anadrome-${component} FILE anadrome-${component}-targets.cmake
    NAMESPACE anadrome:: DESTINATION ${anadrome_config_dir} COMPONENT ${home})
  install(FILES cmake/anadrome-${component}-dependencies.cmake DESTINATION ${anadrome_config_dir}
    COMPONENT ${home} OPTIONAL)
endfunction()

# anadrome_install_pkgconfig(name cpack-component): from cmake/name.pc.in. Its prefix is relative to the file.
function(anadrome_install_pkgconfig name package)
  file(RELATIVE_PATH anadrome_pc_to_prefix
    /prefix/${anadrome_pkgconfig_dir} /prefix)
  string(REGEX REPLACE "/$" "" anadrome_pc_to_prefix "${anadrome_pc_to_prefix}")
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${anadrome_pkgconfig_dir}
    COMPONENT ${package})
endfunction()

list(JOIN HDF5_C_LIBRARIES " " anadrome_private_libs)
set(anadrome_pc_mpi_flags "-DOMPI_SKIP_MPICXX=1 -DMPICH_SKIP_MPICXX=1")
if(NOT ANADROME_MPI)
  set(anadrome_pc_mpi_flags "-I\${includedir}/anadrome/one_process")
  install(FILES include/one_process/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/anadrome/one_process COMPONENT development)
endif()

set(anadrome_pc_codecs "")
if(ANADROME_LZ4)
  string(APPEND anadrome_pc_codecs "-llz4 ")
endif()
if(ANADROME_ZFP)
  string(APPEND anadrome_pc_codecs "-lzfp ")
endif()

anadrome_install_library(schedules schedules anadrome_schedules)
anadrome_install_pkgconfig(anadrome-schedules schedules_development)
anadrome_install_library(c runtime anadrome)
anadrome_install_pkgconfig(anadrome development)
if(TARGET anadrome_static)
  anadrome_install_library(static development anadrome_static anadrome_schedules_static)
  install(FILES cmake/anadrome-zfp.cmake DESTINATION ${anadrome_config_dir} COMPONENT development)
endif()
if(TARGET anadrome_fortran)
  anadrome_install_library(fortran fortran anadrome_fortran)
  if(TARGET anadrome_fortran_static)
    anadrome_install_library(fortran_static development anadrome_fortran_static)
  endif()
  anadrome_install_pkgconfig(anadrome-fortran development)
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
elseif(TARGET anadrome_tool AND EXISTS ${PROJECT_SOURCE_DIR}/man/anadrome.1)  # in a release
  install(DIRECTORY man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
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

set(anadrome_schedules_headers error.hpp export.h field.h graph.h schedule.h schedule.hpp sketch.h sketch.hpp status.h)
list(TRANSFORM anadrome_schedules_headers REPLACE "\\." "\\\\." OUTPUT_VARIABLE patterns)
list(JOIN patterns "|" patterns)
install(DIRECTORY include/anadrome DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT schedules_development
  FILES_MATCHING REGEX "/(${patterns})$")
install(DIRECTORY include/anadrome DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  REGEX "/(${patterns})$" EXCLUDE)
configure_package_config_file(cmake/anadromeConfig.cmake.in ${PROJECT_BINARY_DIR}/anadromeConfig.cmake
  INSTALL_DESTINATION ${anadrome_config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/anadromeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/anadromeConfig.cmake ${PROJECT_BINARY_DIR}/anadromeConfigVersion.cmake
  DESTINATION ${anadrome_config_dir} COMPONENT schedules_development)

# Debian's packages have no use for it, and leave it out.
set(anadrome_module_python "")
if(TARGET anadrome_python)
  set(anadrome_module_python "prepend-path PYTHONPATH $prefix/${ANADROME_PYTHON_DIR}")
endif()
configure_file(cmake/anadrome.modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile RENAME ${PROJECT_VERSION}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/anadrome COMPONENT module)
