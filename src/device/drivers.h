// SPDX-License-Identifier: BSD-2-Clause
// The drivers that are found in a process. No header of theirs is needed: the few functions are
// declared here as their documentation gives them, and looked up by name.
#pragma once

#include <anadrome/device.h>
#include <dlfcn.h>

#include <memory>

namespace anadrome::device {

/// NULL: the process has not loaded it, or it lacks a function.
std::shared_ptr<const anadrome_device_operations> loaded_cuda();
std::shared_ptr<const anadrome_device_operations> loaded_hip();

/// Functions of a library that is loaded already.
class Functions {
 public:
  explicit Functions(const char* library) : library_(::dlopen(library, RTLD_NOLOAD | RTLD_NOW)) {
    if (library_ == nullptr) complete_ = false;
  }
  template <class Function>
  void find(const char* name, Function& function) {
    function = nullptr;
    if (library_ != nullptr) function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr) complete_ = false;
  }
  bool complete() const { return complete_; }  ///< all are there

 private:
  void* library_;  // stays: the functions are of it
  bool complete_ = true;
};

}  // namespace anadrome::device
