// SPDX-License-Identifier: BSD-2-Clause
// States on a GPU by CUDA's driver alone: no toolkit is needed to build this, and none to run it.
//
// The state is an array on the device that each step turns by one element, with the number of the
// step in front: two copies within the device and a memset, so that a step takes what a simple
// stencil takes, and everybody can say what x_k is. The reverse sweep looks at three elements of
// each x_k and counts those that are wrong. Modes:
//   library   anadrome, with the options behind it: ring library schedule=async device_memory=4GiB
//   kept      every state in the device's memory
//   by_hand   each state copied and written on this thread, and read and copied back
#include <anadrome/anadrome.h>
#include <anadrome/device.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Address = std::size_t;  // CUdeviceptr

// What is called of the driver, as its documentation gives it.
struct Driver {
  int (*init)(unsigned);
  int (*device)(int*, int);
  int (*name)(char*, int, int);
  int (*context)(void**, int);
  int (*set_context)(void*);
  int (*make_stream)(void**, unsigned);
  int (*wait)(void*);
  int (*allocate)(Address*, std::size_t);
  int (*release)(Address);
  int (*pinned)(void**, std::size_t, unsigned);
  int (*copy)(Address, Address, std::size_t, void*);
  int (*set)(Address, unsigned, std::size_t, void*);
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
}

void check(int code, const char* what) {
  if (code != 0) throw std::runtime_error(std::string(what) + ": error " + std::to_string(code));
}

void check(anadrome_status status) {
  if (status != ANADROME_OK) throw std::runtime_error(anadrome_last_error());
}

class Ring {
 public:
  Ring(std::size_t elements, std::int64_t steps)
      : elements_(elements), steps_(static_cast<std::size_t>(steps)) {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) throw std::runtime_error("there is no libcuda.so.1 here");
    find(library, "cuInit", cuda_.init);
    find(library, "cuDeviceGet", cuda_.device);
    find(library, "cuDeviceGetName", cuda_.name);
    find(library, "cuDevicePrimaryCtxRetain", cuda_.context);
    find(library, "cuCtxSetCurrent", cuda_.set_context);
    find(library, "cuStreamCreate", cuda_.make_stream);
    find(library, "cuStreamSynchronize", cuda_.wait);
    find(library, "cuMemAlloc_v2", cuda_.allocate);
    find(library, "cuMemFree_v2", cuda_.release);
    find(library, "cuMemHostAlloc", cuda_.pinned);
    find(library, "cuMemcpyAsync", cuda_.copy);
    find(library, "cuMemsetD32Async", cuda_.set);
    check(cuda_.init(0), "cuInit");
    int number = 0;
    check(cuda_.device(&number, 0), "cuDeviceGet");
    check(cuda_.name(name_, sizeof name_, number), "cuDeviceGetName");
    void* context = nullptr;
    check(cuda_.context(&context, number), "cuDevicePrimaryCtxRetain");
    check(cuda_.set_context(context), "cuCtxSetCurrent");
    check(cuda_.make_stream(&stream_, 1), "cuStreamCreate");
    state_ = allocate();
    spare_ = allocate();
    void* host = nullptr;
    check(cuda_.pinned(&host, 3 * steps_ * kWord, 0), "cuMemHostAlloc");
    log_ = static_cast<unsigned*>(host);
  }

  std::size_t bytes() const { return elements_ * kWord; }
  const char* name() const { return name_; }
  void* stream() const { return stream_; }
  Address state() const { return state_; }
  Address allocate() {
    Address memory = 0;
    check(cuda_.allocate(&memory, bytes()), "cuMemAlloc");
    return memory;
  }
  void copy(Address to, Address from, std::size_t bytes) {
    check(cuda_.copy(to, from, bytes, stream_), "cuMemcpyAsync");
  }
  void wait() { check(cuda_.wait(stream_), "cuStreamSynchronize"); }

  void start() { check(cuda_.set(state_, kOld, elements_, stream_), "cuMemsetD32Async"); }
  void step(std::int64_t k) {
    copy(spare_ + kWord, state_, bytes() - kWord);
    check(cuda_.set(spare_, static_cast<unsigned>(k), 1, stream_), "cuMemsetD32Async");
    copy(state_, spare_, bytes());
  }
  /// Takes as long as two steps, and looks at x_k.
  void adjoint(std::int64_t k) {
    for (std::size_t i = 0; i < 3; ++i) {
      const Address place = reinterpret_cast<Address>(log_ + 3 * static_cast<std::size_t>(k) + i);
      copy(place, state_ + position(i) * kWord, kWord);
    }
    copy(spare_, state_, bytes());
    copy(state_, spare_, bytes());
    check(cuda_.set(state_, kSpoilt, elements_, stream_), "cuMemsetD32Async");
  }
  /// Elements that were not those of x_k.
  std::int64_t wrong() {
    wait();
    std::int64_t wrong = 0;
    for (std::size_t k = 0; k < steps_; ++k) {
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t at = position(i);
        const unsigned expected = at < k ? static_cast<unsigned>(k - 1 - at) : kOld;
        if (log_[3 * k + i] != expected) ++wrong;
      }
    }
    return wrong;
  }

 private:
  static constexpr std::size_t kWord = 4;
  static constexpr unsigned kOld = 0xffffffffU, kSpoilt = 0xdeadbeefU;
  std::size_t position(std::size_t i) const {
    return i == 0 ? 0 : i == 1 ? 7 % elements_ : elements_ - 1;
  }

  const std::size_t elements_, steps_;
  Driver cuda_{};
  char name_[128] = "";
  void* stream_ = nullptr;
  Address state_ = 0, spare_ = 0;
  unsigned* log_ = nullptr;
};

void by_library(Ring& ring, std::int64_t steps, const std::vector<std::string>& options) {
  anadrome_run* run = nullptr;
  check(anadrome_open(MPI_COMM_WORLD, &run));
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    check(anadrome_set(run, option.substr(0, equals).c_str(), option.substr(equals + 1).c_str()));
  }
  check(anadrome_add_device_field(run, "ring", ANADROME_ROLE_STATE, ANADROME_INT32,
                                  reinterpret_cast<void*>(ring.state()),
                                  ring.bytes() / sizeof(std::int32_t), ring.stream()));
  check(anadrome_begin(run, steps));
  ring.start();
  anadrome_action action;
  do {
    check(anadrome_next(run, &action));
    if (action.kind == ANADROME_ADVANCE) {
      for (std::int64_t k = action.first; k < action.last; ++k) ring.step(k);
    } else if (action.kind == ANADROME_ADJOINT) {
      ring.adjoint(action.first);
    }
  } while (action.kind != ANADROME_DONE);
  check(anadrome_close(&run));
}

void with_every_state(Ring& ring, std::int64_t steps) {
  std::vector<Address> states;
  for (std::int64_t k = 0; k < steps; ++k) states.push_back(ring.allocate());
  ring.start();
  for (std::int64_t k = 0; k < steps; ++k) {
    ring.copy(states[static_cast<std::size_t>(k)], ring.state(), ring.bytes());
    ring.step(k);
  }
  for (std::int64_t k = steps; k-- > 0;) {
    ring.copy(ring.state(), states[static_cast<std::size_t>(k)], ring.bytes());
    ring.adjoint(k);
  }
}

void by_hand(Ring& ring, std::int64_t steps) {
  std::FILE* const file = std::tmpfile();
  if (file == nullptr) throw std::runtime_error("there is no temporary file");
  std::vector<char> here(ring.bytes());
  const Address host = reinterpret_cast<Address>(here.data());
  ring.start();
  for (std::int64_t k = 0; k < steps; ++k) {
    ring.copy(host, ring.state(), ring.bytes());
    ring.wait();
    if (std::fwrite(here.data(), 1, here.size(), file) != here.size())
      throw std::runtime_error("the disk is full");
    ring.step(k);
  }
  for (std::int64_t k = steps; k-- > 0;) {
    std::fseek(file, static_cast<long>(k) * static_cast<long>(here.size()), SEEK_SET);
    if (std::fread(here.data(), 1, here.size(), file) != here.size())
      throw std::runtime_error("the file is short");
    ring.copy(ring.state(), host, ring.bytes());
    ring.wait();
    ring.adjoint(k);
  }
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int result = 1;
  try {
    if (argc < 4) throw std::runtime_error("ring MiB STEPS library|kept|by_hand [option=value...]");
    const std::size_t elements = std::strtoull(argv[1], nullptr, 10) << 18;
    const std::int64_t steps = std::atoll(argv[2]);
    const std::string mode = argv[3];
    Ring ring(elements, steps);
    const auto began = std::chrono::steady_clock::now();
    if (mode == "library") {
      by_library(ring, steps, {argv + 4, argv + argc});
    } else if (mode == "kept") {
      with_every_state(ring, steps);
    } else if (mode == "by_hand") {
      by_hand(ring, steps);
    } else {
      throw std::runtime_error("no mode " + mode);
    }
    const std::int64_t wrong = ring.wrong();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    std::printf("%s: %s, %.3f s, %lld wrong elements\n", ring.name(), mode.c_str(), seconds.count(),
                static_cast<long long>(wrong));
    result = wrong == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ring: %s\n", error.what());
  }
  MPI_Finalize();
  return result;
}
