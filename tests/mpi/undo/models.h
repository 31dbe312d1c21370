// SPDX-License-Identifier: BSD-2-Clause
// Models whose steps can be undone up to rounding, or not at all. What stands for the adjoint is a
// hash of every state on the way back, in its order: no wrong bit leaves it as it was.
#pragma once

#include <anadrome/anadrome.h>
#include <anadrome/store.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "mpi_main.h"

namespace anadrome::test {

inline constexpr std::int64_t kSteps = 40;

class UndoneModel {
 public:
  virtual ~UndoneModel() = default;
  virtual void start() = 0;
  virtual void step(std::int64_t k) = 0;
  /// Guesses x_k from x_{k+1}.
  virtual void undo(std::int64_t k) = 0;

  /// Did all that it keeps itself find a place?
  virtual bool stored() const { return true; }

  void add_to(anadrome_run* run) {
    int number = 0;
    for (const Part& part : parts_) {
      anadrome_add_field(run, ("x" + std::to_string(number++)).c_str(), ANADROME_ROLE_STATE,
                         part.type, part.values, part.count);
    }
    anadrome_add_field(run, "adjoint", ANADROME_ROLE_ADJOINT, ANADROME_INT64, &adjoint, 1);
    anadrome_add_field(run, "objective", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, &objective, 1);
  }
  std::uint64_t hash() const {
    std::uint64_t sum = 0;
    for (const Part& part : parts_) sum = XXH3_64bits_withSeed(part.values, part.bytes, sum);
    return sum;
  }
  /// Of a model whose fields are all of doubles.
  std::vector<double> numbers() const {
    std::vector<double> all;
    for (const Part& part : parts_) {
      const auto* const values = static_cast<const double*>(part.values);
      all.insert(all.end(), values, values + part.count);
    }
    return all;
  }
  void advance(std::int64_t k, bool again) {
    step(k);
    if (!again) objective += std::cos(static_cast<double>(hash() % 1000));
  }
  void add_adjoint() {
    const std::uint64_t of_state = hash();
    adjoint = static_cast<std::int64_t>(
        XXH3_64bits_withSeed(&of_state, sizeof of_state, static_cast<std::uint64_t>(adjoint)));
  }
  /// As a caller may, who needs room.
  void spoil() {
    for (const Part& part : parts_) std::memset(part.values, 0x5a, part.bytes);
  }
  void begin_anew() {
    adjoint = 0;
    objective = 0;
    start();
  }

  std::int64_t adjoint = 0;
  double objective = 0;

 protected:
  template <class Number>
  void has(std::vector<Number>& values, anadrome_type type) {
    parts_.push_back({type, values.data(), values.size(), values.size() * sizeof(Number)});
  }

 private:
  struct Part {
    anadrome_type type;
    void* values;
    std::size_t count, bytes;
  };
  std::vector<Part> parts_;
};

/// A ring of all ranks: the neighbours of this one's first and last `width` elements.
template <class Number>
class Ring {
 public:
  explicit Ring(std::size_t width) : width_(width), below_(width), above_(width) {}
  void exchange(const std::vector<Number>& of) {
    const int up = (rank() + 1) % ranks(), down = (rank() + ranks() - 1) % ranks();
    const auto bytes = static_cast<int>(width_ * sizeof(Number));
    MPI_Sendrecv(of.data() + of.size() - width_, bytes, MPI_BYTE, up, 1, below_.data(), bytes,
                 MPI_BYTE, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(of.data(), bytes, MPI_BYTE, down, 2, above_.data(), bytes, MPI_BYTE, up, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  Number at(const std::vector<Number>& of, std::ptrdiff_t i) const {
    const auto count = static_cast<std::ptrdiff_t>(of.size());
    const auto width = static_cast<std::ptrdiff_t>(width_);
    if (i < 0) return below_[static_cast<std::size_t>(i + width)];
    return i < count ? of[static_cast<std::size_t>(i)]
                     : above_[static_cast<std::size_t>(i - count)];
  }

 private:
  std::size_t width_;
  std::vector<Number> below_, above_;
};

/// The acoustic wave equation in two dimensions by leapfrog, with a sponge at two sides.
template <class Number>
class Wave final : public UndoneModel {
 public:
  Wave(std::size_t rows, std::size_t columns)
      : columns_(columns), now_(rows * columns), before_(now_.size()), ring_(columns) {
    has(now_, sizeof(Number) == 4 ? ANADROME_FLOAT32 : ANADROME_FLOAT64);
    has(before_, sizeof(Number) == 4 ? ANADROME_FLOAT32 : ANADROME_FLOAT64);
  }
  void start() override {
    for (std::size_t i = 0; i < now_.size(); ++i) {
      const double x = double(i % columns_) / double(columns_) - 0.4;
      const double y = double(i / columns_) + double(rank()) - 3;
      now_[i] = before_[i] = Number(std::exp(-50 * x * x - 0.05 * y * y));
    }
  }
  void step(std::int64_t) override {
    const std::vector<Number> pull = laplacian(now_);
    for (std::size_t i = 0; i < now_.size(); ++i) {
      const Number damping = sponge(i);
      const Number next =
          (2 * now_[i] - (1 - damping) * before_[i] + Number(0.2) * pull[i]) / (1 + damping);
      before_[i] = now_[i];
      now_[i] = next;
    }
  }
  void undo(std::int64_t) override {
    const std::vector<Number> pull = laplacian(before_);
    for (std::size_t i = 0; i < now_.size(); ++i) {
      const Number damping = sponge(i);
      const Number last =
          (2 * before_[i] - (1 + damping) * now_[i] + Number(0.2) * pull[i]) / (1 - damping);
      now_[i] = before_[i];
      before_[i] = last;
    }
  }

 private:
  Number sponge(std::size_t i) const {
    const auto column = i % columns_, wide = columns_ / 8;
    return column < wide ? Number(0.3) * Number(wide - column) / Number(wide) : Number(0);
  }
  std::vector<Number> laplacian(const std::vector<Number>& of) {
    ring_.exchange(of);
    std::vector<Number> sum(of.size());
    const auto wide = static_cast<std::ptrdiff_t>(columns_);
    for (std::size_t i = 0; i < of.size(); ++i) {
      const auto here = static_cast<std::ptrdiff_t>(i);
      const std::size_t column = i % columns_;
      const Number left = column == 0 ? 0 : of[i - 1];
      const Number right = column + 1 == columns_ ? 0 : of[i + 1];
      sum[i] = left + right + ring_.at(of, here - wide) + ring_.at(of, here + wide) - 4 * of[i];
    }
    return sum;
  }

  std::size_t columns_;
  std::vector<Number> now_, before_;
  Ring<Number> ring_;
};

inline std::unique_ptr<UndoneModel> wave() { return std::make_unique<Wave<double>>(64, 200); }

/// A wave whose layer at one side forgets what it damps. The caller keeps the layer's cells of each
/// step in a store, and a step that is undone gets them from there.
class LayeredWave final : public UndoneModel {
 public:
  LayeredWave() : now_(kCells), before_(kCells), strip_(kLayer), ring_(1) {
    has(now_, ANADROME_FLOAT64);
    has(before_, ANADROME_FLOAT64);
    const std::string options = "memory=300KiB name=strips directory=" + directory();
    anadrome_store_open(MPI_COMM_WORLD, options.c_str(), &strips_);
  }
  ~LayeredWave() override { anadrome_store_close(&strips_); }
  void start() override {
    for (std::size_t i = 0; i < kCells; ++i)
      now_[i] = before_[i] = std::exp(-1e-3 * std::pow(double(i) - 500, 2));
  }
  void step(std::int64_t k) override {
    std::copy_n(before_.begin(), kLayer, strip_.begin());
    const anadrome_part part = strip();
    stored_ = stored_ && anadrome_store_put(strips_, k, 1, &part) == ANADROME_OK;
    ring_.exchange(now_);
    for (std::size_t i = 0; i < kCells; ++i) {
      const double kept = i < kLayer ? 0 : before_[i];
      before_[i] = 2 * now_[i] - kept + 0.3 * pull(now_, i);
      if (i < kLayer) before_[i] *= 0.4;
    }
    std::swap_ranges(now_.begin(), now_.end(), before_.begin());  // the arrays stay where they are
  }
  void undo(std::int64_t k) override {
    ring_.exchange(before_);
    const anadrome_part part = strip();
    stored_ = stored_ && anadrome_store_get(strips_, k, 1, &part) == ANADROME_OK;
    for (std::size_t i = 0; i < kCells; ++i) {
      const double next = now_[i];
      now_[i] = before_[i];
      before_[i] = i < kLayer ? strip_[i] : 2 * now_[i] - next;
    }
    for (std::size_t i = kLayer; i < kCells; ++i) before_[i] += 0.3 * pull(now_, i);
  }
  bool stored() const override { return stored_; }

 private:
  static constexpr std::size_t kCells = 20'000, kLayer = 300;
  double pull(const std::vector<double>& of, std::size_t i) const {
    const auto here = static_cast<std::ptrdiff_t>(i);
    return ring_.at(of, here - 1) - 2 * of[i] + ring_.at(of, here + 1);
  }
  anadrome_part strip() { return {"strip", ANADROME_FLOAT64, strip_.size(), strip_.data()}; }

  std::vector<double> now_, before_, strip_;
  Ring<double> ring_;
  anadrome_store* strips_ = nullptr;
  bool stored_ = true;
};

/// Shallow water on a ring, by the classical Runge-Kutta method: undone by a step of -dt.
class ShallowWater final : public UndoneModel {
 public:
  explicit ShallowWater(std::size_t count) : height_(count), speed_(count) {
    has(height_, ANADROME_FLOAT64);
    has(speed_, ANADROME_FLOAT64);
  }
  void start() override {
    for (std::size_t i = 0; i < height_.size(); ++i) {
      height_[i] = 1 + 0.1 * std::sin(0.05 * double(i) + rank());
      speed_[i] = 0.01 * std::cos(0.03 * double(i));
    }
  }
  void step(std::int64_t) override { runge_kutta(0.02); }
  void undo(std::int64_t) override { runge_kutta(-0.02); }

 private:
  using Values = std::vector<double>;
  // Of both, into both.
  void slope(const Values& height, const Values& speed, Values& of_height, Values& of_speed) {
    rings_[0].exchange(height);
    rings_[1].exchange(speed);
    for (std::size_t i = 0; i < height.size(); ++i) {
      const auto here = static_cast<std::ptrdiff_t>(i);
      const double up = rings_[0].at(height, here + 1), down = rings_[0].at(height, here - 1);
      const double right = rings_[1].at(speed, here + 1), left = rings_[1].at(speed, here - 1);
      of_height[i] = -0.5 * (up * right - down * left);
      of_speed[i] = -0.5 * (speed[i] * (right - left) + up - down);
    }
  }
  void runge_kutta(double dt) {
    Values height = height_, speed = speed_, sum_height = height_, sum_speed = speed_;
    Values of_height(height.size()), of_speed(height.size());
    const double weights[] = {1. / 6, 1. / 3, 1. / 3, 1. / 6}, parts[] = {0.5, 0.5, 1, 0};
    for (int stage = 0; stage < 4; ++stage) {
      slope(height, speed, of_height, of_speed);
      for (std::size_t i = 0; i < height.size(); ++i) {
        sum_height[i] += dt * weights[stage] * of_height[i];
        sum_speed[i] += dt * weights[stage] * of_speed[i];
        height[i] = height_[i] + dt * parts[stage] * of_height[i];
        speed[i] = speed_[i] + dt * parts[stage] * of_speed[i];
      }
    }
    height_ = sum_height;
    speed_ = sum_speed;
  }

  Values height_, speed_;
  Ring<double> rings_[2] = {Ring<double>(1), Ring<double>(1)};
};

/// The heat equation by implicit Euler, on each rank's line: undone by one product.
class ImplicitHeat final : public UndoneModel {
 public:
  explicit ImplicitHeat(std::size_t count) : x_(count) { has(x_, ANADROME_FLOAT64); }
  void start() override {
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = std::sin(0.1 * double(i)) + 0.2 * rank();
  }
  void step(std::int64_t) override {
    std::vector<double> upper(x_.size());
    double pivot = kDiagonal;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (i > 0) {
        pivot = kDiagonal - kBeside * upper[i - 1];
        x_[i] -= kBeside * x_[i - 1];
      }
      upper[i] = kBeside / pivot;
      x_[i] /= pivot;
    }
    for (std::size_t i = x_.size(); i-- > 1;) x_[i - 1] -= upper[i - 1] * x_[i];
  }
  void undo(std::int64_t) override {
    const std::vector<double> x = x_;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x_[i] =
          kDiagonal * x[i] + kBeside * ((i > 0 ? x[i - 1] : 0) + (i + 1 < x.size() ? x[i + 1] : 0));
    }
  }

 private:
  static constexpr double kBeside = -0.4, kDiagonal = 1.8;
  std::vector<double> x_;
};

/// Burgers' equation on a ring: steps that nobody knows how to undo.
class Burgers final : public UndoneModel {
 public:
  explicit Burgers(std::size_t count) : x_(count), ring_(1) { has(x_, ANADROME_FLOAT64); }
  void start() override {
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = 1 + 0.5 * std::sin(0.02 * double(i) + rank());
  }
  void step(std::int64_t) override {
    ring_.exchange(x_);
    std::vector<double> next(x_.size());
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const auto here = static_cast<std::ptrdiff_t>(i);
      const double left = ring_.at(x_, here - 1), right = ring_.at(x_, here + 1);
      next[i] = x_[i] - 0.1 * x_[i] * (x_[i] - left) + 0.05 * (left - 2 * x_[i] + right);
    }
    x_ = next;
  }
  void undo(std::int64_t) override {}

 private:
  std::vector<double> x_;
  Ring<double> ring_;
};

/// Fields of every type, with numbers of all kinds, which nothing can be guessed of.
class Random final : public UndoneModel {
 public:
  explicit Random(std::size_t count)
      : reals_(count), singles_(count + 3), longs_(count / 2), ints_(count / 3), bytes_(count + 5) {
    has(bytes_, ANADROME_BYTE);
    has(reals_, ANADROME_FLOAT64);
    has(singles_, ANADROME_FLOAT32);
    has(longs_, ANADROME_INT64);
    has(ints_, ANADROME_INT32);
  }
  void start() override { fill(1 + static_cast<std::uint64_t>(rank())); }
  void step(std::int64_t k) override { fill(hash() + std::uint64_t(k + 2) * 0x9e3779b97f4a7c15); }
  void undo(std::int64_t k) override { step(k); }

 private:
  void fill(std::uint64_t seed) {
    for (double& value : reals_) value = special<double, std::uint64_t>(seed);
    for (float& value : singles_) value = special<float, std::uint32_t>(seed);
    for (std::int64_t& value : longs_) value = std::int64_t(next(seed));
    for (std::int32_t& value : ints_) value = std::int32_t(next(seed));
    for (char& value : bytes_) value = char(next(seed));
  }
  static std::uint64_t next(std::uint64_t& seed) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return seed ^ (seed >> 29);
  }
  template <class Number, class Bits>
  static Number special(std::uint64_t& seed) {
    const std::uint64_t bits = next(seed);
    const Number all[] = {0, Number(-0.), INFINITY, -INFINITY, NAN, Number(1e-40)};
    if (bits % 8 < 6) return all[bits % 8];
    const auto some = static_cast<Bits>(bits >> 3);
    Number number;
    std::memcpy(&number, &some, sizeof number);
    return number;
  }

  std::vector<double> reals_;
  std::vector<float> singles_;
  std::vector<std::int64_t> longs_;
  std::vector<std::int32_t> ints_;
  std::vector<char> bytes_;
};

}  // namespace anadrome::test
