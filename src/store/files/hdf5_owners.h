// SPDX-License-Identifier: BSD-2-Clause
// RAII owners of HDF5 identifiers.
#pragma once

#include <hdf5.h>

#include "base/owner.h"

namespace anadrome {

template <herr_t (*CloseFunction)(hid_t)>
struct CloseHdf5 {
  static constexpr hid_t kNull = -1;
  static bool owns(hid_t id) { return id >= 0; }
  static void close(hid_t id) { CloseFunction(id); }
};
using Hdf5File = Owner<hid_t, CloseHdf5<H5Fclose>>;
using Hdf5Dataset = Owner<hid_t, CloseHdf5<H5Dclose>>;
using Hdf5Space = Owner<hid_t, CloseHdf5<H5Sclose>>;
using Hdf5Type = Owner<hid_t, CloseHdf5<H5Tclose>>;
using Hdf5Group = Owner<hid_t, CloseHdf5<H5Gclose>>;
using Hdf5Attribute = Owner<hid_t, CloseHdf5<H5Aclose>>;
using Hdf5Properties = Owner<hid_t, CloseHdf5<H5Pclose>>;

}  // namespace anadrome
