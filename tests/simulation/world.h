// SPDX-License-Identifier: BSD-2-Clause
// A whole job in one process: ranks, and the threads that they start, are threads of which one runs
// at a time. A seed says who goes on, and time is a number that moves when nobody can. threads.cpp
// puts this in the place of mutexes, condition variables, clocks and sleeps, mpi.cpp in that of
// MPI: the library is linked as it is.
//
// The same seed gives the same run. Nobody can go on: that is a deadlock, and is told from a slow
// run at once.
#pragma once

#include <semaphore.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace anadrome::simulation {

/// Seconds that things take; simulation_scale has those of a large machine, a search draws its own.
struct Costs {
  double latency = 0;        ///< of a message; a collective call takes that times log2 of its ranks
  double per_byte = 0;       ///< of a message
  double metadata = 0;       ///< open, make, remove, sync: one at a time for all ranks
  double transfer = 0;       ///< a read or a write, and
  double per_file_byte = 0;  ///< each of its bytes
  double step = 0;           ///< a step of the model
  double spread = 0;         ///< 0: each takes that; 1: from nothing to twice that
};

/// A rank, or a thread that one of them started.
struct Thread {
  int rank = 0;
  std::string name;        ///< of the thread in its rank
  const char* where = "";  ///< what it waits in, for messages
  const void* waits_for = nullptr;
  double until = 0;  ///< it sleeps, or waits no longer
  bool may_time_out = false, timed_out = false, finished = false;
  double computed = 0;  ///< its processor time
  sem_t turn;
};

/// How a process that simulates ends.
enum Ending : int {
  kEnded = 0,
  kHang = 40,      ///< nobody can go on
  kEndless = 41,   ///< more turns than any run takes
  kKilled = 42,    ///< as it was asked to be
  kMismatch = 43,  ///< ranks are in different calls of MPI
  kAborted = 44,   ///< MPI_Abort
  kLeft = 45,      ///< a lock is held, or a message was never received
  kIdle = 46       ///< all waited for a time to pass, and nobody for anything
};

class World {
 public:
  World(std::uint64_t seed, int ranks, int ranks_per_node, const Costs& costs);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Each rank in body(rank), to the end of all threads. One call for each World.
  void run(const std::function<void(int)>& body);
  /// The process ends with kKilled after so many more turns, once `last` was called.
  void kill_after(std::int64_t turns, std::function<void()> last);

  int ranks() const { return ranks_; }
  int node_of(int rank) const { return rank / ranks_per_node_; }
  double now() const { return now_; }
  std::int64_t turns() const { return turns_; }
  std::uint64_t trace() const { return trace_; }  ///< a sum over every turn and its time
  double idle() const { return idle_; }           ///< seconds in which nobody did anything
  const Costs& costs() const { return costs_; }
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  // Of the thread that runs.
  void pause();                                   ///< somebody else may go on
  void spend(double seconds, const char* where);  ///< of computing or of waiting for a device
  void spend_about(double seconds, const char* where) { spend(about(seconds), where); }
  /// In turn with all other ranks: a server that does one thing at a time.
  void queue(double seconds, const char* where);
  /// Until `what` is woken, or (not negative) so much time went by: then false.
  bool wait_for(const void* what, const char* where, double seconds = -1);
  void wake_one(const void* what);
  void wake_all(const void* what);

  Thread* start(int rank, std::string name);  ///< it exists, and waits for its first turn
  void enter(Thread* thread);                 ///< on the new thread: waits for that turn
  void leave();                               ///< on it, at its end
  [[noreturn]] void end(Ending ending, const std::string& why);

 private:
  void next(bool goes_on);
  Thread* choose();
  double about(double seconds);
  std::string everybody() const;

  std::mt19937_64 random_;
  const int ranks_, ranks_per_node_;
  const Costs costs_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> ready_;             ///< can go on, beside the one that runs
  std::multimap<double, Thread*> asleep_;  ///< by the time of their next turn
  std::unordered_map<const void*, std::vector<Thread*>> waiting_;
  std::uint64_t switch_of_64_;  ///< a pause is a turn of somebody else's so often
  double now_ = 1, server_free_ = 0, idle_ = 0;
  std::int64_t turns_ = 0, kill_at_ = -1;
  std::uint64_t trace_ = 0;
  std::function<void()> last_;
  int unfinished_ = 0, spending_ = 0;
  sem_t over_;
};

/// The one of this process; nullptr: nothing is simulated.
World* world();
/// The thread that runs; nullptr: it is none of the world's.
Thread* self();
/// Are no mutexes held, and no messages under way? Otherwise says which.
std::string left_in_threads();
std::string left_in_mpi();

}  // namespace anadrome::simulation
