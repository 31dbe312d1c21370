// SPDX-License-Identifier: BSD-2-Clause
// One file, since there is one machine: every call is under its mutex, and looks at the same
// queues, blocks and contexts.
#include "core.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "fake_device.h"

namespace fake_device {
namespace {

constexpr std::size_t kArena = std::size_t{1} << 32, kAlignment = 256, kPage = 4096;
constexpr int kPoison = 0xA5;

struct Context {
  bool alive = true;
  int error = 0;  // sticky
};

/// One recording of an event.
struct Instance {
  bool come = false;
  double time = 0;
  struct Stream* stream = nullptr;
};

struct Event {
  Context* context;
  std::shared_ptr<Instance> newest;
};

struct Operation {
  enum class Kind { kKernel, kCopy, kRecord, kWait } kind;
  std::function<void()> body = {};
  std::shared_ptr<Instance> instance = {};
  bool hangs = false;
  bool needed = false;
};

struct Stream {
  Context* context;
  std::deque<Operation> queue = {};
};

struct Block {
  std::size_t bytes;
  Context* context;
};

struct Machine {
  std::recursive_mutex mutex;
  std::byte *user = nullptr, *alias = nullptr;
  std::map<std::size_t, Block> blocks;  // by offset
  std::map<const std::byte*, Block> pinned;
  std::set<Context*> contexts;
  Context* first = nullptr;
  std::set<Stream*> streams;
  std::map<Context*, Stream> default_streams;
  std::set<Event*> events;
  std::mt19937_64 random{1};
  std::int64_t fail_after = -1, hang_after = -1;
  std::size_t limit = kArena;
  double clock = 0;
  Counts counts;
  std::thread::id waiting_thread;

  Machine() {
    const int file = ::memfd_create("fake_device", 0);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(kArena)) != 0) std::abort();
    void* const mine =
        ::mmap(nullptr, kArena, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    void* const theirs = ::mmap(nullptr, kArena, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (mine == MAP_FAILED || theirs == MAP_FAILED) std::abort();
    ::close(file);
    alias = static_cast<std::byte*>(mine);
    user = static_cast<std::byte*>(theirs);
  }
};

Machine& machine() {
  static auto* const only = new Machine;  // outlives whoever uses it at exit
  return *only;
}

thread_local std::vector<Context*> stack;
thread_local const void* asked_in_vain = nullptr;

using Lock = std::lock_guard<std::recursive_mutex>;

bool is_device(const void* pointer) {
  const auto* const byte = static_cast<const std::byte*>(pointer);
  return byte >= machine().user && byte < machine().user + kArena;
}

std::map<std::size_t, Block>::iterator block_of(const void* pointer) {
  auto& blocks = machine().blocks;
  if (!is_device(pointer)) return blocks.end();
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - machine().user);
  auto after = blocks.upper_bound(offset);
  if (after == blocks.begin()) return blocks.end();
  --after;
  return offset < after->first + after->second.bytes ? after : blocks.end();
}

bool is_whole(const void* pointer, std::size_t bytes) {
  const auto block = block_of(pointer);
  if (block == machine().blocks.end()) return false;
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - machine().user);
  return offset + bytes <= block->first + block->second.bytes;
}

bool is_pinned(const void* pointer, std::size_t bytes) {
  const auto* const byte = static_cast<const std::byte*>(pointer);
  auto after = machine().pinned.upper_bound(byte);
  if (after == machine().pinned.begin()) return false;
  --after;
  return byte + bytes <= after->first + after->second.bytes;
}

Context* here() { return stack.empty() ? nullptr : stack.back(); }

// What is wrong with a call about something of `context`.
int fault(const Context* context) {
  if (here() == nullptr || here() != context) return core::kInvalidContext;
  if (!context->alive) return core::kDestroyed;
  return context->error;
}

Stream* stream_of(void* stream) {
  constexpr std::size_t kDefault = 1;
  if (stream == nullptr || reinterpret_cast<std::size_t>(stream) == kDefault) {
    Context* const context = here();
    if (context == nullptr) return nullptr;
    auto [entry, made] = machine().default_streams.try_emplace(context, Stream{context});
    if (made) machine().streams.insert(&entry->second);
    return &entry->second;
  }
  auto* const known = static_cast<Stream*>(stream);
  return machine().streams.count(known) > 0 ? known : nullptr;
}

bool can_run(const Stream& stream) {
  if (stream.queue.empty() || stream.context->error != 0 || !stream.context->alive) return false;
  const Operation& head = stream.queue.front();
  if (head.hangs) return false;
  return head.kind != Operation::Kind::kWait || head.instance->come;
}

void run_head(Stream& stream) {
  Operation head = std::move(stream.queue.front());
  stream.queue.pop_front();
  machine().clock += 1e-3;
  if (head.body) head.body();
  if (head.kind == Operation::Kind::kRecord) {
    head.instance->come = true;
    head.instance->time = machine().clock;
  }
}

void need(Stream& stream, const Instance* until) {
  for (Operation& operation : stream.queue) {
    if (!operation.needed) {
      operation.needed = true;
      if (operation.kind == Operation::Kind::kWait && !operation.instance->come)
        need(*operation.instance->stream, operation.instance.get());
    }
    if (operation.kind == Operation::Kind::kRecord && operation.instance.get() == until) return;
  }
}

void need_nothing() {
  for (Stream* stream : machine().streams)
    for (Operation& operation : stream->queue) operation.needed = false;
}

std::uint64_t draw(std::uint64_t below) { return machine().random() % below; }

// Runs what `target` needs, and, as drawn, all else that may come before it.
void pull(const std::shared_ptr<Instance>& target) {
  enum Order { kOthersFirst, kNeededOnly, kMixed };
  const auto order = static_cast<Order>(draw(3));
  need_nothing();
  need(*target->stream, target.get());
  while (!target->come && target->stream->context->error == 0) {
    std::vector<Stream*> needed, others;
    for (Stream* stream : machine().streams) {
      if (can_run(*stream)) (stream->queue.front().needed ? needed : others).push_back(stream);
    }
    const bool other =
        !others.empty() && (order == kOthersFirst || (order == kMixed && draw(2) == 0));
    std::vector<Stream*>& from =
        other || (needed.empty() && order != kNeededOnly) ? others : needed;
    if (from.empty()) return;
    run_head(*from[draw(from.size())]);
  }
}

std::shared_ptr<Instance> record_on(Stream& stream) {
  auto instance = std::make_shared<Instance>();
  instance->stream = &stream;
  stream.queue.push_back({Operation::Kind::kRecord, {}, instance});
  return instance;
}

[[noreturn]] void refuse(const char* what, int code) {
  std::fprintf(stderr, "fake_device: %s (%d)\n", what, code);
  std::abort();
}

void expect(int code, const char* what) {
  if (code != 0) refuse(what, code);
}

}  // namespace

// ---- for programs ----

void* make_context() {
  const Lock lock(machine().mutex);
  auto* const context = new Context;
  machine().contexts.insert(context);
  if (machine().first == nullptr) machine().first = context;
  stack.push_back(context);
  return context;
}

void destroy_context(void* context) {
  const Lock lock(machine().mutex);
  auto* const known = static_cast<Context*>(context);
  known->alive = false;  // handles of it are known to be stale
  std::erase(stack, known);
  std::erase_if(machine().pinned, [known](const auto& pinned) {
    if (pinned.second.context == known) machine().counts.pinned_bytes -= pinned.second.bytes;
    return pinned.second.context == known;
  });
}

void enter(void* context) { expect(core::push(context), "enter"); }
void leave() {
  void* context = nullptr;
  expect(core::pop(&context), "leave");
}

void* make_stream() {
  void* stream = nullptr;
  expect(core::make_stream(&stream), "make_stream");
  return stream;
}
void destroy_stream(void* stream) { expect(core::destroy_stream(stream), "destroy_stream"); }
void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  expect(core::allocate(&memory, bytes), "allocate");
  return memory;
}
void release(void* memory) { expect(core::release(memory), "release"); }

void launch(void* stream, std::function<void()> kernel) {
  const Lock lock(machine().mutex);
  asked_in_vain = nullptr;
  Stream* const on = stream_of(stream);
  if (on == nullptr) refuse("launch on no stream", 0);
  if (fault(on->context) != 0) return;  // as a launch whose result nobody looks at
  on->queue.push_back({Operation::Kind::kKernel, std::move(kernel)});
}

void* alias_of(const void* pointer) {
  if (!is_device(pointer)) refuse("a kernel uses memory of the host", 0);
  return machine().alias + (static_cast<const std::byte*>(pointer) - machine().user);
}

void synchronize(void* stream) {
  const Lock lock(machine().mutex);
  Stream* const on = stream_of(stream);
  if (on == nullptr) refuse("synchronize on no stream", 0);
  pull(record_on(*on));
}

void write(void* to, const void* from, std::size_t bytes) {
  std::memcpy(alias_of(to), from, bytes);
}
void read(void* to, const void* from, std::size_t bytes) { std::memcpy(to, alias_of(from), bytes); }

void seed(std::uint64_t seed) {
  const Lock lock(machine().mutex);
  machine().random.seed(seed);
}
void fail_copy_after(std::int64_t copies) {
  const Lock lock(machine().mutex);
  machine().fail_after = copies;
}
void hang_copy_after(std::int64_t copies) {
  const Lock lock(machine().mutex);
  machine().hang_after = copies;
  if (copies >= 0) return;
  for (Stream* stream : machine().streams)
    for (Operation& operation : stream->queue) operation.hangs = false;
}
void limit_memory(std::size_t bytes) {
  const Lock lock(machine().mutex);
  machine().limit = bytes;
}

Counts counts() {
  const Lock lock(machine().mutex);
  Counts counts = machine().counts;
  counts.streams =
      static_cast<std::int64_t>(machine().streams.size() - machine().default_streams.size());
  counts.events = static_cast<std::int64_t>(machine().events.size());
  return counts;
}

void reset_counts() {
  const Lock lock(machine().mutex);
  Counts& counts = machine().counts;
  const std::size_t bytes = counts.bytes, pinned = counts.pinned_bytes;
  const std::int64_t entered = counts.contexts_entered;
  counts = {};
  counts.bytes = counts.peak_bytes = bytes;
  counts.pinned_bytes = counts.peak_pinned_bytes = pinned;
  counts.contexts_entered = entered;
  machine().waiting_thread = std::this_thread::get_id();
}

// ---- both interfaces ----

namespace core {

int current(void** context) {
  *context = here();
  return 0;
}

void* first_context() {
  const Lock lock(machine().mutex);
  return machine().first;
}

int push(void* context) {
  const Lock lock(machine().mutex);
  auto* const known = static_cast<Context*>(context);
  if (machine().contexts.count(known) == 0) return kInvalidContext;
  if (!known->alive) return kDestroyed;
  stack.push_back(known);
  ++machine().counts.contexts_entered;
  return 0;
}

int pop(void** context) {
  const Lock lock(machine().mutex);
  if (stack.empty()) return kInvalidContext;
  *context = stack.back();
  stack.pop_back();
  --machine().counts.contexts_entered;
  return 0;
}

int context_of(const void* pointer, void** context) {
  const Lock lock(machine().mutex);
  const auto block = block_of(pointer);
  if (block == machine().blocks.end()) return kInvalidValue;
  *context = block->second.context;
  return 0;
}

int make_stream(void** stream) {
  const Lock lock(machine().mutex);
  if (const int code = fault(here())) return code;
  auto* const made = new Stream{here()};
  machine().streams.insert(made);
  *stream = made;
  return 0;
}

int destroy_stream(void* stream) {
  const Lock lock(machine().mutex);
  auto* const known = static_cast<Stream*>(stream);
  if (machine().streams.count(known) == 0) return kInvalidHandle;
  if (const int code = fault(known->context); code != 0 && code != kFailed) return code;
  if (!known->queue.empty()) pull(record_on(*known));
  // Its memory stays: instances point to it.
  machine().streams.erase(known);
  return 0;
}

int make_event(void** event) {
  const Lock lock(machine().mutex);
  if (const int code = fault(here())) return code;
  auto* const made = new Event{here(), nullptr};
  machine().events.insert(made);
  *event = made;
  return 0;
}

int destroy_event(void* event) {
  const Lock lock(machine().mutex);
  auto* const known = static_cast<Event*>(event);
  if (machine().events.count(known) == 0) return kInvalidHandle;
  if (const int code = fault(known->context); code != 0 && code != kFailed) return code;
  machine().events.erase(known);
  delete known;
  return 0;
}

int record(void* event, void* stream) {
  const Lock lock(machine().mutex);
  auto* const known = static_cast<Event*>(event);
  Stream* const on = stream_of(stream);
  if (machine().events.count(known) == 0 || on == nullptr) return kInvalidHandle;
  if (known->context != on->context) return kInvalidHandle;
  if (const int code = fault(known->context)) return code;
  known->newest = record_on(*on);
  return 0;
}

int query(void* event) {
  const Lock lock(machine().mutex);
  auto* const known = static_cast<Event*>(event);
  if (machine().events.count(known) == 0) return kInvalidHandle;
  if (const int code = fault(known->context)) return code;
  ++machine().counts.queries;
  if (known->newest == nullptr || known->newest->come) return 0;
  // Who asks twice for the same event, and does nothing else in between, waits for it.
  const bool waits = std::exchange(asked_in_vain, event) == event;
  if (waits && std::this_thread::get_id() == machine().waiting_thread)
    ++machine().counts.host_waits;
  if (draw(4) != 0 && (!waits || draw(2) == 0)) return kNotReady;
  pull(known->newest);
  if (known->context->error != 0) return known->context->error;
  return known->newest->come ? 0 : kNotReady;
}

int follow(void* stream, void* event) {
  const Lock lock(machine().mutex);
  auto* const known = static_cast<Event*>(event);
  Stream* const on = stream_of(stream);
  if (machine().events.count(known) == 0 || on == nullptr) return kInvalidHandle;
  if (const int code = fault(known->context)) return code;
  if (known->newest != nullptr) on->queue.push_back({Operation::Kind::kWait, {}, known->newest});
  return 0;
}

int elapsed(float* milliseconds, void* begin, void* end) {
  const Lock lock(machine().mutex);
  const auto* const from = static_cast<Event*>(begin);
  const auto* const to = static_cast<Event*>(end);
  if (!from->newest || !to->newest || !from->newest->come || !to->newest->come) return kNotReady;
  *milliseconds = static_cast<float>((to->newest->time - from->newest->time) * 1e3);
  return 0;
}

int copy(void* to, const void* from, std::size_t bytes, void* stream) {
  const Lock lock(machine().mutex);
  asked_in_vain = nullptr;
  Machine& all = machine();
  Stream* const on = stream_of(stream);
  if (on == nullptr) return kInvalidHandle;
  if (const int code = fault(on->context)) return code;
  for (const void* end : {static_cast<const void*>(to), from}) {
    if (is_device(end) && !is_whole(end, bytes)) return kInvalidValue;
    if (!is_device(end) && !is_pinned(end, bytes)) ++all.counts.unpinned_copies;
  }
  ++all.counts.copies;
  Operation operation{Operation::Kind::kCopy};
  Context* const context = on->context;
  if (all.fail_after >= 0 && all.fail_after-- == 0) {
    operation.body = [context] { context->error = kFailed; };
  } else {
    const bool pinned =
        (is_device(to) || is_pinned(to, bytes)) && (is_device(from) || is_pinned(from, bytes));
    operation.body = [to, from, bytes, pinned] {
      for (const void* end : {static_cast<const void*>(to), from}) {
        if (is_device(end) ? is_whole(end, bytes) : !pinned || is_pinned(end, bytes)) continue;
        ++machine().counts.copies_into_nothing;
        return;
      }
      std::memcpy(is_device(to) ? alias_of(to) : to, is_device(from) ? alias_of(from) : from,
                  bytes);
    };
  }
  if (all.hang_after >= 0 && all.hang_after-- == 0) operation.hangs = true;
  on->queue.push_back(std::move(operation));
  return 0;
}

int pin(void* memory, std::size_t bytes) {
  const Lock lock(machine().mutex);
  if (const int code = fault(here())) return code;
  auto* const begin = static_cast<std::byte*>(memory);
  if (reinterpret_cast<std::size_t>(memory) % kPage != 0 || bytes % kPage != 0 || bytes == 0)
    return kInvalidValue;
  for (const auto& [other, block] : machine().pinned) {
    if (begin < other + block.bytes && other < begin + bytes) return kAlreadyPinned;
  }
  machine().pinned[begin] = {bytes, here()};
  Counts& counts = machine().counts;
  counts.pinned_bytes += bytes;
  counts.peak_pinned_bytes = std::max(counts.peak_pinned_bytes, counts.pinned_bytes);
  return 0;
}

int unpin(void* memory) {
  const Lock lock(machine().mutex);
  const auto found = machine().pinned.find(static_cast<std::byte*>(memory));
  if (found == machine().pinned.end()) return kNotPinned;
  machine().counts.pinned_bytes -= found->second.bytes;
  machine().pinned.erase(found);
  return 0;
}

int allocate(void** memory, std::size_t bytes) {
  const Lock lock(machine().mutex);
  if (const int code = fault(here())) return code;
  const std::size_t room = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  Counts& counts = machine().counts;
  if (bytes == 0) return kInvalidValue;
  if (counts.bytes + bytes > machine().limit) return kOutOfMemory;
  std::size_t offset = kAlignment;
  for (const auto& [begin, block] : machine().blocks) {
    if (offset + room <= begin) break;
    offset = (begin + block.bytes + kAlignment - 1) / kAlignment * kAlignment + kAlignment;
  }
  if (offset + room > kArena) return kOutOfMemory;
  machine().blocks[offset] = {bytes, here()};
  std::memset(machine().alias + offset, kPoison, bytes);
  counts.bytes += bytes;
  counts.peak_bytes = std::max(counts.peak_bytes, counts.bytes);
  *memory = machine().user + offset;
  return 0;
}

// As the drivers do, it waits for all that is queued.
int release(void* memory) {
  const Lock lock(machine().mutex);
  const auto block = block_of(memory);
  if (block == machine().blocks.end()) return kInvalidValue;
  if (const int code = fault(block->second.context); code != 0 && code != kFailed) return code;
  const std::set<Stream*> streams = machine().streams;
  for (Stream* stream : streams) {
    if (stream->context == block->second.context && !stream->queue.empty())
      pull(record_on(*stream));
  }
  std::memset(machine().alias + block->first, kPoison, block->second.bytes);
  machine().counts.bytes -= block->second.bytes;
  machine().blocks.erase(block);
  return 0;
}

}  // namespace core
}  // namespace fake_device
