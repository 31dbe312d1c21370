// SPDX-License-Identifier: BSD-2-Clause
#include "coupled_model.h"

#include <algorithm>
#include <cstring>

namespace anadrome::test {

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

namespace {

double fraction(std::uint64_t x) { return static_cast<double>(mix(x) >> 11) * 0x1p-53; }

template <class Value>
void append(Bytes& to, const std::vector<Value>& values) {
  const auto* from = reinterpret_cast<const std::byte*>(values.data());
  to.insert(to.end(), from, from + values.size() * sizeof(Value));
}

std::uint64_t sum_of(const void* bytes, std::size_t size) {
  std::uint64_t sum = 0;
  const auto* from = static_cast<const unsigned char*>(bytes);
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, from + at, sizeof word);
    sum = (sum ^ word) * 0x100000001b3U + (sum >> 29);
  }
  for (; at < size; ++at) sum = (sum ^ from[at]) * 0x100000001b3U;
  return sum;
}

template <class Value>
std::uint64_t sum_of(const std::vector<Value>& values) {
  return sum_of(values.data(), values.size() * sizeof(Value));
}

// Bounded and chaotic: a wrong bit does not die out.
double logistic(double x, double nudge) {
  const double next = 3.9 * x * (1.0 - x);
  return 0.75 * next + 0.25 * nudge;
}

}  // namespace

CoupledModel::CoupledModel(MPI_Comm comm, const Counts& counts, bool tape)
    : comm_(comm),
      float32s_(counts.float32s),
      complexes_(counts.complexes),
      int64s_(counts.int64s),
      bytes_(counts.bytes),
      packed_(counts.packed_bytes),
      tape_(tape ? 3 : 0),
      adjoint_(2) {
  static_assert(sizeof(Counts) == 5 * sizeof(std::size_t));
  MPI_Comm_rank(comm, &rank_);
  MPI_Allreduce(&counts, &most_, 5, MPI_UINT64_T, MPI_MAX, comm);
}

anadrome_status CoupledModel::add_fields(anadrome_run* run) {
  anadrome_status worst = ANADROME_OK;
  places_.clear();
  const auto add = [&](std::size_t most, const char* name, anadrome_role role, anadrome_type type,
                       auto& values, unsigned which = kNoField) {
    if (most == 0) return;
    if ((exchanged & which) == 0) {
      worst =
          std::max(worst, anadrome_add_field(run, name, role, type, values.data(), values.size()));
      return;
    }
    Place place = {-1, values.data(), values.size() * sizeof values[0]};
    worst =
        std::max(worst, anadrome_add_exchanged(run, name, role, type, values.size(), &place.field));
    places_.push_back(place);
  };
  add(most_.float32s, "float32s", ANADROME_ROLE_STATE, ANADROME_FLOAT32, float32s_, kFloat32s);
  add(tape_.size(), "tape", ANADROME_ROLE_TAPE, ANADROME_INT64, tape_);
  add(most_.complexes, "complexes", ANADROME_ROLE_STATE, ANADROME_COMPLEX128, complexes_,
      kComplexes);
  if (most_.packed_bytes > 0) {
    worst = std::max(worst, anadrome_add_packed(run, "packed", ANADROME_ROLE_STATE, packed_.size(),
                                                &CoupledModel::pack, &CoupledModel::unpack, this));
  }
  add(most_.int64s, "int64s", ANADROME_ROLE_STATE, ANADROME_INT64, int64s_, kInt64s);
  add(adjoint_.size(), "adjoint", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, adjoint_);
  add(most_.bytes, "bytes", ANADROME_ROLE_STATE, ANADROME_BYTE, bytes_, kBytes);
  return worst;
}

// A field without elements on this rank may have no address.
bool CoupledModel::take_now(anadrome_run* run) {
  for (const Place& place : places_) {
    if (place.bytes == 0) continue;
    const void* now = anadrome_now(run, place.field);
    if (now == nullptr) return false;
    std::memcpy(place.array, now, place.bytes);
  }
  return true;
}

bool CoupledModel::put_then(anadrome_run* run) {
  for (const Place& place : places_) {
    if (place.bytes == 0) continue;
    void* then = anadrome_then(run, place.field);
    if (then == nullptr || then == anadrome_now(run, place.field)) return false;
    std::memcpy(then, place.array, place.bytes);
  }
  return true;
}

bool CoupledModel::spoil_then(anadrome_run* run) {
  for (const Place& place : places_) {
    if (place.bytes == 0) continue;
    void* then = anadrome_then(run, place.field);
    if (then == nullptr) return false;
    std::memset(then, 0xff, place.bytes);
  }
  return true;
}

bool CoupledModel::no_now(anadrome_run* run) const {
  return std::all_of(places_.begin(), places_.end(),
                     [&](const Place& place) { return anadrome_now(run, place.field) == nullptr; });
}

bool CoupledModel::no_then(anadrome_run* run) const {
  return std::all_of(places_.begin(), places_.end(), [&](const Place& place) {
    return anadrome_then(run, place.field) == nullptr;
  });
}

std::uint64_t CoupledModel::sum_of_now(anadrome_run* run) const {
  std::uint64_t sum = 0;
  for (const Place& place : places_) {
    if (place.bytes == 0) continue;
    sum = mix(sum ^ sum_of(anadrome_now(run, place.field), place.bytes));
  }
  return sum;
}

void CoupledModel::start() {
  const std::uint64_t seed = mix(static_cast<std::uint64_t>(rank_));
  std::uint64_t next = seed;
  for (float& x : float32s_) x = static_cast<float>(fraction(++next));
  for (auto& x : complexes_) {
    const double real = fraction(++next), imaginary = fraction(++next);
    x = {real, imaginary};
  }
  for (std::int64_t& x : int64s_) x = static_cast<std::int64_t>(mix(++next));
  for (unsigned char& x : bytes_) x = static_cast<unsigned char>(mix(++next));
  for (unsigned char& x : packed_) x = static_cast<unsigned char>(mix(++next));
  std::fill(adjoint_.begin(), adjoint_.end(), 1.0);
}

std::uint64_t CoupledModel::local_sum() const {
  return mix(sum_of(float32s_) + 3 * sum_of(complexes_) + 5 * sum_of(int64s_) + 7 * sum_of(bytes_) +
             11 * sum_of(packed_));
}

void CoupledModel::step(std::int64_t step) {
  std::uint64_t sum = local_sum();
  if (step % couple_every == 0) {
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm_);
  }
  const std::uint64_t nudge = mix(sum ^ static_cast<std::uint64_t>(step));
  std::uint64_t next = nudge;
  for (float& x : float32s_) x = static_cast<float>(logistic(x, fraction(++next)));
  for (auto& x : complexes_) {
    x = {logistic(x.real(), fraction(++next)), logistic(x.imag(), x.real())};
  }
  for (std::int64_t& x : int64s_) {
    x = static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(x) ^ ++next));
  }
  for (unsigned char& x : bytes_) x = static_cast<unsigned char>(x * 5U + (mix(++next) >> 56));
  for (unsigned char& x : packed_) x = static_cast<unsigned char>(x * 3U + (mix(++next) >> 56));
}

void CoupledModel::record(std::int64_t step) {
  tape_[0] = step;
  tape_[1] = static_cast<std::int64_t>(local_sum());
  this->step(step);
  tape_[2] = static_cast<std::int64_t>(local_sum());
}

void CoupledModel::scramble_state() {
  std::fill(float32s_.begin(), float32s_.end(), -1.0F);
  std::fill(complexes_.begin(), complexes_.end(), std::complex<double>(-2.0, -3.0));
  std::fill(int64s_.begin(), int64s_.end(), -4);
  std::fill(bytes_.begin(), bytes_.end(), static_cast<unsigned char>(0xd5));
  std::fill(packed_.begin(), packed_.end(), static_cast<unsigned char>(0xd6));
}

void CoupledModel::scramble_tape() { std::fill(tape_.begin(), tape_.end(), -7); }

void CoupledModel::touch_adjoint(std::int64_t step) {
  adjoint_[0] += static_cast<double>(step);
  adjoint_[1] -= 1.0;
}

Bytes CoupledModel::state() const {
  Bytes all;
  append(all, float32s_);
  append(all, complexes_);
  append(all, int64s_);
  append(all, bytes_);
  append(all, packed_);
  return all;
}

// The packed form differs from the array, so that a plain copy would show.
int CoupledModel::pack(void* context, void* buffer, std::size_t bytes) {
  auto& model = *static_cast<CoupledModel*>(context);
  if (bytes != model.packed_.size()) return -1;
  if (model.callbacks_meet) MPI_Barrier(model.comm_);
  auto* to = static_cast<unsigned char*>(buffer);
  for (std::size_t i = 0; i < bytes; ++i) to[bytes - 1 - i] = model.packed_[i] ^ 0xa5U;
  return model.pack_returns;
}

int CoupledModel::unpack(void* context, const void* buffer, std::size_t bytes) {
  auto& model = *static_cast<CoupledModel*>(context);
  if (bytes != model.packed_.size()) return -1;
  if (model.callbacks_meet) MPI_Barrier(model.comm_);
  const auto* from = static_cast<const unsigned char*>(buffer);
  for (std::size_t i = 0; i < bytes; ++i) model.packed_[i] = from[bytes - 1 - i] ^ 0xa5U;
  return model.unpack_returns;
}

Reference::Reference(CoupledModel& model, std::int64_t steps) {
  model.start();
  states_.push_back(model.state());
  for (std::int64_t k = 0; k < steps; ++k) {
    if (model.has_tape()) {
      model.record(k);
      tapes_.push_back(model.tape());
    } else {
      model.step(k);
    }
    states_.push_back(model.state());
  }
}

}  // namespace anadrome::test
