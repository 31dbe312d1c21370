// SPDX-License-Identifier: BSD-2-Clause
#include "objects/object_store.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/checksum.h"
#include "base/index.h"
#include "base/words.h"
#include "engine/asked/log.h"
#include "engine/disk/run_id.h"
#include "objects/objects_file.h"

namespace anadrome::engine {
namespace {

constexpr std::array<std::string_view, 8> kKeys = {
    "memory", "directory", "name", "disk", "keep", "layout", "transport", "bandwidth_limit"};

void require_keys(std::string_view text) {
  each_setting(text, [](std::string_view key, std::string_view) {
    if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) return;
    throw Error(ANADROME_ERR_ARGUMENT,
                "option " + std::string(key) +
                    " is a run's: a store has memory, directory, name, disk, keep, transport and "
                    "bandwidth_limit");
  });
}

}  // namespace

// set_environment names the option that is nearest to one that there is not.
void ObjectStore::read_options(std::string_view text) {
  options_.name = "anadrome-store";
  options_.layout = Layout::kRank;
  options_.set_environment(text);
  require_keys(text);
  if (options_.has_two_values()) {
    throw Error(
        ANADROME_ERR_UNSUPPORTED,
        "a store has one directory: of directory, disk, transport and bandwidth_limit it takes "
        "one value (a comma in a name is written \\,)");
  }
  if (options_.layout != Layout::kRank) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                "a store has layout=rank only: ranks put objects without a word to each other, so "
                "each has files of its own");
  }
  if (options_.mpio()) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                "a store moves objects one by one: its transport is auto, direct or buffered");
  }
  layout_ = store::object_layout(options_.memory);
  options_.fix_paths();
}

void ObjectStore::compare_options() {
  std::vector<std::string> names;
  std::vector<std::int64_t> both;
  const Failure failure = failure_from([&] {
    for (auto& [key, value] : options_.shared_values()) {
      both.push_back(static_cast<std::int64_t>(hash_of(value)));
      names.push_back(std::move(key));
    }
    for (std::size_t i = 0; i < names.size(); ++i) both.push_back(~both[i]);
  });
  agreement_.agree({.call = Call::kBegin, .failure = failure});
  const std::int64_t other = first_that_differs(agreement_.ranks(), both);
  if (other < 0) return;
  throw Error(ANADROME_ERR_ARGUMENT, "option " + names[at(other)] + " differs between ranks");
}

void ObjectStore::open(std::string_view options) {
  const Failure failure = failure_from([&] { read_options(options); });
  agreement_.agree({.call = Call::kBegin, .failure = failure});
  compare_options();
  if (options_.disk != 0) open_directory();
  agreement_.agree({.call = Call::kBegin, .failure = failure_from([&] { make_parts(); })});
}

void ObjectStore::open_directory() {
  const RunId id = new_run_id(agreement_.ranks());
  std::unique_ptr<DiskSpace> directory;
  const Failure failure = failure_from([&] {
    run_id_ = id.data();
    directory = std::make_unique<DiskSpace>(agreement_, options_, layout_,
                                            std::span<const store::Field>(), run_id_);
  });
  agreement_.agree({.call = Call::kBegin, .failure = failure});
  directory->open(store::Leftovers::kRemove);
  directory_ = std::move(directory);
}

// Each rank has its share of the disk; a file's structure takes less than a page for each block.
void ObjectStore::make_parts() {
  constexpr std::int64_t kUnlimited = std::int64_t{1} << 40;
  const std::int64_t block_bytes = layout_.block_bytes();
  pool_ = store::Pool(block_bytes, options_.memory / block_bytes);
  if (directory_ != nullptr) {
    const std::int64_t most =
        options_.disk < 0 ? kUnlimited
                          : options_.disk / agreement_.size() / (block_bytes + store::kPage);
    files_.emplace(
        layout_, store::ObjectFiles::Settings{directory_->held(), run_id_, agreement_.rank(), most,
                                              options_.transport});
    transport_ = store::make_direct_transport(
        layout_, {.bytes_per_second = options_.bandwidth_limit, .encoding = {}});
  }
  const RunWords words = words_of(run_id_);
  const store::ObjectBlocks::Parts parts = {layout_, pool_, files_ ? &*files_ : nullptr,
                                            transport_.get()};
  blocks_.emplace(parts, words.low, words.high);
  objects_.emplace(*blocks_);
}

void ObjectStore::keep() {
  const std::string name = store::objects_file_name(agreement_.rank());
  store::write_objects_file(*objects_, {directory_->held(), name}, run_id_);
}

void ObjectStore::close() {
  Failure failure;
  if (directory_ == nullptr) {
    agreement_.agree({.call = Call::kClose, .failure = failure});
    return;
  }
  if (const Watch* const watch = directory_->watch()) failure = watch->taken_over();
  const bool keeps = options_.keep && !failure;
  if (keeps) failure = failure_from([&] { keep(); });
  objects_.reset();
  blocks_.reset();
  transport_.reset();
  if (keeps) {
    files_->remove();
  } else {
    directory_->prepare_to_remove();
  }
  const std::int64_t noted = directory_->end_is_noted() ? 1 : 0;
  const bool all_know =
      agreement_.agree({.call = Call::kClose, .failure = failure, .smallest = noted}).smallest == 1;
  if (all_know) {  // each rank removes its own
    if (files_) files_->remove();
    agreement_.agree({.call = Call::kClose, .failure = {}});
  }
  files_.reset();
  const Failure left = keeps ? failure_from([&] { directory_->leave(); }) : directory_->remove();
  const Failure busy = left.status == ANADROME_ERR_BUSY ? left : Failure();
  const Failure somewhere =
      agreement_.agree({.call = Call::kClose, .failure = busy, .lost = left}).lost;
  if (somewhere && agreement_.rank() == 0) {
    engine::log_line(ANADROME_LOG_WARNING, {somewhere.message, who_removes_it(somewhere)});
  }
  directory_.reset();
}

std::int64_t ObjectStore::memory_bytes() const {
  return blocks_->most_blocks_in_memory() * layout_.block_bytes() + objects_->table_bytes();
}

store::TransferTotals ObjectStore::totals() const {
  return transport_ != nullptr ? transport_->totals() : store::TransferTotals{};
}

int ObjectStore::direct_io() const {
  if (!files_ || !files_->in_use()) return -1;
  return files_->direct() ? 1 : 0;
}

}  // namespace anadrome::engine
