// SPDX-License-Identifier: BSD-2-Clause
// Counts what became of each trial and prints the table of docs/reliability.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trial.h"
#include "trial_limit.h"

namespace anadrome::test {

class Tally {
 public:
  /// `kind`: the row the trial belongs to.
  void add(const std::string& kind, const Verdict& verdict);
  /// A trial that did not give what it must; the first few are printed at once.
  void complain(const std::string& trial, const std::string& why);
  /// ... if descriptors or threads are left.
  void complain_of_leaks(const std::string& trial, const std::string& left, const Verdict& verdict);

  std::int64_t trials() const;
  std::int64_t complaints() const { return complaints_; }
  /// Rows in the order they came first, and their sum.
  void print(const std::string& first_column) const;

 private:
  struct Row {
    std::int64_t exact = 0, clean = 0, wrong = 0;
  };
  std::vector<std::string> order_;
  std::map<std::string, Row> rows_;
  std::int64_t complaints_ = 0;
};

/// Collective.
bool is_so_on_any_rank(bool fact);
inline bool is_so_on_all_ranks(bool fact) { return !is_so_on_any_rank(!fact); }

/// The end of all: prints the table. What main returns.
int conclude(const Tally& tally, const std::string& first_column);

/// Is trial `number` one of every `stride`, in part `part` of as many? Scattered, so that no kind
/// is left out by arithmetic.
bool is_drawn(std::int64_t number, std::int64_t stride, std::int64_t part);

/// The options of a program of the laboratory.
struct LaboratoryOptions {
  bool full = false;
  std::string only;  ///< setups and kinds whose text has this
  std::int64_t part = 0, parts = 1;
  std::int64_t count = 0;  ///< trials, where they are drawn; 0: the program's own number
  std::string directory;   ///< made fresh, on a disk; removed at the end
  std::string memory;      ///< the same in memory, for what does not ask for O_DIRECT

  LaboratoryOptions(int argc, char** argv);
  ~LaboratoryOptions();
  LaboratoryOptions(const LaboratoryOptions&) = delete;
  LaboratoryOptions& operator=(const LaboratoryOptions&) = delete;
};

/// The main of such a program, MPI and its directories around `body`.
int run_laboratory(int argc, char** argv, int (*body)(const LaboratoryOptions& options));

}  // namespace anadrome::test
