// SPDX-License-Identifier: BSD-2-Clause
// One file, though long: all but the last two tests share one fixture, the directory of one run.
#include "store/directory/run_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>

#include "base/error.h"
#include "faulty_file_system.h"
#include "files_of_a_run.h"
#include "has_part.h"
#include "power_loss_file_system.h"
#include "store/directory/lock_record.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

using test::Fault;
using test::Operation;

class RunDirectoryTest : public testing::Test {
 protected:
  RunDirectory create(const std::string& run_id = "1") const {
    return RunDirectory::create(parent.path(), "run", run_id);
  }
  anadrome_status create_fails() const {
    return failure_from([&] { create("2"); }).status;
  }
  // A run's, or anybody's.
  void put(const std::string& file, const std::string& run_id = "1") const {
    if (kind_of(file) != FileKind::kNone) return put_file_of_run(path, file, run_id);
    std::ofstream(path + "/" + file) << "bytes";
  }
  bool has(const std::string& file) const { return std::filesystem::exists(path + "/" + file); }
  LockRecord lock() const { return read_lock(File::open(path + "/lock", O_RDONLY)); }
  void put_lock(const LockRecord& record) const {
    write_lock(File::open(path + "/lock", O_RDWR | O_CREAT), record);
  }
  // Of `body` where no such operation on files with this in their names goes well.
  static Failure failure_where(Operation operation, const std::string& names, Fault fault,
                               const std::function<void()>& body) {
    test::FaultyFileSystem disk;
    disk.only_in(names);
    disk.arm(operation, 1, fault, true);
    return failure_from(body);
  }

  const TemporaryDirectory parent;
  const std::string path = parent / "run";
};

TEST_F(RunDirectoryTest, IsRemovedWithItsFilesUnlessTheyAreKept) {
  for (const bool kept : {false, true}) {
    RunDirectory run = create();
    put("segment-00000.h5");
    std::ofstream(path + "/heartbeats-1") << "";
    kept ? run.keep() : run.remove();
    EXPECT_FALSE(run.owned());
    run.remove();
    EXPECT_EQ(has("segment-00000.h5"), kept);
    EXPECT_FALSE(has("heartbeats-1") || has("lock"));
    EXPECT_EQ(create_fails(), ANADROME_OK) << "the next run of that name takes their place";
    EXPECT_TRUE(parent.empty());
  }
}

// As while a file's storage server is away.
TEST_F(RunDirectoryTest, KeepsItsLockAndItsEndWhereAFileCannotBeRemoved) {
  RunDirectory run = create();
  put("segment-00000.h5");
  put("journal-000000");
  EXPECT_FALSE(RunDirectory::has_ended(path));
  run.note_end();
  EXPECT_TRUE(RunDirectory::has_ended(path));
  const Failure failure =
      failure_where(Operation::kUnlink, ".h5", Fault::kIoError, [&] { run.remove(); });
  EXPECT_EQ(failure.status, ANADROME_ERR_IO);
  EXPECT_TRUE(test::has_part(failure.message, "segment-00000.h5"));
  EXPECT_TRUE(has("lock") && has("segment-00000.h5"));
  EXPECT_FALSE(has("journal-000000") || run.owned());
  EXPECT_TRUE(RunDirectory::has_ended(path));
  RunDirectory next = create("next");
  EXPECT_FALSE(RunDirectory::has_ended(path));
  next.remove();
  EXPECT_FALSE(RunDirectory::has_ended(path)) << "nothing is there";
}

// A directory with files that are not listed while their storage server is away.
TEST_F(RunDirectoryTest, LeavesALockWhereTheDirectoryCannotBeRemoved) {
  RunDirectory run = create("1");
  const Failure failure =
      failure_where(Operation::kRemoveDirectory, "", Fault::kIoError, [&] { run.remove(); });
  EXPECT_EQ(failure.status, ANADROME_ERR_IO);
  EXPECT_FALSE(run.owned());
  ASSERT_TRUE(has("lock"));
  EXPECT_EQ(lock().run_id, "1");
  RunDirectory kept = create("2");
  EXPECT_TRUE(failure_where(Operation::kUnlink, "", Fault::kIoError, [&] { kept.keep(); }));
}

TEST_F(RunDirectoryTest, TakesTheRemainsOfADeadRunAway) {
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms::all);
  put("lock", "0");
  put("segment-00003-rank-000002.h5", "0");
  const RunDirectory run = create();
  EXPECT_FALSE(has("segment-00003-rank-000002.h5"));
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(RunDirectoryTest, GoesThroughNoSymbolicLink) {
  const std::string target = parent / "target";
  std::filesystem::create_directory(target);
  std::filesystem::create_directory_symlink(target, path);
  EXPECT_EQ(create_fails(), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(std::filesystem::is_empty(target));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  std::ofstream(target + "/file") << "mine";
  std::filesystem::create_symlink(target + "/file", path + "/lock");
  EXPECT_NE(create_fails(), ANADROME_OK);
  EXPECT_EQ(std::filesystem::file_size(target + "/file"), 4u);
}

TEST_F(RunDirectoryTest, NeedsItsParent) {
  const Failure failure =
      failure_from([&] { RunDirectory::create(parent / "missing", "run", "1"); });
  EXPECT_EQ(failure.status, ANADROME_ERR_IO);
  EXPECT_TRUE(test::has_part(failure.message, parent / "missing/run"));
  EXPECT_TRUE(test::has_part(failure.message, "set the option directory"));
}

TEST_F(RunDirectoryTest, LeavesARunThatItCannotTakeOverAsItWas) {
  std::filesystem::create_directory(path);
  put("journal-000000");
  put("segment-00000.h5");
  EXPECT_TRUE(failure_where(Operation::kWrite, "", Fault::kNoSpace, [&] {
    RunDirectory::create(parent.path(), "run", "2", Leftovers::kTakeOver);
  }));
  EXPECT_TRUE(has("journal-000000"));
  EXPECT_TRUE(has("segment-00000.h5"));
}

TEST_F(RunDirectoryTest, RemovesNoFileOfSomebodyElse) {
  RunDirectory run = create();
  for (const char* name : {"segment-00000.h5", "journal-000000", "result.nc"}) {
    put(name);
  }
  const Failure failure = failure_from([&] { run.remove(); });
  EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(failure.message, path + " stays: it holds 'result.nc', which is not a run's");
  EXPECT_TRUE(has("result.nc"));
  EXPECT_FALSE(has("segment-00000.h5") || has("journal-000000") || has("lock"));
}

TEST_F(RunDirectoryTest, BelongsToOneLiveRunWhichAloneFindsAndJoinsIt) {
  const auto found = [&](const std::string& run_id) {
    return RunDirectory::find(parent.path(), "run", run_id, 0);
  };
  EXPECT_EQ(found("1").message, "there is no " + path + "/lock");
  const RunDirectory run = create("1");
  put("segment-00000.h5");
  EXPECT_EQ(create_fails(), ANADROME_ERR_BUSY);
  EXPECT_TRUE(has("segment-00000.h5") && has("lock"));
  EXPECT_FALSE(found("1"));
  const Failure strangers = found("2");
  EXPECT_EQ(strangers.status, ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(test::has_part(strangers.message, "process " + std::to_string(::getpid())));
  EXPECT_FALSE(RunDirectory::create_or_join(parent.path(), "run", "1").owned());
  EXPECT_THROW(RunDirectory::create_or_join(parent.path(), "run", "2"), Error);
  EXPECT_TRUE(RunDirectory::create_or_join(parent.path(), "other", "1").owned());
}

// A client of a network file system, which still has the lock that was there before.
class LateFileSystem final : public test::ForwardingFileSystem {
 public:
  LateFileSystem(std::string old, int reads) : old_(std::move(old)), reads_(reads) {}
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    if (reads_ == 0) return ForwardingFileSystem::read(descriptor, bytes, count, offset);
    --reads_;
    return static_cast<ssize_t>(old_.copy(static_cast<char*>(bytes), count));
  }

 private:
  const std::string old_;
  int reads_;
};

TEST_F(RunDirectoryTest, IsLookedForUntilItShowsAndJoinedThoughItDidNot) {
  constexpr double kEnough = 1000;
  const RunDirectory run = create("1");
  {
    const LateFileSystem files("another\n", 12);
    EXPECT_FALSE(RunDirectory::find(parent.path(), "run", "1", kEnough));
  }
  const LateFileSystem files("another\n", 3);  // as often as a lock is read
  EXPECT_FALSE(RunDirectory::create_or_join(parent.path(), "run", "1").owned());
}

// A file system on which flock does nothing, or is not known; so often somebody looks at the lock.
class NoFlock final : public test::ForwardingFileSystem {
 public:
  explicit NoFlock(int answer, int looks = 0) : answer_(answer), looks_(looks) {}
  int lock(int) override { return looks_-- > 0 ? -EWOULDBLOCK : answer_; }

 private:
  int answer_, looks_;
};

class RunOfAnotherHost : public RunDirectoryTest {
 protected:
  // With a state, and a heartbeat of so long ago.
  void leave(std::int64_t seconds_ago) const {
    std::filesystem::create_directory(path);
    put("segment-00000.h5");
    LockRecord record = new_lock_record("0123");
    record.holder.host = "node017";
    record.holder.machine = "another";
    record.holder.pid = 4711;
    record.heartbeat -= seconds_ago;
    put_lock(record);
  }
};

TEST_F(RunOfAnotherHost, IsLiveWhileItsHeartbeatIsFresh) {
  for (const int answer : {0, -ENOSYS, -EOPNOTSUPP, -ENOLCK}) {
    const NoFlock files(answer);
    leave(5);
    const Failure refused = failure_from([&] { create(); });
    EXPECT_EQ(refused.status, ANADROME_ERR_BUSY);
    for (const char* part :
         {"process 4711", "node017", "since 20", "heartbeat", "wait_for_lock=3min"}) {
      EXPECT_TRUE(test::has_part(refused.message, part));
    }
    EXPECT_TRUE(has("segment-00000.h5"));
  }
}

TEST_F(RunOfAnotherHost, IsDeadWhenItsHeartbeatIsStale) {
  for (const int answer : {0, -ENOLCK}) {
    const NoFlock files(answer, 2);
    leave(500);
    const RunDirectory run = create();
    EXPECT_FALSE(has("segment-00000.h5"));
    EXPECT_EQ(lock().holder.pid, ::getpid());
  }
  leave(500);
  const RunDirectory run = RunDirectory::create(parent.path(), "run", "2", Leftovers::kTakeOver);
  EXPECT_TRUE(run.owned() && has("segment-00000.h5"));
}

TEST_F(RunOfAnotherHost, ThatHoldsTheFlockIsLiveHoweverOldItsHeartbeat) {
  leave(500);
  const File held = File::open(path + "/lock", O_RDWR);  // as a server remembers a dead client
  ASSERT_EQ(try_flock(held), Flock::kTaken);
  EXPECT_EQ(create_fails(), ANADROME_ERR_BUSY);
}

TEST_F(RunOfAnotherHost, LeavesItsSuccessorsFilesAloneAndHearsOfItsEnd) {
  const NoFlock files(0);
  for (const bool ended : {false, true}) {
    for (const bool removes : {true, false}) {
      RunDirectory first = create("1");
      leave(0);  // another host took it for dead, and could not see its flock
      put("segment-00001.h5");
      if (ended) {
        std::filesystem::remove(path + "/lock");
        leave(0);
        std::filesystem::remove_all(path);
      }
      const Failure failure = failure_from([&] { removes ? first.remove() : first.keep(); });
      EXPECT_EQ(failure.status, ANADROME_ERR_BUSY) << failure.message;
      EXPECT_FALSE(first.owned());
      EXPECT_EQ(has("segment-00001.h5") && has("lock"), !ended);
      std::filesystem::remove_all(path);
    }
  }
}

TEST_F(RunDirectoryTest, SaysThatSomebodyRemovedItOrPutAFileInThePlaceOfItsLock) {
  enum { kAllRemoved, kLockRemoved, kLockReplaced };
  for (const int what : {kAllRemoved, kLockRemoved, kLockReplaced}) {
    for (const bool removes : {true, false}) {
      RunDirectory run = create();
      put("segment-00000.h5");
      std::filesystem::remove_all(what == kAllRemoved ? path : path + "/lock");
      if (what == kLockReplaced) std::ofstream(path + "/lock") << "mine";
      const Failure failure = failure_from([&] { removes ? run.remove() : run.keep(); });
      EXPECT_EQ(failure.status, ANADROME_ERR_IO) << failure.message;
      EXPECT_TRUE(failure.message.starts_with(
          path + (what == kLockReplaced ? "/lock is not this run's" : "/lock is gone")))
          << failure.message;
      EXPECT_FALSE(run.owned());
      EXPECT_EQ(has("segment-00000.h5"), what != kAllRemoved);
      if (what != kLockReplaced) continue;
      EXPECT_EQ(std::filesystem::file_size(path + "/lock"), 4u);
      std::filesystem::remove_all(path);
    }
  }
}

// Whoever removes a file takes its last name; a server that is away only does not show it.
TEST_F(RunDirectoryTest, IsItsOwnThoughTheNameOfItsLockDoesNotShow) {
  RunDirectory run = create();
  put("segment-00000.h5");
  std::filesystem::rename(path + "/lock", path + "-lock");
  const Failure failure = failure_from([&] { run.remove(); });
  EXPECT_FALSE(failure) << failure.message;
  EXPECT_FALSE(has("segment-00000.h5"));
  std::filesystem::remove(path + "-lock");
}

// Between this process and one that holds a directory until it hears of the end.
struct Pipes {
  Pipes() { EXPECT_TRUE(::pipe(ends) == 0 && ::pipe(ready) == 0); }
  ~Pipes() {
    for (const int end : {ends[0], ready[0], ready[1]}) ::close(end);
    let_end();
  }
  Pipes(const Pipes&) = delete;
  bool say() const { return ::write(ready[1], "", 1) == 1; }
  bool hear() const {
    char byte = 0;
    return ::read(ready[0], &byte, 1) == 1;
  }
  bool wait_for_end() {
    char byte = 0;
    let_end();
    return ::read(ends[0], &byte, 1) == 0;
  }
  void let_end() {
    if (ends[1] >= 0) ::close(std::exchange(ends[1], -1));
  }
  int ends[2], ready[2];
};

TEST_F(RunDirectoryTest, IsNotHeldByAChildOfADeadProcess) {
  Pipes pipes;
  const pid_t holder = ::fork();
  if (holder == 0) {
    const RunDirectory* run = new RunDirectory(create("0"));
    if (run->owned() && ::fork() == 0) ::_exit(pipes.say() && pipes.wait_for_end() ? 0 : 1);
    ::_exit(pipes.hear() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(holder, &status, 0), holder);
  EXPECT_TRUE(has("lock"));
  EXPECT_EQ(create_fails(), ANADROME_OK);
}

// Who starts again at once finds the ranks of a job that was killed.
TEST_F(RunDirectoryTest, ShowsWhoElseHoldsItAsLongAsThatLives) {
  Pipes pipes;
  const pid_t other = ::fork();
  if (other == 0) {
    const RunDirectory run = create("0");
    ::_exit(pipes.say() && pipes.wait_for_end() ? 0 : 1);
  }
  EXPECT_TRUE(pipes.hear());
  const auto holder = RunDirectory::other_holder(parent.path(), "run");
  EXPECT_TRUE(holder && holder->holder.pid == other);
  EXPECT_EQ(create_fails(), ANADROME_ERR_BUSY);
  pipes.let_end();
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_FALSE(RunDirectory::other_holder(parent.path(), "run"));
  const RunDirectory mine = create();
  EXPECT_FALSE(RunDirectory::other_holder(parent.path(), "run")) << "nobody waits for himself";
}

TEST_F(RunDirectoryTest, DoesNotWaitForAPipe) {
  std::filesystem::create_directory(path);
  ASSERT_EQ(::mkfifo((path + "/lock").c_str(), 0600), 0);
  EXPECT_NE(create_fails(), ANADROME_OK);
  EXPECT_TRUE(RunDirectory::find(parent.path(), "run", "1", 0));
  EXPECT_FALSE(RunDirectory::has_ended(path));
  EXPECT_FALSE(RunDirectory::other_holder(parent.path(), "run"));
  EXPECT_TRUE(failure_from([&] { RunDirectory::create_or_join(parent.path(), "run", "1"); }));
}

// What is there under the names of a run is the user's, unless something says that it is not.
TEST_F(RunDirectoryTest, LeavesADirectoryWithFilesOfItsUserAlone) {
  for (const char* name : {"states.h5", "segment-00000.h5", "segment-left.h5", "lock",
                           "journal-000000", "adjoint-000003", "adjoint-000000", "heartbeats-abc",
                           "objects-rank-000000.h5", "segment-00000.h5.new", "thesis.tex"}) {
    for (const bool beside_a_dead_run : {false, true}) {
      std::filesystem::create_directory(path);
      if (beside_a_dead_run) {
        put("lock", "0");
        put("segment-00001.h5", "0");
      }
      std::ofstream(path + "/" + name) << "bytes";
      const auto mode = std::filesystem::status(path).permissions();
      EXPECT_EQ(create_fails(), ANADROME_ERR_ARGUMENT) << name;
      EXPECT_EQ(std::filesystem::status(path).permissions(), mode);
      EXPECT_EQ(std::filesystem::file_size(path + "/" + name), 5u) << name;
      EXPECT_EQ(has("segment-00001.h5"), beside_a_dead_run) << name;
      EXPECT_EQ(has("lock"), beside_a_dead_run || std::string(name) == "lock");
      std::filesystem::remove_all(path);
    }
  }
}

TEST_F(RunDirectoryTest, TakesWhatAKilledRunHadNotWrittenTo) {
  for (const char* name : {"states.h5", "segment-00000.h5", "journal-000000", "adjoint-000003"}) {
    for (const char* sign : {"lock", "segment-00001.h5", "journal-000001"}) {
      for (const std::size_t bytes : {0u, 10u, 4096u, 10000u}) {
        std::filesystem::create_directory(path);
        put(sign, "0");
        const bool ends = bytes > 4096 && kind_of(name) != FileKind::kAdjoint;
        std::ofstream(path + "/" + name) << std::string(bytes, '\0') << (ends ? "x" : "");
        EXPECT_EQ(create_fails(), ANADROME_OK) << name << " beside " << sign << ": " << bytes;
        EXPECT_TRUE(parent.empty());
      }
    }
  }
  std::filesystem::create_directory(path);
  for (const char* name : {"lock", "segment-00000.h5", "journal-000000"})
    std::ofstream(path + "/" + name) << std::string(1000, '\0');
  EXPECT_EQ(create_fails(), ANADROME_OK);
  EXPECT_TRUE(parent.empty());
}

TEST_F(RunDirectoryTest, KnowsAdjointFieldsByTheirJournalOrTheLock) {
  for (const bool by_journal : {true, false}) {
    std::filesystem::create_directory(path);
    put("adjoint-000001", "0");
    if (by_journal) {
      put("journal-000001", "0");
    } else {
      LockRecord record = new_lock_record("0");
      --record.holder.start;
      record.adjoints = 2;
      put_lock(record);
    }
    EXPECT_EQ(create_fails(), ANADROME_OK) << by_journal;
    EXPECT_TRUE(parent.empty());
  }
}

TEST_F(RunDirectoryTest, RemovesAdjointFieldsOnceItNotedThatTheyAreItsOwn) {
  for (const std::int64_t noted : {0, 2}) {
    RunDirectory run = create();
    put("adjoint-000001");
    run.note_adjoints(noted);
    EXPECT_EQ(lock().adjoints, noted);
    EXPECT_EQ(failure_from([&] { run.remove(); }).status,
              noted > 0 ? ANADROME_OK : ANADROME_ERR_ARGUMENT);
    EXPECT_EQ(has("adjoint-000001"), noted == 0);
    std::filesystem::remove_all(path);
  }
}

TEST_F(RunDirectoryTest, IsNotTakenForAnotherWhereNoDescriptorIsLeft) {
  const RunDirectory run = create();
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit none{0, files.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const Failure failure = RunDirectory::find(parent.path(), "run", "1", 0);
  setrlimit(RLIMIT_NOFILE, &files);
  EXPECT_EQ(failure.status, ANADROME_ERR_IO) << failure.message;
}

TEST_F(RunDirectoryTest, IsRemovedWithNoFileOpen) {
  const test::KeepsWhatIsOpen files;
  create().remove();
  EXPECT_TRUE(parent.empty());
}

TEST_F(RunDirectoryTest, WithoutFlockBelongsToItsProcessWhileThatLives) {
  const NoFlock files(-ENOLCK);
  {
    const RunDirectory run = create();
    EXPECT_EQ(create_fails(), ANADROME_ERR_BUSY);
  }
  std::filesystem::create_directory(path);
  LockRecord record = new_lock_record("0123");
  ++record.holder.start;  // its number was given to another
  put_lock(record);
  EXPECT_EQ(create_fails(), ANADROME_OK);
}

// A run with a journal and a segment, on a disk whose power fails.
struct FailingDisk {
  FailingDisk() {
    std::filesystem::create_directory(root);
    std::filesystem::create_directory(grave);
    run.emplace(RunDirectory::create(root, "run", "1"));
    for (const char* name : {"journal-000000", "segment-00000.h5"}) {
      put_file_of_run(path, name, "1");
      File::open(path + "/" + name, O_RDWR).sync();
    }
    sync_directory(path);
    sync_directory(root);
  }
  bool has(const char* name) const { return std::filesystem::exists(path + name); }

  const TemporaryDirectory disk;
  const std::string root = disk / "root", grave = disk / "grave", path = root + "/run";
  test::PowerLossFileSystem files{root, grave};
  std::optional<RunDirectory> run;
};

// Such a journal would be taken for that of a run whose files were lost.
TEST(RunDirectoryAtAPowerLoss, HasNoJournalWithoutItsFilesAndNoFilesWithoutItsLock) {
  int came_back = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    FailingDisk there;
    there.files.fail_before(static_cast<std::int64_t>(3 + seed % 20));
    there.run->note_end();
    failure_from([&] { there.run->remove(); });
    there.run.reset();
    there.files.lose_what_was_not_synced(seed);
    const bool journal = there.has("/journal-000000");
    came_back += journal ? 1 : 0;
    const bool segment = there.has("/segment-00000.h5");
    EXPECT_TRUE(!journal || segment) << "seed " << seed;
    EXPECT_TRUE(!segment || there.has("/lock")) << "whose are they? seed " << seed;
  }
  EXPECT_GT(came_back, 0);
}

// Another node may have removed its files by then.
TEST(RunDirectoryAtAPowerLoss, SaysThatTheRunEndedOnceThatIsNoted) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    FailingDisk there;
    constexpr std::int64_t kReadWriteSync = 3;
    there.files.fail_before(kReadWriteSync + 1);
    there.run->note_end();
    there.run.reset();
    there.files.lose_what_was_not_synced(seed);
    EXPECT_TRUE(RunDirectory::has_ended(there.path)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace anadrome::store
