// SPDX-License-Identifier: BSD-2-Clause
// anadrome::Store: the object store of store.h for C++. Everything is inline and forwards to it;
// the conventions of anadrome.hpp hold.
#ifndef ANADROME_STORE_HPP
#define ANADROME_STORE_HPP

#include <anadrome/store.h>
#include <anadrome/anadrome.hpp>

#include <initializer_list>

namespace anadrome {
inline namespace client {

/** One part of an object: its name, and the caller's array of it, which must live as long as this.
 * Store::put reads it. */
class ConstPart {
 public:
  /** `count` elements at `values`. */
  template <class T>
  ConstPart(std::string name, const T* values, std::size_t count)
      : name_(std::move(name)), type_(detail::Element<T>::type), values_(values), count_(count) {}
  /** What a container (a vector, an array, a span) holds. */
  template <class Container>
  ConstPart(std::string name, const Container& values)
      : ConstPart(std::move(name), values.data(), values.size()) {}

  /** As C has it; valid as long as this part. */
  anadrome_part c() const {
    anadrome_part part = anadrome_part();
    part.name = name_.c_str();
    part.type = type_;
    part.count = count_;
    part.values = const_cast<void*>(values_);  // of a Part, or not written to
    return part;
  }

 private:
  std::string name_;
  anadrome_type type_;
  const void* values_;
  std::size_t count_;
};

/** The same of an array that is not const: Store::get writes to it. */
class Part : public ConstPart {
 public:
  /** `count` elements at `values`. */
  template <class T, class = typename std::enable_if<!std::is_const<T>::value>::type>
  Part(std::string name, T* values, std::size_t count)
      : ConstPart(std::move(name), values, count) {}
  /** What a container (a vector, an array, a span) holds. */
  template <
      class Container,
      class T = typename std::remove_pointer<decltype(std::declval<Container&>().data())>::type,
      class = typename std::enable_if<!std::is_const<T>::value>::type>
  Part(std::string name, Container&& values)
      : Part(std::move(name), values.data(), values.size()) {}
};

/** Bytes of a part that lie side by side in the store, released at the end of its life. Must not
 * outlive the Store. */
class View {
 public:
  /** Nothing. */
  View() noexcept : store_(nullptr), data_(nullptr), size_(0) {}
  ~View() {
    if (data_ != nullptr) anadrome_store_release(store_, data_);
  }
  /** Take over the other's bytes. */
  View(View&& other) noexcept : View() { swap(other); }
  /** Release these bytes and take over the other's. */
  View& operator=(View&& other) noexcept {
    View taken(std::move(other));
    swap(taken);
    return *this;
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  /** The first byte; null at the end of the part. */
  const void* data() const noexcept { return data_; }
  /** How many bytes; 0 at the end of the part. */
  std::size_t size() const noexcept { return size_; }

 private:
  friend class Store;
  void swap(View& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  anadrome_store* store_;
  const void* data_;
  std::size_t size_;
};

/** Objects by key, within a memory and on disk beyond it. Every member forwards to the function of
 * that name in store.h. Only the constructor and close are collective. */
class Store {
 public:
  /** Open a store on the ranks of `comm`; `options` is "key=value key=value". Collective. @throws
   * Error */
  explicit Store(MPI_Comm comm, const std::string& options = "") : store_(nullptr) {
    detail::check(anadrome_store_open(comm, options.c_str(), &store_));
  }
  /** Close it, if that was not done, and say nothing about failures. Collective. */
  ~Store() { anadrome_store_close(&store_); }
  /** Take over the other's store, which is left without one. */
  Store(Store&& other) noexcept : store_(other.store_) { other.store_ = nullptr; }
  /** Close this store and take over the other's. Collective. */
  Store& operator=(Store&& other) noexcept {
    Store taken(std::move(other));
    std::swap(store_, taken.store_);
    return *this;
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /** Close the store; nothing to do if it is closed or was moved from. Collective. @throws Error */
  void close() { detail::check(anadrome_store_close(&store_)); }

  /** The parts become the object `key`: put(7, {{"u", u}, {"v", v}}). @throws Error */
  void put(std::int64_t key, std::initializer_list<ConstPart> parts) { put(key, in_c(parts)); }
  /** The same of any number of parts. @throws Error */
  void put(std::int64_t key, const std::vector<ConstPart>& parts) { put(key, in_c(parts)); }
  /** The same. @throws Error */
  void put(std::int64_t key, const std::vector<Part>& parts) { put(key, in_c(parts)); }
  /** Parts of the object `key` into the arrays. @throws Error */
  void get(std::int64_t key, std::initializer_list<Part> parts) const { get(key, in_c(parts)); }
  /** The same of any number of parts. @throws Error */
  void get(std::int64_t key, const std::vector<Part>& parts) const { get(key, in_c(parts)); }

  /** The bytes of a part from byte `offset` on, without a copy. @throws Error */
  View view(std::int64_t key, const std::string& part, std::size_t offset = 0) const {
    View made;
    detail::check(anadrome_store_view(store_, key, part.c_str(), offset, &made.data_, &made.size_));
    made.store_ = store_;
    return made;
  }

  /** Forget the object `key`. @throws Error */
  void drop(std::int64_t key) { detail::check(anadrome_store_drop(store_, key)); }
  /** The gets to come, in this order. @throws Error */
  void expect(const std::vector<std::int64_t>& keys) {
    detail::check(
        anadrome_store_expect(store_, static_cast<std::int64_t>(keys.size()), keys.data()));
  }
  /** Whether there is an object `key`. @throws Error */
  bool contains(std::int64_t key) const {
    int yes = 0;
    detail::check(anadrome_store_contains(store_, key, &yes));
    return yes != 0;
  }
  /** The keys of all objects, in rising order. @throws Error */
  std::vector<std::int64_t> keys() const {
    std::int64_t count = 0;
    detail::check(anadrome_store_keys(store_, 0, nullptr, &count));
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    detail::check(anadrome_store_keys(store_, count, all.data(), &count));
    return all;
  }
  /** Wait until all that was put is on disk. @throws Error */
  void sync() { detail::check(anadrome_store_sync(store_)); }
  /** Measured numbers of this rank. @throws Error */
  anadrome_store_stats statistics() const {
    anadrome_store_stats stats = anadrome_store_stats();
    stats.size = sizeof stats;
    detail::check(anadrome_store_statistics(store_, &stats));
    return stats;
  }
  /** The handle, for functions of store.h; null once it is closed. */
  anadrome_store* handle() const noexcept { return store_; }

 private:
  template <class Parts>
  static std::vector<anadrome_part> in_c(const Parts& parts) {
    std::vector<anadrome_part> all;
    for (const ConstPart& part : parts) all.push_back(part.c());
    return all;
  }
  void put(std::int64_t key, const std::vector<anadrome_part>& parts) {
    detail::check(anadrome_store_put(store_, key, static_cast<int>(parts.size()), parts.data()));
  }
  void get(std::int64_t key, const std::vector<anadrome_part>& parts) const {
    detail::check(anadrome_store_get(store_, key, static_cast<int>(parts.size()), parts.data()));
  }

  anadrome_store* store_;
};

}  // namespace client
}  // namespace anadrome

#endif
