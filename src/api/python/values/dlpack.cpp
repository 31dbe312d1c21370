// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/dlpack.h"

#include <utility>

#include "base/index.h"

namespace anadrome::python {

// ABI of DLPack 1.x, and of the capsules before it.
struct Dlpack::Tensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t dimensions;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; NULL: contiguous
  std::uint64_t byte_offset;
};
struct Dlpack::Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};
struct Dlpack::Versioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  std::uint64_t flags;
  Tensor tensor;
};

namespace {

constexpr const char *kName = "dltensor", *kVersionedName = "dltensor_versioned";
constexpr std::uint64_t kReadOnly = 1, kIsCopied = 2;
constexpr int kHost = 1, kCuda = 2, kCudaHost = 3, kRocm = 10, kRocmHost = 11, kCudaManaged = 13;
enum Code { kInt, kUnsigned, kFloat, kComplex = 5, kBool = 6 };

py::object ask(const py::object& array, const py::object& stream) {
  const auto device = array.attr("__dlpack_device__")().cast<std::pair<int, int>>();
  const bool streams =
      device.first == kCuda || device.first == kRocm || device.first == kCudaManaged;
  py::dict words;
  if (streams) {
    // None, 0 and 1 are the default stream, which is 1 for CUDA and 0 for ROCm.
    const bool is_default = stream_of(stream) == nullptr;
    words["stream"] = is_default ? py::int_(device.first == kRocm ? 0 : 1) : py::object(stream);
  }
  py::dict newest = words.attr("copy")();
  newest["max_version"] = py::make_tuple(1, 1);
  try {
    return array.attr("__dlpack__")(**newest);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // it does not know the word
    return array.attr("__dlpack__")(**words);
  }
}

}  // namespace

void* stream_of(const py::object& number) {
  constexpr std::uintptr_t kDefault = 1;
  if (number.is_none()) return nullptr;
  const auto value = number.cast<std::uintptr_t>();
  return value == kDefault ? nullptr : reinterpret_cast<void*>(value);
}

Dlpack::Dlpack(const py::object& array, const py::object& stream) {
  const py::object capsule = ask(array, stream);
  const bool versioned = PyCapsule_IsValid(capsule.ptr(), kVersionedName) != 0;
  const char* const name = versioned ? kVersionedName : kName;
  void* const managed = PyCapsule_GetPointer(capsule.ptr(), name);
  if (managed == nullptr) throw py::error_already_set();
  if (PyCapsule_SetName(capsule.ptr(), versioned ? "used_dltensor_versioned" : "used_dltensor") !=
      0)
    throw py::error_already_set();
  // It is ours from here on.
  if (!versioned) {
    managed_ = static_cast<Managed*>(managed);
    return;
  }
  of_1_ = static_cast<Versioned*>(managed);
  read_only_ = (of_1_->flags & (kReadOnly | kIsCopied)) != 0;  // a copy is nobody's field
  if (of_1_->major != 1) {
    Dlpack unread = std::move(*this);
    throw py::type_error("DLPack of a version that is not known here");
  }
}

Dlpack::~Dlpack() {
  const auto let_go = [](auto* managed) {
    if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
  };
  let_go(managed_);
  let_go(of_1_);
}

Dlpack& Dlpack::operator=(Dlpack&& other) noexcept {
  std::swap(managed_, other.managed_);
  std::swap(of_1_, other.of_1_);
  std::swap(read_only_, other.read_only_);
  return *this;
}

const Dlpack::Tensor& Dlpack::tensor() const {
  return of_1_ != nullptr ? of_1_->tensor : managed_->tensor;
}

bool Dlpack::on_device() const {
  const std::int32_t type = tensor().device_type;
  return type == kCuda || type == kRocm || type == kCudaManaged;
}
bool Dlpack::elsewhere() const {
  const std::int32_t type = tensor().device_type;
  return !on_device() && type != kHost && type != kCudaHost && type != kRocmHost;
}

bool Dlpack::contiguous() const {
  const Tensor& all = tensor();
  if (all.strides == nullptr) return true;
  std::int64_t expected = 1;
  for (std::int32_t i = all.dimensions; i-- > 0;) {
    if (all.shape[i] != 1 && all.strides[i] != expected && count() > 0) return false;
    expected *= all.shape[i];
  }
  return true;
}

std::size_t Dlpack::itemsize() const { return std::size_t{tensor().bits} * tensor().lanes / 8; }

std::string Dlpack::format() const {
  const std::size_t bytes = itemsize();
  if (tensor().lanes != 1) return "?";
  switch (tensor().code) {
    case kFloat:
      return bytes == 4 ? "f" : bytes == 8 ? "d" : "e";
    case kComplex:
      return bytes == 8 ? "Zf" : bytes == 16 ? "Zd" : "Ze";
    case kInt:
      return bytes == 1 ? "b" : bytes == 4 ? "i" : bytes == 8 ? "q" : "h";
    case kUnsigned:
      return bytes == 1 ? "B" : "H";
    case kBool:
      return "?";
    default:
      return "e";
  }
}

std::size_t Dlpack::count() const {
  std::size_t count = 1;
  for (std::int32_t i = 0; i < tensor().dimensions; ++i) count *= size(tensor().shape[i]);
  return count;
}

void* Dlpack::values() const {
  return static_cast<std::byte*>(tensor().data) + tensor().byte_offset;
}

std::vector<std::int64_t> Dlpack::shape() const {
  return {tensor().shape, tensor().shape + tensor().dimensions};
}

}  // namespace anadrome::python
