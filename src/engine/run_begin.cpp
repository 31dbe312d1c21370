// Run, first half: from options and fields to a sweep that can start. Everything here is
// collective: what one rank meets alone (no memory, say) is held until the next agreement, and
// until then this rank takes part in whatever the others do.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/clock.h"
#include "engine/run.h"

namespace anadrome::engine {
namespace {

using RunId = std::array<char, 33>;

RunId new_run_id(MPI_Comm comm) {
  std::array<std::uint64_t, 2> id{};
  if (::getrandom(id.data(), sizeof id, 0) != static_cast<ssize_t>(sizeof id)) {
    id[0] = static_cast<std::uint64_t>(now_seconds() * 1e9);
    id[1] = static_cast<std::uint64_t>(::getpid());
  }
  MPI_Bcast(id.data(), 2, MPI_UINT64_T, 0, comm);
  RunId text;
  std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(id[0]),
                static_cast<unsigned long long>(id[1]));
  return text;
}

// Do the ranks of some node occupy all the cores they may run on? Collective.
bool no_core_is_free(MPI_Comm comm) {
  MPI_Comm split = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &split);
  const Communicator node(split);
  int ranks = 1;
  MPI_Comm_size(node.get(), &ranks);
  int busy = ranks >= static_cast<int>(std::thread::hardware_concurrency()) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &busy, 1, MPI_INT, MPI_MAX, comm);
  return busy != 0;
}

// Far beyond any machine, and far enough from overflow for all that is computed from it.
constexpr std::int64_t kMostStateBytes = std::int64_t{1} << 56;

bool too_many_bytes(const std::vector<store::Field>& fields) {
  std::int64_t bytes = 0;
  for (const store::Field& field : fields) {
    if (field.bytes() > kMostStateBytes - bytes) return true;
    bytes += field.bytes();
  }
  return false;
}

std::string table_of(const std::vector<store::Field>& fields) {
  std::string table;
  for (const store::Field& field : fields) {
    table += field.name + ":" + std::to_string(field.role) + ":" + std::to_string(field.type) +
             ":" +
             (field.size != nullptr   ? "varying"
              : field.pack != nullptr ? "packed"
              : field.exchanged       ? "exchanged"
                                      : "array") +
             "\n";
  }
  return table;
}

}  // namespace

void Run::agree_on_begin() { agreement_.agree({.call = Call::kBegin, .failure = held_}); }

// All ranks must have said the same; if not, name what differs.
void Run::compare_ranks(std::int64_t steps) {
  std::vector<std::string> names = {};
  std::vector<std::int64_t> both;  // hashes, then their complements
  attempt([&] {
    names = {"the list of fields (names, roles, types)"};
    both = {static_cast<std::int64_t>(hash_of(table_of(fields_)))};
    for (const auto& [key, value] : options_.shared_values()) {
      names.push_back("option " + key);
      both.push_back(static_cast<std::int64_t>(hash_of(value)));
    }
    names.push_back("the number of steps given to set_step_costs");
    both.push_back(step_costs_.steps_given());
    names.push_back("whether set_step_costs was given sizes");
    both.push_back(state_bytes_.steps_given());
    names.push_back("the list of branches");
    std::uint64_t branches = 0;
    for (const std::int64_t length : join_.steps) {
      constexpr std::uint64_t kPrime = 1099511628211u;
      branches = (branches ^ static_cast<std::uint64_t>(length)) * kPrime;
    }
    both.push_back(static_cast<std::int64_t>(branches));
    for (std::size_t i = 0; i < names.size(); ++i) both.push_back(~both[i]);
  });
  agreement_.agree({.call = Call::kBegin,
                    .failure = held_,
                    .equal = steps,
                    .equal_name = "the number of steps"});
  MPI_Allreduce(MPI_IN_PLACE, both.data(), static_cast<int>(both.size()), MPI_INT64_T, MPI_MAX,
                agreement_.comm());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (both[i] != ~both[i + names.size()]) {
      throw Error(ANADROME_ERR_ARGUMENT, names[i] + " differs between ranks");
    }
  }
}

void Run::abandon() {
  progress_.finish();
  slots_.reset();
  stack_.reset();
  live_tape_.reset();
  live_.reset();
  committer_.reset();  // these two wait for their transfers
  tier_.reset();
  script_.reset();
  phase_ = ANADROME_PHASE_IDLE;
}

void Run::reset_counters() {
  last_ = {};
  rest_ = {};
  double_interval_ = 0;
  then_is_written_ = write_due_ = false;
  agreed_block_ = -1;
  newest_anchor_ = anchors_put_ = probes_ = 0;
  decided_at_ = finished_at_ = -1;
  advances_agreed_at_ = adjoints_agreed_at_ = 0;
  probe_steps_ = 1;
  no_more_anchors_ = warned_ = rewound_ = false;
  disk_refused_ = {};
  anchors_lost_ = 0;
  audits_.clear();
  audit_failure_ = {};
  advances_ = adjoints_ = kept_ = restored_ = 0;
  seconds_copying_ = turn_time_ = done_time_ = predicted_seconds_ = 0;
  predict_at_ = predicted_at_ = 0;
  seconds_agreeing_before_ = agreement_.seconds();
  agreements_before_ = agreement_.count();
}

// What is wrong with this rank's fields and arguments.
Failure Run::fault_of_begin(std::int64_t steps) const {
  if (steps < 0 && steps != schedule::kUnknown) {
    return {ANADROME_ERR_ARGUMENT, "begin: " + std::to_string(steps) +
                                       " steps; give 0 or more, or ANADROME_STEPS_UNKNOWN"};
  }
  if (steps >= schedule::kMostSteps) return {ANADROME_ERR_ARGUMENT, "begin: more than 2^62 steps"};
  if (too_many_bytes(state_fields_) || too_many_bytes(tape_fields_)) {
    return {ANADROME_ERR_ARGUMENT, "begin: a state or a tape of more than 2^56 bytes"};
  }
  if (state_fields_.empty()) {
    return {ANADROME_ERR_ORDER, "begin: register the state with anadrome_add_field first"};
  }
  return {};
}

void Run::begin(std::int64_t steps, const Failure& earlier) {
  join_.steps.clear();
  begin_sweep(steps, earlier);
}

void Run::begin_sweep(std::int64_t steps, const Failure& earlier) {
  if (agreement_.broken()) {
    throw Error(ANADROME_ERR_PEER,
                "the ranks of this run were in different calls; only close is left");
  }
  abandon();
  try {
    set_up(steps, earlier);
  } catch (...) {
    abandon();  // what this rank has and another one may not have
    offload_planned_.reset();
    throw;
  }
}

void Run::set_up(std::int64_t steps, const Failure& earlier) {
  held_ = {};
  stop_.store(false);
  note(Doing::kBegin);
  reset_counters();
  begin_time_ = now_seconds();
  fields_at_begin_ = fields_.size();
  attempt([&] {
    options_ = requested_;
    name_the_late(agreement_, options_);
    state_fields_ = fields_of(ANADROME_ROLE_STATE);
    tape_fields_ = fields_of(ANADROME_ROLE_TAPE);
  });
  hold(earlier ? earlier : bad_environment_);
  attempt([&] { hold(fault_of_begin(steps)); });
  compare_ranks(steps);

  disk_changes_ = disk_changes();
  schedule_ = choose_schedule(steps);
  attempt([&] { require_fit(steps); });
  agree_on_begin();
  sweep_ = sweep_ == 0 ? options_.sweep : sweep_ + 1;
  look_for_recovery(steps);
  prepare_memory(steps);
  if (disk_use() != DiskUse::kNone || options_.watchdog > 0) {
    prepare_directory();
  } else if (disk_changes_ && disk_ != nullptr) {
    give_up_directory();  // nobody looks for ranks any more
  }
  note(Doing::kBegin);
  if (disk_use() != DiskUse::kNone) prepare_disk(steps);
  attempt([&] {
    std::function<std::int64_t()> take_block = [this] {
      const std::int64_t block = pool_.take();
      if (block < 0)
        throw Error(ANADROME_ERR_INTERNAL, "the schedule uses more slots than there are");
      return block;
    };
    if (tier_ != nullptr) take_block = [this] { return tier_->take_block(); };
    live_ =
        std::make_unique<store::LiveState>(memory_plan_.layout, state_fields_, pool_, take_block);
    if (stack_plan_) {
      stack_ = std::make_unique<store::RamStack>(*live_, pool_.address(0), stack_plan_->unit_bytes);
      if (tier_ != nullptr) tier_->use_stack(*stack_);
    }
    slots_ = std::make_unique<store::RamSlots>(memory_plan_.layout, pool_, *live_);
    if (keeps_tapes_) {
      live_tape_ = std::make_unique<store::LiveTape>(memory_plan_.layout, tape_fields_);
      slots_->keep_tapes(*live_tape_, tape_slots_, take_block);
    }
    write_script(steps);
    recorder_.prepare(options_.trace != "off" || options_.timeline != "off");
    live_->make_room_for_step();  // x_0
  });
  agree_on_begin();
  if (schedule_ == ScheduleName::kOffload) {
    agreement_.agree({.call = Call::kBegin,
                      .failure = {},
                      .equal = script_->overlapped()->fingerprint(),
                      .equal_name = "the plan of schedule=offload"});
  }

  progress_.start(options_.progress && agreement_.rank() == 0);
  handed_out_ = now_seconds();
  recorder_.start(handed_out_);
  if (recovery_) return resume_sweep();
  then_is_written_ = live_->exchanged() && !has_branches();
  constexpr std::int64_t kEarly = 25;  // 4 % of the steps
  if (steps > 0) predict_at_ = ceil_divide(steps, kEarly);
  phase_ = ANADROME_PHASE_FORWARD;
}

// First touch takes longer than a copy, so it is not left to the sweep; but a fast disk needs few
// of many blocks.
std::int64_t Run::blocks_to_populate(std::int64_t steps) const {
  constexpr std::int64_t kBytes = std::int64_t{256} << 20;
  if (stack_plan_) return 0;  // states are smaller on some ranks than on others
  if (disk_use() == DiskUse::kNone && steps != schedule::kUnknown) return pool_.blocks();
  return ceil_divide(kBytes, std::max<std::int64_t>(pool_.block_bytes(), 1));
}

// The pool, as large as the budget allows; the last one is used again if it has the right size.
void Run::prepare_memory(std::int64_t steps) {
  std::int64_t state_bytes = store::total_bytes(state_fields_);
  MPI_Allreduce(&state_bytes, &state_bytes_all_ranks_, 1, MPI_INT64_T, MPI_SUM, agreement_.comm());
  plan_tapes();
  const DiskUse disk = disk_use();
  begin_step_tables(steps);
  if (stack_plan_ && schedule_ == ScheduleName::kOffload) {
    plan_places(steps);
  } else if (stack_plan_) {
    plan_stack(steps);
  } else {
    plan_blocks(steps);
  }
  if (schedule_ == ScheduleName::kJoin) require_join_slots(steps);
  if (memory_plan_.blocks == 0) {
    std::int64_t least = 0;
    attempt([&] {
      least = least_memory(state_fields_, memory_plan_.largest_state_bytes, disk);
      least = checked_add(least, commit_bytes());
    });
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MAX, agreement_.comm());
    least = memory_beside_tables(least, steps);
    const std::string plan =
        table_bytes(steps, options_.memory) > 0
            ? " and the plan of " + std::to_string(steps) + " steps (schedule=async has none)"
            : "";
    throw Error(ANADROME_ERR_MEMORY, "memory=" + std::to_string(options_.memory) +
                                         " is too small for one state" + plan + ": at least " +
                                         std::to_string(least) + " bytes (" + format_bytes(least) +
                                         ") per rank are needed");
  }
  if (schedule_ == ScheduleName::kStoreAll && steps > memory_plan_.checkpoint_slots) {
    const std::int64_t needed = memory_for_states(agreement_, state_fields_, steps);
    throw Error(ANADROME_ERR_MEMORY, "store_all needs " + std::to_string(steps) +
                                         " slots and memory=" + std::to_string(options_.memory) +
                                         " has " + std::to_string(memory_plan_.checkpoint_slots) +
                                         "; set memory to " + std::to_string(needed) + "B (" +
                                         format_bytes(needed) + "), or schedule=async");
  }
  const std::int64_t block_bytes =
      stack_plan_ ? stack_plan_->bytes() : memory_plan_.layout.block_bytes();
  const std::int64_t blocks = stack_plan_ ? 1 : memory_plan_.blocks;
  attempt([&] {
    if (pool_.blocks() == blocks && pool_.block_bytes() == block_bytes) return;
    pool_ = {};
    pool_ = store::Pool(block_bytes, blocks);
  });
  pool_.reset();
  if (!held_) pool_.populate(blocks_to_populate(steps));
  agree_on_begin();
}

// Other fields or options want other files. The directory is one rank's own text; whether to
// rebuild is everybody's decision.
bool Run::disk_changes() {
  bool changes = disk_ == nullptr || (transport_ != nullptr && fields_changed_);
  attempt([&] {
    changes = changes || built_options_.directory != options_.directory ||
              built_options_.shared_values() != options_.shared_values();
  });
  int any = changes ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, agreement_.comm());
  return any != 0;
}

// That of a sweep before, with its files and its watch.
void Run::give_up_directory() {
  transport_.reset();
  if (disk_ != nullptr) disk_->release();
  agree_on_begin();  // nobody has a file open any more
  if (disk_ != nullptr) hold(disk_->remove());
  disk_.reset();
  agree_on_begin();  // removed before anybody makes the next one
}

// The run's directory, its lock and, where states go to disk, the transport to it.
void Run::prepare_directory() {
  const bool transports = disk_use() != DiskUse::kNone;
  if (!disk_changes_ && (!transports || transport_ != nullptr)) return;
  give_up_directory();
  const RunId id = new_run_id(agreement_.comm());
  attempt([&] { run_id_ = id.data(); });
  open_disk();
  attempt([&] { built_options_ = options_; });
  if (!transports) return agree_on_begin();
  const store::TransportOptions transport_options = {options_.checksum, options_.resume,
                                                     options_.bandwidth_limit};
  attempt([&] {
    transport_ = options_.transport == TransportName::kDirect
                     ? store::make_direct_transport(memory_plan_.layout, transport_options)
                     : store::make_mpio_transport(memory_plan_.layout, transport_options,
                                                  state_fields_, disk_->file_comm());
  });
  agree_on_begin();
  transfer_times_ = store::TransferTimes();  // of another disk
  measured_before_ = false;
  weighed_steps_ = -1;
  cores_are_busy_ = no_core_is_free(agreement_.comm());
  fields_changed_ = false;
}

void Run::prepare_disk(std::int64_t steps) {
  store::BlockIdentity identity;
  identity.run_id_low = run_id_low_;
  identity.run_id_high = run_id_high_;
  identity.sweep = sweep_;
  attempt([&] {
    tier_ = std::make_unique<store::AnchorTier>(memory_plan_.layout, pool_, *disk_, *transport_,
                                                identity, transfer_times_, recorder_);
  });
  agree_on_begin();
  tier_->set_prefetch_depth(memory_plan_.prefetch_depth);
  if (plays_list()) {
    tier_->follow_plan();
  } else {
    if (!writes_all_anchors()) tier_->allow_cancelling();
    if (disk_use() == DiskUse::kStates) tier_->allow_replacing();
  }
  totals_before_ = transport_->totals();
  // The first segment now, so that a full or forbidden disk shows before the first step.
  const bool fits_in_memory =
      disk_use() == DiskUse::kBlocks && steps != schedule::kUnknown && !writes_all_anchors() &&
      schedule::tail_advances(steps, memory_plan_.checkpoint_slots, has_tape(),
                              keeps_tapes_ ? tape_slots_ : 0) == 0;
  const std::int64_t blocks = fits_in_memory ? 0 : segment_blocks(steps);
  if (disk_->capacity() == 0 && blocks > 0) make_first_files(blocks);
  begin_journal(steps);
}

// Without files `async` goes on in memory; a directory that cannot be used is the user's mistake.
void Run::make_first_files(std::int64_t blocks) {
  try {
    disk_->grow(blocks, Call::kBegin);
    if (has_room_for_copy()) disk_->make_room_for_copy(Call::kBegin);
  } catch (const Error& error) {
    const bool full = error.status() == ANADROME_ERR_NO_SPACE;
    if (!full && error.status() != ANADROME_ERR_IO) throw;
    if (disk_->capacity() > 0) return;  // without the copy
    if (!full || writes_all_anchors()) throw;
    stop_anchoring(Failure(error));
  }
}

// How many blocks the next segment should hold. Segments grow with the run, so that there are few,
// and are bounded, so that little space is reserved in vain.
std::int64_t Run::segment_blocks(std::int64_t steps) const {
  const std::int64_t states = memory_plan_.layout.states();
  const std::int64_t block_bytes = std::max<std::int64_t>(disk_->block_bytes_all_ranks(), 1);
  constexpr std::int64_t kSegmentBytes = std::int64_t{4} << 30;
  std::int64_t blocks =
      std::max({kSegmentBytes / block_bytes, disk_->capacity() / 4, std::int64_t{1}});
  if (options_.interval == 0 || steps == schedule::kUnknown) {
    // The number of anchors shows only as the run goes on.
    blocks = std::min(blocks, std::max<std::int64_t>(16, disk_->capacity()));
  } else {
    const std::int64_t all =
        ceil_divide(ceil_divide(std::max<std::int64_t>(steps, 1), options_.interval), states);
    blocks = std::min(blocks, std::max<std::int64_t>(all - disk_->capacity(), 1));
  }
  return std::min(blocks, most_blocks() - disk_->capacity());
}

// Blocks that the option `disk` allows, the copy of the first one included; a few pages per file
// and 40 bytes per slot describe them.
std::int64_t Run::blocks_on_disk() const {
  if (options_.disk < 0) return schedule::kMostSteps;
  const std::int64_t ranks = agreement_.size();
  const auto fields = static_cast<std::int64_t>(state_fields_.size());
  const std::int64_t files = options_.layout == Layout::kShared ? 1 : ranks;
  const std::int64_t per_block =
      disk_->block_bytes_all_ranks() + 40 * memory_plan_.layout.states() + 16 * ranks;
  // Segments double from 16 blocks on; each has its groups, headers and tables of ranks.
  constexpr std::int64_t kMostSegments = 33, kFirstBlocks = 16;
  const std::int64_t segments =
      std::min(kMostSegments, 3 + options_.disk / per_block / kFirstBlocks);
  const std::int64_t described =
      files * ((std::int64_t{48} << 10) + fields * (std::int64_t{8} << 10)) + fields * ranks * 600;
  return std::max<std::int64_t>(options_.disk - segments * described, 0) / per_block;
}

// Of two or more, one is for the copy.
std::int64_t Run::most_blocks() const {
  const std::int64_t blocks = blocks_on_disk();
  return has_room_for_copy() ? blocks - 1 : blocks;
}

}  // namespace anadrome::engine
