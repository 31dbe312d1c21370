// SPDX-License-Identifier: BSD-2-Clause
#include "trial.h"

#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "store/files/hdf5_owners.h"
#include "store/files/hdf5_write.h"

namespace anadrome::test {
namespace {

namespace fs = std::filesystem;

// A status that says: storage or memory failed.
bool names_a_fault(anadrome_status status) {
  return status == ANADROME_ERR_IO || status == ANADROME_ERR_NO_SPACE ||
         status == ANADROME_ERR_CORRUPT || status == ANADROME_ERR_MEMORY;
}

// None if it cannot be read.
template <class Word>
std::vector<Word> table(hid_t file, const std::string& path) {
  const Hdf5Dataset dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT));
  if (dataset.get() < 0) return {};
  const Hdf5Space space(H5Dget_space(dataset.get()));
  const hssize_t words = H5Sget_simple_extent_npoints(space.get());
  std::vector<Word> values(static_cast<std::size_t>(words > 0 ? words : 0));
  const herr_t read =
      H5Dread(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  if (read < 0) values.clear();
  return values;
}

// The states of `kept` on all ranks, one after the other, by field; on rank 0.
std::vector<std::vector<std::uint64_t>> states_of(ModularModel& model,
                                                  const std::vector<std::int64_t>& kept) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(model.comm(), &rank);
  MPI_Comm_size(model.comm(), &ranks);
  const std::size_t fields = model.fields().size();
  std::vector<std::vector<std::uint64_t>> states(fields);
  model.start();
  std::int64_t at = 0;
  for (const std::int64_t step : kept) {
    for (; at < step; ++at) model.step(at);
    for (std::size_t f = 0; f < fields; ++f) {
      const auto words = model.fields()[f];
      std::vector<std::uint64_t> all(words.size() * static_cast<std::size_t>(ranks));
      const int count = static_cast<int>(words.size());
      MPI_Gather(words.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, 0,
                 model.comm());
      states[f].insert(states[f].end(), all.begin(), all.end());
    }
  }
  return states;
}

// Has `directory` the states of steps `kept`, of all ranks, and nothing else, as a user reads them?
// "", or what is wrong, on rank 0. For a model of arrays. Collective; the model's state is lost.
std::string fault_of_files(const std::string& directory, ModularModel& model,
                           const std::vector<std::int64_t>& kept) {
  const auto states = states_of(model, kept);
  int rank = 0;
  MPI_Comm_rank(model.comm(), &rank);
  if (rank != 0) return "";
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (name.rfind("segment-0", 0) != 0 && name != "states.h5") return name + " was left";
  }
  const store::QuietHdf5 quiet;
  const Hdf5File file(H5Fopen((directory + "/states.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (file.get() < 0) return "states.h5 cannot be read";
  if (table<std::int64_t>(file.get(), "/slot_step") != kept)
    return "states of other steps are kept";
  for (std::size_t f = 0; f < states.size(); ++f) {
    const std::string path = "/states/x" + std::to_string(f);
    if (table<std::uint64_t>(file.get(), path) != states[f]) return path + " is not what it was";
  }
  return "";
}

}  // namespace

bool is_silent(Fault fault) {
  return fault == Fault::kFlippedBit || fault == Fault::kCorrupted || fault == Fault::kLost;
}

bool must_be_exact(Operation operation, Fault fault, bool lasting, bool under_way, bool keeps) {
  const bool write = operation == Operation::kWrite, read = operation == Operation::kRead;
  switch (fault) {
    case Fault::kInterrupted:
    case Fault::kShort:
    case Fault::kDelayed:
      return true;
    case Fault::kNoSpace:
    case Fault::kNoQuota:
      return under_way && !keeps && !read;
    case Fault::kIoError:
    case Fault::kTorn:
      return under_way && !keeps && (write || (read && !lasting));
    default:
      return under_way && !keeps && (write || read) && !lasting;
  }
}

bool Setup::is_on(const std::string& option) const {
  return std::find(more.begin(), more.end(), std::pair<std::string, std::string>(option, "on")) !=
         more.end();
}

Bench::Bench(MPI_Comm comm, Setup setup, std::string directory)
    : comm_(comm),
      setup_(std::move(setup)),
      directory_(std::move(directory)),
      model_(comm, setup_.shape),
      gradient_(model_.gradient_with_every_state_kept(setup_.steps)) {
  const bool many = setup_.shape.words < 8;
  // Small states share blocks from 4 blocks of 512 on.
  constexpr std::int64_t kBlocks = 4, kStates = 512, kBookkeeping = 4096;
  const auto state = static_cast<std::int64_t>(setup_.shape.words * sizeof(std::uint64_t)) + 8;
  memory_ = many ? kBlocks * kStates * state + kBookkeeping
                 : static_cast<std::int64_t>(setup_.memory * static_cast<double>(least_memory()));
  before_ = Resources::now();
}

// As ERR_MEMORY names it.
std::int64_t Bench::least_memory() {
  memory_ = 1;
  SweepResult refused;
  anadrome_run* run = open(refused);
  if (run != nullptr) anadrome_begin(run, setup_.unknown ? ANADROME_STEPS_UNKNOWN : setup_.steps);
  const std::string message = anadrome_last_error(), before = "at least ";
  anadrome_close(&run);
  const auto at = message.find(before);
  return at == std::string::npos ? 1 : std::atoll(message.c_str() + at + before.size());
}

anadrome_run* Bench::open(SweepResult& refused) {
  anadrome_run* run = nullptr;
  anadrome_status status = anadrome_open(comm_, &run);
  const auto set = [&](const std::string& key, const std::string& value) {
    if (status == ANADROME_OK && !value.empty()) {
      status = anadrome_set(run, key.c_str(), value.c_str());
    }
  };
  if (status == ANADROME_OK) status = model_.add_fields(run);
  set("schedule", setup_.schedule);
  set("interval", setup_.interval);
  set("layout", setup_.layout);
  set("transport", setup_.transport);
  if (setup_.two_directories) {
    std::error_code ignored;  // of ranks that make it at the same time
    fs::create_directories(fast(), ignored);
  }
  set("directory", (setup_.two_directories ? fast() + "," : "") + directory_);
  set("memory", std::to_string(memory_) + "B");
  for (const auto& [key, value] : setup_.more) set(key, value);
  if (status == ANADROME_OK) return run;
  refused.status = status;
  refused.message = anadrome_last_error();
  anadrome_close(&run);
  return nullptr;
}

Verdict Bench::judge(const SweepResult& result, anadrome_status closed,
                     const std::string& close_message) {
  Verdict verdict;
  const anadrome_status status = result.status != ANADROME_OK ? result.status : closed;
  const std::string& message = result.status != ANADROME_OK ? result.message : close_message;
  const bool exact = is_right(result);
  const bool clean = names_a_fault(status) && !message.empty() && result.kept_its_word;
  // Statuses, and this rank's opinion, so that all ranks come to the same verdict.
  std::array<std::int64_t, 6> most = {status,         -status,       result.status,
                                      -result.status, exact ? 0 : 1, clean ? 0 : 1};
  MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_INT64_T, MPI_MAX,
                comm_);
  const bool same = most[0] == -most[1] && most[2] == -most[3];
  verdict.why = message;
  if (!same) {
    verdict.why = "ranks differ: " + std::to_string(status) + " " + message;
  } else if (status == ANADROME_OK) {
    if (most[4] == 0) verdict.ending = Ending::kExact;
    if (most[4] != 0) verdict.why = "WRONG GRADIENT with ANADROME_OK";
  } else if (result.status == ANADROME_OK && most[4] != 0) {
    verdict.why = "WRONG GRADIENT, and close failed: " + message;
  } else if (most[5] == 0) {
    verdict.ending = Ending::kCleanError;
  } else {
    verdict.why = "status " + std::to_string(status) + " is not that of a fault: " + message;
  }
  return verdict;
}

Verdict Bench::run(const std::function<void()>& before_close) {
  SweepResult result;
  anadrome_run* run = open(result);
  anadrome_stats statistics{};
  statistics.size = sizeof statistics;
  if (run != nullptr) {
    result = sweep(run, model_, setup_.steps, setup_.unknown);
    anadrome_statistics(run, &statistics);
  }
  if (before_close) before_close();
  const anadrome_status closed = anadrome_close(&run);
  const std::string message = closed != ANADROME_OK ? anadrome_last_error() : "";
  Verdict verdict = judge(result, closed, message);
  verdict.is_under_way = statistics.forward_steps_taken > 0;
  return verdict;
}

std::string Bench::fault_of_kept_files() {
  std::vector<std::int64_t> kept;
  const std::int64_t interval = std::atoll(setup_.interval.c_str());
  for (std::int64_t step = 0; step < setup_.steps; step += interval) kept.push_back(step);
  const std::string fault = fault_of_files(run_directory(), model_, kept);
  MPI_Barrier(comm_);
  std::error_code ignored;
  fs::remove_all(run_directory(), ignored);
  MPI_Barrier(comm_);
  return fault;
}

std::string Bench::left_behind() const {
  const Resources now = Resources::now();
  std::string what;
  if (now.descriptors != before_.descriptors) {
    what += std::to_string(now.descriptors - before_.descriptors) + " descriptors ";
  }
  if (now.threads != before_.threads) {
    what += std::to_string(now.threads - before_.threads) + " threads ";
  }
  std::error_code ignored;
  if (fs::exists(run_directory(), ignored)) what += "files ";
  if (fs::exists(fast() + "/anadrome", ignored)) what += "files in the fast directory ";
  return what;
}

}  // namespace anadrome::test
