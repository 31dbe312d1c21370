// SPDX-License-Identifier: BSD-2-Clause
// Signs of life of all ranks, in a file of the run's directory: each rank writes its own page, and
// reads the others'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/directory/process_identity.h"
#include "store/files/directory.h"

namespace anadrome::store {

struct Heartbeat {
  std::int64_t beat = 0;  ///< grows with every heartbeat
  ProcessIdentity process;
  std::uint64_t activity = 0;  ///< the engine's number for the rank's call or step
  bool ends = false;           ///< this rank ends the job
};

class HeartbeatFile {
 public:
  /// The file's place in the run's directory.
  static FilePlace place(const Directory& directory, const std::string& run_id);
  /// Makes an empty file; by one rank, before the others open it. Throws ERR_IO, ERR_NO_SPACE.
  static void create(const FilePlace& place);
  /// Does a file that begins so hold a heartbeat?
  static bool is_one(std::string_view head);

  /// Throws ERR_IO, ERR_UNSUPPORTED if there is none: the directory is not that of the others.
  explicit HeartbeatFile(FilePlace place);

  /// Throws ERR_IO, ERR_NO_SPACE.
  void write(std::int64_t rank, const Heartbeat& heartbeat) const;

  /// The heartbeats as they are by now, of as many ranks as are asked for.
  class Look {
   public:
    explicit Look(const HeartbeatFile& file) noexcept;
    /// None: it left none, or what is there is not whole.
    std::optional<Heartbeat> read(std::int64_t rank) const noexcept;

   private:
    const HeartbeatFile& file_;
    File again_;
  };
  std::optional<Heartbeat> read(std::int64_t rank) const noexcept { return Look(*this).read(rank); }

 private:
  // Opened again each time, since a network file system shows what others wrote to those who open a
  // file after it was closed. None when the run's directory is gone already, or the name is another
  // file's by now: then it is used as it was.
  File open_again(int flags) const noexcept;

  FilePlace place_;
  File file_;
};

}  // namespace anadrome::store
