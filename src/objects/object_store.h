// SPDX-License-Identifier: BSD-2-Clause
// An object store on all ranks: what is collective about it, which is its beginning and its end.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/asked/options.h"
#include "engine/disk/disk_space.h"
#include "engine/ranks/agreement.h"
#include "objects/object_blocks.h"
#include "objects/object_files.h"
#include "objects/objects.h"
#include "store/memory/pool.h"
#include "store/moving/transport.h"

namespace anadrome::engine {

class ObjectStore {
 public:
  /// Duplicates `comm`. Collective; open comes next.
  explicit ObjectStore(MPI_Comm comm) : agreement_(comm) {}
  explicit ObjectStore(Ranks& ranks) : agreement_(ranks) {}  ///< which outlive it

  /// `options`: "key=value key=value". Collective.
  void open(std::string_view options);
  /// Ends views and removes the files, or leaves those for readers. Collective.
  void close();

  store::Objects& objects() { return *objects_; }
  const store::Objects& objects() const { return *objects_; }
  const store::ObjectBlocks& blocks() const { return *blocks_; }
  /// Most bytes that blocks and the list of objects took so far.
  std::int64_t memory_bytes() const;
  store::TransferTotals totals() const;
  /// 1: O_DIRECT; 0: buffered; -1: nothing went to disk so far.
  int direct_io() const;

 private:
  void read_options(std::string_view text);
  void compare_options();
  void open_directory();
  void make_parts();
  void keep();

  Agreement agreement_;
  Options options_;
  std::string run_id_;
  store::BlockLayout layout_;
  std::unique_ptr<DiskSpace> directory_;
  store::Pool pool_;
  std::optional<store::ObjectFiles> files_;
  std::unique_ptr<store::Transport> transport_;
  std::optional<store::ObjectBlocks> blocks_;
  std::optional<store::Objects> objects_;
};

}  // namespace anadrome::engine
