// SPDX-License-Identifier: BSD-2-Clause
// Journals on the disks of hosts: which of them another job finds, and what it says.
#include "engine/disk/journal_hosts.h"

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>

#include "store/directory/process_identity.h"
#include "store/journal/journal.h"
#include "temporary_directory.h"
#include "thread_ranks.h"

namespace anadrome::engine {
namespace {

constexpr const char* kHosts = "layout=rank\nhosts=n1 n2 n10\n";

TEST(JournalHosts, AreALineOfTheOptions) {
  EXPECT_EQ(host_in(kHosts, 0), "n1");
  EXPECT_EQ(host_in(kHosts, 2), "n10");
  EXPECT_EQ(host_in(kHosts, 3), "");
  EXPECT_EQ(host_in("layout=rank\n", 0), "");
  EXPECT_EQ(without_hosts_line(kHosts), "layout=rank\n");
  EXPECT_EQ(without_hosts_line("layout=rank\n"), "layout=rank\n");
}

// A run of three ranks, and a job that finds the disks of some hosts.
struct RunOnDisks : testing::Test {
  store::JournalHeader header_of(int rank) const {
    store::JournalHeader header;
    header.rank = rank;
    header.ranks = 3;
    header.options = rank == 0 ? kHosts : "layout=rank\nhosts=n1\n";
    return header;
  }
  void leave(const std::string& where, int rank, bool committed = true) {
    store::Journal journal =
        store::Journal::create(where + "/" + store::journal_file_name(rank), header_of(rank));
    if (committed) journal.commit();
  }
  // What the ranks get that find `directories`; the same on all.
  std::string found_by(const std::vector<std::string>& directories) {
    std::vector<std::string> said(directories.size());
    ThreadRanks::run(static_cast<int>(directories.size()), [&](Ranks& ranks) {
      Agreement agreement(ranks);
      const auto rank = static_cast<std::size_t>(ranks.rank());
      const std::string path = directories[rank] + "/" + store::journal_file_name(ranks.rank());
      std::optional<store::JournalHeader> mine;
      if (std::filesystem::exists(path) && std::filesystem::file_size(path) > 0) {
        mine = header_of(ranks.rank());
      }
      const Failure failure = failure_from([&] {
        require_journals_here(agreement, directories[rank], mine ? &*mine : nullptr,
                              std::filesystem::exists(path));
      });
      EXPECT_TRUE(!failure || failure.status == ANADROME_ERR_ARGUMENT) << failure.message;
      said[rank] = failure.message;
    });
    for (const std::string& text : said) EXPECT_EQ(text, said[0]);
    return said[0];
  }
  const std::string here = store::this_process().host;
  const std::string cure =
      "; start on the same hosts in the same order, or set resume=off to start over";
  std::deque<store::TemporaryDirectory> disks{4};
  const std::string a = disks[0].path(), b = disks[1].path(), c = disks[2].path(),
                    fresh = disks[3].path();
};

TEST_F(RunOnDisks, IsFoundByRanksInTheirOldPlacesAndNobodyElse) {
  leave(a, 0), leave(b, 1), leave(c, 2);
  const std::string lost = ", and is on no host of this job" + cure;
  const struct {
    std::vector<std::string> directories;
    std::string said;
  } rows[] = {
      {{a, b, c}, ""},
      {{a, c, b}, "rank 2: resume: rank 1's journal is on " + here + cure},
      {{fresh, c, b}, "rank 2: resume: rank 1's journal is on " + here + cure},  // it can be had
      {{a, b, fresh}, "rank 0: resume: rank 2's journal was on n10" + lost},
      {{fresh, b, c}, "rank 1: resume: rank 0's journal was on n1" + lost},
      {{fresh, b, fresh + "/missing"}, "rank 1: resume: rank 0's journal was on n1" + lost},
      {{c, fresh},
       "rank 0: resume: " + c + " on " + here + " holds a run that was on 3 ranks" + cure}};
  for (const auto& [directories, said] : rows) EXPECT_EQ(found_by(directories), said);
}

TEST_F(RunOnDisks, NamesTheRankAloneWhereNobodyKnowsItsHost) {
  leave(a, 0, false), leave(b, 1, false);
  EXPECT_EQ(found_by({a, fresh, b}), "") << "it is gone where nothing was committed";
  leave(c, 1);
  EXPECT_EQ(found_by({a, c, fresh}),
            "rank 0: resume: rank 2's journal is on no host of this job" + cure);
}

TEST_F(RunOnDisks, NamesTheRankWhoseJournalOneDirectoryLacks) {
  leave(c, 0), leave(c, 2);
  EXPECT_EQ(found_by({c, c, c}),
            "rank 0: resume: rank 1's journal is missing in " + c +
                "; a server of the file system may be away: start again when it is back, or set "
                "resume=off to start over");
}

// The disk of a host that was in an earlier run looks as that of the other one.
TEST_F(RunOnDisks, IsNotTakenForOneDirectoryWhereTheRunsDiffer) {
  leave(a, 0);
  store::JournalHeader older = header_of(0);
  older.run_id_low = 7;
  store::Journal::create(b + "/" + store::journal_file_name(0), older).commit();
  EXPECT_NE(found_by({a, b, b}), "");
}

}  // namespace
}  // namespace anadrome::engine
