# SPDX-License-Identifier: BSD-2-Clause
# zfp::zfp, where zfp is. Its CMake files may require OpenMP, and end the configuration where the compiler has none
# (clang without libomp-dev); the shared library needs nothing of that.
find_package(OpenMP QUIET COMPONENTS C)
if(OpenMP_C_FOUND)
  find_package(zfp QUIET CONFIG)
endif()
if(NOT TARGET zfp::zfp)
  find_path(ANADROME_ZFP_INCLUDE_DIR zfp.h)
  find_library(ANADROME_ZFP_LIBRARY zfp)
  mark_as_advanced(ANADROME_ZFP_INCLUDE_DIR ANADROME_ZFP_LIBRARY)
  if(ANADROME_ZFP_INCLUDE_DIR AND ANADROME_ZFP_LIBRARY)
    add_library(zfp::zfp UNKNOWN IMPORTED)
    set_target_properties(zfp::zfp PROPERTIES
      IMPORTED_LOCATION ${ANADROME_ZFP_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ANADROME_ZFP_INCLUDE_DIR})
  endif()
endif()
