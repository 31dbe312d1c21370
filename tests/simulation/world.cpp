// SPDX-License-Identifier: BSD-2-Clause
#include "world.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "real_threads.h"

namespace anadrome::simulation {
namespace {

World* the_world = nullptr;
thread_local Thread* the_thread = nullptr;
constexpr std::int64_t kMostTurns = 3'000'000;  // of a rank

}  // namespace

World* world() { return the_world; }
Thread* self() { return the_thread; }

World::World(std::uint64_t seed, int ranks, int ranks_per_node, const Costs& costs)
    : random_(seed),
      ranks_(ranks),
      ranks_per_node_(ranks_per_node),
      costs_(costs),
      switch_of_64_(std::uint64_t{1} << draw(7)) {
  sem_init(&over_, 0, 0);
  the_world = this;
}

World::~World() { the_world = nullptr; }

void World::run(const std::function<void(int)>& body) {
  struct Start {
    const std::function<void(int)>* body;
    Thread* thread;
  };
  std::vector<Start> starts(static_cast<std::size_t>(ranks_));
  std::vector<pthread_t> threads(starts.size());
  for (int rank = 0; rank < ranks_; ++rank) {
    Start& mine = starts[static_cast<std::size_t>(rank)];
    mine = {&body, start(rank, "solver")};
    const int failed = start_real_thread(
        &threads[static_cast<std::size_t>(rank)],
        [](void* arguments) -> void* {
          const Start& me = *static_cast<Start*>(arguments);
          world()->enter(me.thread);
          (*me.body)(me.thread->rank);
          world()->leave();
          return nullptr;
        },
        &mine);
    if (failed != 0) {
      std::fprintf(stderr, "simulation: no thread for rank %d: error %d\n", rank, failed);
      _exit(1);
    }
  }
  sem_post(&choose()->turn);
  sem_wait(&over_);
  for (const pthread_t thread : threads) join_real_thread(thread);
}

void World::kill_after(std::int64_t turns, std::function<void()> last) {
  kill_at_ = turns_ + turns;
  last_ = std::move(last);
}

Thread* World::start(int rank, std::string name) {
  threads_.push_back(std::make_unique<Thread>());
  Thread* thread = threads_.back().get();
  thread->rank = rank;
  thread->name = std::move(name);
  sem_init(&thread->turn, 0, 0);
  ready_.push_back(thread);
  ++unfinished_;
  return thread;
}

void World::enter(Thread* thread) {
  the_thread = thread;
  while (sem_wait(&thread->turn) != 0) {
  }
}

void World::leave() {
  Thread* mine = self();
  mine->finished = true;
  wake_all(mine);
  the_thread = nullptr;
  if (--unfinished_ == 0) {
    sem_post(&over_);
    return;
  }
  Thread* chosen = choose();
  sem_post(&chosen->turn);
}

double World::about(double seconds) {
  if (costs_.spread == 0) return seconds;
  const double part = static_cast<double>(random_() >> 11) * 0x1p-53;
  return seconds * (1 + costs_.spread * (2 * part - 1));
}

// Whoever may have the next turn: one that is ready, or else the first of those that sleep.
Thread* World::choose() {
  if (++turns_ == kill_at_) {
    last_();
    _exit(kKilled);
  }
  if (turns_ > kMostTurns * ranks_) end(kEndless, "more turns than any run takes");
  if (ready_.empty()) {
    if (asleep_.empty()) end(kHang, "nobody can go on");
    const auto first = asleep_.begin();
    Thread* thread = first->second;
    if (spending_ == 0) idle_ += std::max(first->first - now_, 0.0);
    now_ = std::max(now_, first->first);
    asleep_.erase(first);
    if (thread->waits_for != nullptr) {
      std::erase(waiting_[thread->waits_for], thread);
      thread->waits_for = nullptr;
      thread->timed_out = true;
    } else {
      --spending_;
    }
    ready_.push_back(thread);
  }
  const std::size_t place = draw(ready_.size());
  Thread* thread = std::exchange(ready_[place], ready_.back());
  ready_.pop_back();
  const auto time = static_cast<std::uint64_t>(now_ * 1e9);
  trace_ = (trace_ ^ time ^ static_cast<std::uint64_t>(thread->rank)) * 0x9e3779b97f4a7c15U;
  trace_ ^= trace_ >> 29;
  return thread;
}

void World::next(bool goes_on) {
  Thread* mine = self();
  if (goes_on) ready_.push_back(mine);
  Thread* chosen = choose();
  if (chosen == mine) return;
  sem_post(&chosen->turn);
  while (sem_wait(&mine->turn) != 0) {
  }
}

void World::pause() {
  if (self() == nullptr || draw(64) >= switch_of_64_) return;
  self()->where = "a pause";
  next(true);
}

void World::spend(double seconds, const char* where) {
  if (self() == nullptr) return;
  if (seconds <= 0) return pause();
  self()->where = where;
  asleep_.emplace(now_ + seconds, self());
  ++spending_;
  next(false);
}

void World::queue(double seconds, const char* where) {
  if (seconds <= 0) return pause();
  server_free_ = std::max(server_free_, now_) + about(seconds);
  spend(server_free_ - now_, where);
}

bool World::wait_for(const void* what, const char* where, double seconds) {
  Thread* mine = self();
  mine->where = where;
  mine->waits_for = what;
  mine->timed_out = false;
  mine->may_time_out = seconds >= 0;
  if (mine->may_time_out) {
    mine->until = now_ + std::min(seconds, 1e9);
    asleep_.emplace(mine->until, mine);
  }
  waiting_[what].push_back(mine);
  next(false);
  return !mine->timed_out;
}

void World::wake_one(const void* what) {
  const auto found = waiting_.find(what);
  if (found == waiting_.end() || found->second.empty()) return;
  std::vector<Thread*>& all = found->second;
  const std::size_t place = draw(all.size());
  Thread* thread = std::exchange(all[place], all.back());
  all.pop_back();
  if (all.empty()) waiting_.erase(found);
  thread->waits_for = nullptr;
  if (thread->may_time_out) {
    auto [at, end] = asleep_.equal_range(thread->until);
    while (at != end && at->second != thread) ++at;
    if (at != end) asleep_.erase(at);
    thread->may_time_out = false;
  }
  ready_.push_back(thread);
}

void World::wake_all(const void* what) {
  while (waiting_.contains(what)) wake_one(what);
}

std::string World::everybody() const {
  std::string text;
  int told = 0;
  for (const auto& thread : threads_) {
    if (thread->finished) continue;
    if (++told > 24) return text + "  ...\n";
    text += "  rank " + std::to_string(thread->rank) + " " + thread->name + ": in " +
            thread->where + "\n";
  }
  return text;
}

void World::end(Ending ending, const std::string& why) {
  std::fprintf(stderr, "simulation: %s\n%s", why.c_str(), everybody().c_str());
  std::fflush(stderr);
  _exit(ending);
}

}  // namespace anadrome::simulation
