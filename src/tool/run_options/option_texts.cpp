// SPDX-License-Identifier: BSD-2-Clause
#include "tool/run_options/option_texts.h"

namespace anadrome::tool {

const std::vector<OptionText>& option_texts() {
  using enum Layer;
  static const std::vector<OptionText> all = {
      {"memory", kEverybody, "1GiB", "8GiB",
       "Bytes per rank for everything the library holds: checkpoints, states being written, and "
       "states being read ahead.",
       "8 gigabytes",
       "If it is too little, `anadrome_begin` is `ANADROME_ERR_MEMORY` and names the least number "
       "of bytes. If it is more than the node has, the system may kill the job.",
       "[how much memory](#how-much-memory), [plan](plan.md)"},
      {"directory", kEverybody, ".", "/scratch/me",
       "Parent of the run's own directory. Ranks may have different ones, so that node-local "
       "paths may differ. `FAST,HOME` names two directories, the faster one first. A comma in a "
       "name is written `\\,`.",
       ",",
       "Where states go to disk, a path that does not exist or cannot be written is an error of "
       "`anadrome_begin`. On tmpfs the states use memory besides `memory`, and a warning says so. "
       "Nothing is written where `schedule=auto` takes a schedule without disk; `schedule=async` "
       "writes.",
       "[two directories](#two-directories), [file systems](how-to/sites.md)"},
      {"name", kEverybody, "anadrome", "run7",
       "The run's own directory in `directory`: mode 0700, locked. A run replaces what an earlier "
       "run of that name left there, unless it resumes that run.",
       "my run",
       "It must not be the name of something else there, such as your program's. A second live "
       "run of the same name gets `ANADROME_ERR_BUSY`, which names the holder.",
       "[how a live run is known](reliability.md#one-live-run-per-name)"},
      {"report", kEverybody, "off", "-",
       "A summary at DONE by rank 0: `-` (standard output) or a file. Ranks may have different "
       "values.",
       "",
       "`anadrome_begin` fails if the file cannot be written. If writing fails at DONE all the "
       "same, that is a warning.",
       "[the summary](summary.md)"},

      {"schedule", kSome, "auto", "revolve",
       "`auto`, `store_all`, `revolve`, `async`, `mixed` or `undo`. `auto` takes `store_all` if "
       "every state fits, and otherwise `async` or `revolve`. `undo` is for steps that can be run "
       "backwards.",
       "revolv", "A schedule that needs more memory than there is ends in `ANADROME_ERR_MEMORY`.",
       "[schedules](#schedules), [how to choose](how-to/choosing.md), [steps run "
       "backwards](how-to/undo.md)"},
      {"disk", kSome, "unlimited", "500GiB",
       "Bytes on disk, all ranks together. When they are used up, no more anchors are written and "
       "the rest is recomputed from RAM. The second copy of the first states counts, too, if there "
       "is room for it. With two directories give two values: `FAST,HOME`.",
       "half",
       "If the disk is smaller than this value, it becomes full on the way. The run goes on from "
       "RAM and one warning says so.",
       "[compression](#compression), [two directories](#two-directories)"},
      {"progress", kSome, "off", "on",
       "A progress line on rank 0's standard error. In a log there is a line every five seconds, "
       "and later every 2 % of the elapsed time. Ranks may have different values.",
       "yes", "", "[on a cluster](cluster.md)"},
      {"resume", kSome, "off", "on",
       "Commit during the sweep, and resume from the newest commit that an earlier process of the "
       "same name left.",
       "true",
       "A program that resumes and does not call `anadrome_resumed` gets `ANADROME_ERR_ORDER` on "
       "all ranks.",
       "[going on after a kill](#going-on-after-a-kill), [on a cluster](cluster.md)"},
      {"checkpoint_interval", kSome, "60", "10min",
       "With `resume=on`: the time between two commits. 0 is a commit at every agreement.", "often",
       "A kill loses at most this time. In the forward sweep it also loses the time since the last "
       "anchor.",
       "[going on after a kill](#going-on-after-a-kill)"},
      {"compress", kSome, "off", "lz4",
       "How the I/O thread compresses states on disk. `lz4` keeps the bits of the gradient. "
       "`float32`, `round`, `zfp` and `lossy` (the quicker of `round` and `zfp`) change numbers. "
       "`float32` also shrinks states in memory. For `schedule=undo`, `lossy` leaves residuals "
       "out.",
       "gzip",
       "It costs time where the disk is fast. A build without LZ4 or zfp answers "
       "`ANADROME_ERR_UNSUPPORTED`.",
       "[compression](#compression), [which codec](how-to/compression.md)"},
      {"tolerance", kSome, "1e-6", "1e-4",
       "For `round`, `zfp` and `lossy`: by how much a number may change. It is relative to the "
       "largest magnitude that the field has in this state on this rank, fill values apart. A "
       "field can have an absolute one of its own (`anadrome_set_tolerance`). For `schedule=undo` "
       "with `compress=lossy`: the drift that is allowed.",
       "2", "With a large tolerance the gradient is wrong by as much: `probe=on` states it.",
       "[which tolerance](how-to/compression.md)"},
      {"layout", kSome, "shared", "node",
       "`shared`: one file for all ranks, on a file system that all nodes share. `node`: one per "
       "node. `rank`: one per rank. Of two directories it is the last one's; the fast one's is "
       "`node`, unless `FAST,HOME` says both.",
       "host",
       "Before a rank opens a file it looks for the run's lock in `directory`, for up to 10 s. If "
       "it finds a different directory, the result is `ANADROME_ERR_ARGUMENT`.",
       "[file systems](how-to/sites.md)"},
      {"trace", kSome, "off", "sweep.json",
       "At DONE rank 0 writes to this file what every rank did when, as Chrome trace JSON. "
       "`anadrome timeline` draws it. Each rank is a process with lanes for the solver, for I/O "
       "and, from the first pass on, for whole passes. At the end of a pass the file is written "
       "anew. Of more than 64 ranks it has 64: the two whose steps took the most and the least "
       "time, and others at equal distances.",
       "",
       "It uses 4 MB per rank besides `memory`. Beyond 100000 events per rank neighbours are "
       "merged, except around TURN. `anadrome_begin` fails if the file cannot be written.",
       "[in a notebook](getting-started-python.md#in-a-notebook), "
       "[ui.perfetto.dev](https://ui.perfetto.dev)"},
      {"audit", kSome, "error", "exact",
       "Compare fingerprints of states when they are first computed and when they are recomputed. "
       "Every schedule does so, in the first sweep at least once: its first two steps are run "
       "twice, unless one takes more than a minute. `error`: a difference is "
       "`ANADROME_ERR_NONDETERMINISTIC` on all ranks, or one warning if it is no more than "
       "rounding. `exact`: rounding is an error, too. `warn`: any difference is a warning.",
       "on",
       "With `off` a step that cannot be repeated gives a wrong gradient, and nobody notices.",
       "[verify](verify.md)"},

      {"device_memory", kFew, "0", "20GiB",
       "Bytes per rank in the memory of a device, for checkpoints of states whose fields are "
       "there. "
       "With 0 these lie in the host's memory. Exchanged fields on a device have their two states "
       "here, too.",
       "half",
       "If it is too little for one state, `anadrome_begin` is `ANADROME_ERR_MEMORY` and names the "
       "least number of bytes. It has no effect if no state field is on a device.",
       "[states on a GPU](how-to/devices.md)"},
      {"interval", kFew, "auto", "20",
       "For `async`: steps between anchors. `auto` chooses on the way, by what intervals of 1, 2, "
       "4, 8, .. steps are measured to take. For `undo` with `compress=lossy`: steps between "
       "states "
       "that are kept.",
       "0", "A bad interval makes the run slower; the gradient stays the same.",
       "[theory](theory-async.md)"},
      {"checkpoints", kFew, "unlimited", "8",
       "Most slots in memory that the schedule may use, an upper limit besides `memory`. A slot "
       "is room for one state. States on their way to disk are not counted: set `memory` to try a "
       "run with little of it. Where tapes are kept (`mixed`, `async`), they share the slots with "
       "the states. A tape occupies its bytes over those of a state, rounded up. With tapes of "
       "four states, `checkpoints=8` is two tapes, or one tape and four states.",
       "0",
       "`auto` takes `store_all` only where `checkpoints` is no less than the number of steps. No "
       "effect on `store_all` and on states of several sizes.",
       "[theory](theory.md)"},
      {"passes", kFew, "0", "12",
       "How many passes will follow the sweep. Above 0 every anchor is written, and states in RAM "
       "are dropped only where their slot is needed. `async` then chooses the interval with the "
       "least expected time of the sweep and all passes; it counts half of them as forward. `auto` "
       "takes `store_all` if the states fit, otherwise `async`.",
       "many", "", "[passes](how-to/passes.md)"},
      {"transport", kFew, "auto", "buffered",
       "`auto`: each rank's I/O thread reads and writes at byte offsets of the HDF5 files, with "
       "O_DIRECT where the file system supports it. `direct`: an error where it does not. "
       "`buffered`: through the page cache. `mpio`: H5Dwrite and H5Dread on the caller's thread, "
       "without overlap. One value holds for both of two directories; `FAST,HOME`.",
       "posix", "`mpio` requires one directory and `compress=off`.",
       "[storage](design/storage.md), [file systems](how-to/sites.md)"},
      {"bandwidth_limit", kFew, "none", "500MB/s",
       "Bytes per second of reading and of writing, per rank. One value holds for each of two "
       "directories; `FAST,HOME`.",
       "fast", "", "[file systems](how-to/sites.md)"},
      {"probe", kFew, "off", "on",
       "For `compress=lossy` and its codecs: every interval is reversed twice, and what the codec, "
       "or with `schedule=undo` the drift, does to the gradient is stated.",
       "1",
       "It takes as long as a second reverse sweep, and two copies of the adjoint fields; with "
       "`schedule=undo` a forward step more, and two copies of the state.",
       "[how to](how-to/compression.md), [undo](how-to/undo.md)"},
      {"gradient_error", kFew, "off", "1e-4",
       "For lossy codecs: a relative error that the gradient may have. The tolerance is changed "
       "between sweeps, so that the stated error is below that and not below a third of it. The "
       "error is found in sweeps 1, 2, 3, 5, 9, 17, ... of a run; with `probe=on` in all.",
       "1", "The first sweep may miss it: it has only `tolerance`.",
       "[how to](how-to/compression.md)"},
      {"keep", kFew, "off", "on",
       "Leave the files for readers. Every anchor is written, including the last ones.", "yes",
       "`compress` must be off, and there is one directory.", "[format](format.md)"},
      {"problem", kFew, "", "mesh7-nu0.01",
       "For `resume`: a text of yours, such as parameters and names of input files. It must be the "
       "same when a run resumes. The library does not know these values: if one of them changed, "
       "the gradient would mix two problems, and nothing would say so. At most 4096 characters.",
       "", "A different text is `ANADROME_ERR_ARGUMENT`: the files belong to another problem.",
       "[going on after a kill](#going-on-after-a-kill)"},
      {"sweep", kFew, "1", "5",
       "For `resume`: the number of the run's first sweep, for a program that restores its own "
       "outer loop.",
       "0", "Files of another sweep are not used.",
       "[going on after a kill](#going-on-after-a-kill)"},
      {"watchdog", kFew, "0", "10min",
       "A rank that gives no sign of life for this long is named on standard error. Another line "
       "says when it answers again. With `10min,abort` all ranks end their processes, and so the "
       "job ends. 0: no watchdog.",
       "10min,kill",
       "With a watchdog even a schedule without disk has a directory, which all ranks must see.",
       "[ranks that stop answering](reliability.md#ranks-that-stop-answering)"},
      {"wait_for_lock", kFew, "0", "3min",
       "How long `anadrome_begin` waits while another process holds the directory: one that lives "
       "on this host (a job that is restarted at once finds the ranks of the one before), or one "
       "on "
       "another host whose heartbeat is less than 120 s old. A line on standard error names the "
       "holder.",
       "long", "If this is still so when the time is up, the result is `ANADROME_ERR_BUSY`.",
       "[how a live run is known](reliability.md#one-live-run-per-name)"},
  };
  return all;
}

}  // namespace anadrome::tool
