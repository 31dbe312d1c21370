// SPDX-License-Identifier: BSD-2-Clause
#include "engine/asked/options.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/text_out.h"
#include "base/words.h"
#include "store/files/file_system.h"

namespace anadrome::engine {
namespace {

template <class Value>
using Names = std::vector<std::pair<std::string_view, Value>>;

const Names<bool> kSwitch = {{"on", true}, {"off", false}};
const Names<Audit> kAudits = {{"off", Audit::kOff},
                              {"warn", Audit::kWarn},
                              {"error", Audit::kError},
                              {"exact", Audit::kExact}};
const Names<Layout> kLayouts = {
    {"shared", Layout::kShared}, {"node", Layout::kNode}, {"rank", Layout::kRank}};

using store::CodecName, store::TransportName;
const Names<TransportName> kTransports = {{"auto", TransportName::kAuto},
                                          {"direct", TransportName::kDirect},
                                          {"buffered", TransportName::kBuffered},
                                          {"mpio", TransportName::kMpio}};
const Names<store::Codecs> kCodecs = {{"off", {}},
                                      {"lz4", {CodecName::kLz4}},
                                      {"lossy", {CodecName::kRound, CodecName::kZfp}},
                                      {"float32", {CodecName::kFloat32}},
                                      {"round", {CodecName::kRound}},
                                      {"zfp", {CodecName::kZfp}}};

bool is_word(std::string_view text, std::string_view word) {
  return in_small_letters(text) == word;
}

template <class Value>
Value one_of(const Names<Value>& names, std::string_view text) {
  const std::string word = in_small_letters(text);
  std::string all;
  for (const auto& [name, value] : names) {
    if (name == word) return value;
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(ANADROME_ERR_ARGUMENT, "'" + std::string(text) + "' is not one of " + all);
}

// Those of them that this build has.
store::Codecs codecs(std::string_view text) {
  store::Codecs built = one_of(kCodecs, text);
  const bool any = !built.empty();
  std::erase_if(built, [](CodecName name) { return !store::is_built(name); });
  if (!any || !built.empty()) return built;
  const bool zfp = is_word(text, "zfp");
  throw Error(ANADROME_ERR_UNSUPPORTED, "'" + std::string(text) + "' takes " +
                                            (zfp ? "zfp" : "LZ4") +
                                            ", which this build of anadrome is without (Debian: " +
                                            (zfp ? "libzfp-dev" : "liblz4-dev") + ")");
}

template <class Value>
const char* name_of(const Names<Value>& names, Value value) {
  for (const auto& [name, named] : names) {
    if (named == value) return name.data();
  }
  return "?";
}

const schedule::Entry* schedule_named(std::string_view text) {
  const std::string word = in_small_letters(text);
  if (word == "auto") return nullptr;
  if (const schedule::Entry* const entry = schedule::find_schedule(word)) return entry;
  std::string all = "auto";
  for (const schedule::Entry& each : schedule::catalogue()) all += std::string(", ") + each.name;
  const auto streams = schedule::names_of_streams();
  if (std::find(streams.begin(), streams.end(), word) == streams.end()) {
    throw Error(ANADROME_ERR_ARGUMENT, "'" + std::string(text) + "' is not one of " + all);
  }
  throw Error(ANADROME_ERR_ARGUMENT,
              "a run plays " + all + "; " + word +
                  " is a stream: anadrome_schedule_open gives its actions (anadrome/schedule.h), "
                  "and anadrome plan compares it");
}

std::int64_t positive(std::string_view text, const char* or_else = "") {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "'" + std::string(text) + "' is not a positive number" + or_else);
  }
  return value;
}

std::string file_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (text.empty() || text.size() > 100 || text.front() == '.' ||
      !std::all_of(text.begin(), text.end(), allowed)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "'" + std::string(text) + "' is not 1 to 100 of letters, digits, '_', '-' and '.'");
  }
  return std::string(text);
}

std::string short_text(std::string_view text) {
  constexpr std::size_t kMost = 4096;
  if (text.size() > kMost) throw Error(ANADROME_ERR_ARGUMENT, "more than 4096 characters");
  return std::string(text);
}

double tolerance(std::string_view text, const char* or_else = "") {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0 && value < 1)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "'" + std::string(text) + "' is not a number above 0 and below 1" + or_else);
  }
  return value;
}

double seconds(std::string_view text) {
  constexpr double kMost = 1e9;
  const double value = parse_seconds(text);
  if (value > kMost) throw Error(ANADROME_ERR_ARGUMENT, "more than 1e9 seconds");
  return value;
}

std::string off_or_file(std::string_view text, const char* wanted) {
  if (text.empty()) throw Error(ANADROME_ERR_ARGUMENT, wanted);
  return is_word(text, "off") ? "off" : std::string(text);
}

// Both values; one of them where they are the same.
std::string two_values(const std::string& fast, const std::string& home) {
  return fast == home ? home : fast + "," + home;
}

std::int64_t bytes_or_unlimited(std::string_view text) {
  return in_small_letters(text) == "unlimited" ? -1 : parse_bytes(text);
}

std::int64_t rate_or_none(std::string_view text) {
  return in_small_letters(text) == "none" ? 0 : parse_rate(text);
}

// The option without which an option has no effect.
enum class Wants { kNothing, kDisk, kDiskOrSlots, kTolerance, kIntervals, kPlaces, kResume };

const Names<Wants> kReasons = {
    {"no state goes to disk", Wants::kDisk},
    {"no state goes to disk, and those in memory are kept as they are", Wants::kDiskOrSlots},
    {"compress is neither round, zfp nor lossy", Wants::kTolerance},
    {"this schedule has no intervals", Wants::kIntervals},
    {"the number of states in memory is the schedule's", Wants::kPlaces},
    {"resume is off", Wants::kResume}};

bool has(Wants wanted, const Options& options, const schedule::Entry& played, bool single) {
  switch (wanted) {
    case Wants::kDisk:
      return played.needs.on_disk != schedule::OnDisk::kNothing;
    case Wants::kDiskOrSlots:
      return single || has(Wants::kDisk, options, played, single);
    case Wants::kTolerance:  // a lossy sweep of states that are undone has no codec below it
      return options.has_tolerance() || (played.needs.undo && options.compress.empty());
    case Wants::kIntervals:
      return played.at_intervals;
    case Wants::kPlaces:
      return !played.keeps_every_state();
    case Wants::kResume:
      return options.resume;
    case Wants::kNothing:
      break;
  }
  return true;
}

// One row per key: how it is read, how it is written for comparisons, and what it is good for.
struct Key {
  std::string_view name;
  std::function<void(Options&, std::string_view)> read;
  std::function<std::string(const Options&)> write;
  Wants wants = Wants::kNothing;
  bool local = false;  // may differ between ranks
};

// Rows of options that are read and written alike.

template <class Value>
Key word(std::string_view name, Value Options::*option, const Names<Value>& names,
         Wants wants = Wants::kNothing, bool local = false) {
  return {name, [option, &names](Options& o, std::string_view v) { o.*option = one_of(names, v); },
          [option, &names](const Options& o) { return std::string(name_of(names, o.*option)); },
          wants, local};
}

// A positive number, or a word that is `otherwise`.
Key number(std::string_view name, std::int64_t Options::*option, std::string_view word_for,
           std::int64_t otherwise, Wants wants = Wants::kNothing) {
  return {name,
          [=](Options& o, std::string_view v) {
            const std::string or_else = " or " + std::string(word_for);
            o.*option = is_word(v, word_for) ? otherwise : positive(v, or_else.c_str());
          },
          [option](const Options& o) { return std::to_string(o.*option); }, wants};
}

Key duration(std::string_view name, double Options::*option, Wants wants = Wants::kNothing) {
  return {name, [option](Options& o, std::string_view v) { o.*option = seconds(v); },
          [option](const Options& o) { return std::to_string(o.*option); }, wants};
}

Key file(std::string_view name, std::string Options::*option, const char* wanted, bool local) {
  return {name, [=](Options& o, std::string_view v) { o.*option = off_or_file(v, wanted); },
          [option](const Options& o) { return o.*option; }, Wants::kNothing, local};
}

const std::vector<Key>& keys() {
  static const std::vector<Key> all = {
      {"memory", [](Options& o, std::string_view v) { o.memory = parse_bytes(v); },
       [](const Options& o) { return std::to_string(o.memory); }},
      {"device_memory",
       [](Options& o, std::string_view v) { o.device_memory = v == "0" ? 0 : parse_bytes(v); },
       [](const Options& o) { return std::to_string(o.device_memory); }},
      {"directory",
       [](Options& o, std::string_view v) {
         const TwoWords names = two_words(v);
         if (names.last.empty() || names.first.empty())
           throw Error(ANADROME_ERR_ARGUMENT, "a directory cannot be empty");
         o.directory = names.last;
         o.fast.directory = names.are_two ? names.first : "";
       },
       [](const Options& o) {
         const std::string home = with_commas_escaped(o.directory);
         return o.has_fast() ? with_commas_escaped(o.fast.directory) + "," + home : home;
       },
       Wants::kNothing, true},  // node-local directories may have names of their own
      {"name", [](Options& o, std::string_view v) { o.name = file_name(v); },
       [](const Options& o) { return o.name; }},
      duration("wait_for_lock", &Options::wait_for_lock),
      {"transport",
       [](Options& o, std::string_view v) {
         const TwoWords words = two_words(v);
         o.transport = one_of(kTransports, words.last);
         o.fast.transport = one_of(kTransports, words.first);
       },
       [](const Options& o) {
         return two_values(name_of(kTransports, o.fast.transport),
                           name_of(kTransports, o.transport));
       },
       Wants::kDisk},
      {"disk",
       [](Options& o, std::string_view v) {
         const TwoWords bytes = two_words(v);
         o.disk = bytes_or_unlimited(bytes.last);
         o.fast.has_disk = bytes.are_two;
         o.fast.disk = bytes.are_two ? bytes_or_unlimited(bytes.first) : -1;
       },
       [](const Options& o) {
         const std::string home = std::to_string(o.disk);
         return o.fast.has_disk ? std::to_string(o.fast.disk) + "," + home : home;
       },
       Wants::kDisk},
      {"layout",
       [](Options& o, std::string_view v) {
         const TwoWords names = two_words(v);
         o.layout = one_of(kLayouts, names.last);
         o.fast.layout = one_of(kLayouts, names.first);
         o.fast.has_layout = names.are_two;
       },
       [](const Options& o) {
         const std::string home = to_string(o.layout);
         return o.fast.has_layout ? std::string(to_string(o.fast.layout)) + "," + home : home;
       },
       Wants::kDisk},
      {"schedule", [](Options& o, std::string_view v) { o.schedule = schedule_named(v); },
       [](const Options& o) { return std::string(to_string(o.schedule)); }},
      number("interval", &Options::interval, "auto", 0, Wants::kIntervals),
      number("checkpoints", &Options::checkpoints, "unlimited", -1, Wants::kPlaces),
      number("passes", &Options::passes, "0", 0),
      {"bandwidth_limit",
       [](Options& o, std::string_view v) {
         const TwoWords rates = two_words(v);
         o.bandwidth_limit = rate_or_none(rates.last);
         o.fast.bandwidth_limit = rate_or_none(rates.first);
       },
       [](const Options& o) {
         return two_values(std::to_string(o.fast.bandwidth_limit),
                           std::to_string(o.bandwidth_limit));
       },
       Wants::kDisk},
      {"compress", [](Options& o, std::string_view v) { o.compress = codecs(v); },
       [](const Options& o) { return o.codec(); }, Wants::kDiskOrSlots},
      {"tolerance", [](Options& o, std::string_view v) { o.tolerance = tolerance(v); },
       [](const Options& o) { return format_in_full(o.tolerance); }, Wants::kTolerance},
      word("probe", &Options::probe, kSwitch, Wants::kTolerance),
      {"gradient_error",
       [](Options& o, std::string_view v) {
         o.gradient_error = is_word(v, "off") ? 0 : tolerance(v, ", or off");
       },
       [](const Options& o) { return format_in_full(o.gradient_error); }, Wants::kTolerance},
      word("keep", &Options::keep, kSwitch, Wants::kDisk),
      word("resume", &Options::resume, kSwitch),
      duration("checkpoint_interval", &Options::checkpoint_interval, Wants::kResume),
      {"problem", [](Options& o, std::string_view v) { o.problem = short_text(v); },
       [](const Options& o) { return o.problem; }, Wants::kResume},
      {"sweep", [](Options& o, std::string_view v) { o.sweep = positive(v); },
       [](const Options& o) { return std::to_string(o.sweep); }, Wants::kResume},
      word("audit", &Options::audit, kAudits),
      {"watchdog",
       [](Options& o, std::string_view v) {
         const TwoWords words = two_words(v);
         if (words.are_two && !is_word(words.last, "abort")) {
           throw Error(ANADROME_ERR_ARGUMENT,
                       "'" + words.last + "' is not abort, which is all that may follow the time");
         }
         o.watchdog = seconds(words.first);
         o.watchdog_aborts = words.are_two;
       },
       [](const Options& o) {
         return std::to_string(o.watchdog) + (o.watchdog_aborts ? ",abort" : "");
       }},
      word("progress", &Options::progress, kSwitch, Wants::kNothing, true),
      file("trace", &Options::trace, "write off or a file name", false),
      file("report", &Options::report, "write off, - or a file name", true),
  };
  return all;
}

const Key& key_named(std::string_view name) {
  const auto& all = keys();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Key& k) { return k.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string_view> names;
  for (const Key& known : all) names.push_back(known.name);
  throw Error(ANADROME_ERR_ARGUMENT, "there is no option '" + std::string(name) +
                                         "'; the nearest is '" + std::string(nearest(names, name)) +
                                         "'");
}

void read(Options& options, const Key& key, std::string_view value) {
  try {
    key.read(options, value);
  } catch (const Error& error) {
    throw Error(error.status(), "option " + std::string(key.name) + ": " + error.what());
  }
}

// A value that sets another option was meant to be two settings.
void refuse_comma(const Key& key, std::string_view value) {
  for (const Key& other : keys()) {
    if (value.find("," + std::string(other.name) + "=") == std::string_view::npos) continue;
    throw Error(ANADROME_ERR_ARGUMENT, "option " + std::string(key.name) + ": '" +
                                           std::string(value) +
                                           "' has a comma before another option; a space is what "
                                           "separates options");
  }
}

std::string in_one_spelling(const Key& key, std::string_view value) {
  Options options;
  key.read(options, value);
  return key.write(options);
}

}  // namespace

void Options::set(std::string_view key, std::string_view value) {
  const Key& known = key_named(key);
  std::optional<std::string>& text = texts_[std::string(key)].program;
  std::string copy(value);
  read(*this, known, value);
  text = std::move(copy);
}

void Options::set_environment(std::string_view text) {
  each_setting(text, [this](std::string_view key, std::string_view value) {
    refuse_comma(key_named(key), value);
    read(*this, key_named(key), value);
    texts_[std::string(key)].environment = value;
  });
}

void Options::fix_paths() {
  for (std::string* const path : {&directory, &fast.directory, &report, &trace}) {
    if (!path->empty() && *path != "off" && *path != "-") *path = store::absolute_path(*path);
  }
}

Options Options::of_fast() const {
  Options options = *this;
  options.directory = fast.directory;
  options.disk = fast.disk;
  options.layout = fast_layout();
  options.transport = fast.transport;
  options.bandwidth_limit = fast.bandwidth_limit;
  options.watchdog = 0;
  options.fast = {};
  return options;
}

void Options::require_fit() const {
  const auto refuse = [](const std::string& why) { throw Error(ANADROME_ERR_ARGUMENT, why); };
  if (keep && !compress.empty())
    refuse("keep=on leaves files for readers, which know no compress=" + codec() +
           ": set one of them to off");
  if (!has_fast()) {
    if (has_two_values())
      refuse(
          "disk, layout, transport or bandwidth_limit has two values, and directory has one: set "
          "directory=FAST,HOME");
    return;
  }
  if (disk >= 0 && !fast.has_disk)
    refuse("directory has two values, and disk=" + std::to_string(disk) +
           " has one: set disk=FAST,HOME, either of which may be unlimited");
  if (keep) refuse("keep=on leaves files in one directory, and directory has two");
  if (mpio() || fast.transport == TransportName::kMpio)
    refuse("transport=mpio writes to one directory, and directory has two");
}

bool Options::has_tolerance() const { return store::has_tolerance(compress); }
bool Options::is_lossy() const { return store::is_lossy(compress); }

std::string Options::codec() const { return name_of(kCodecs, compress); }

std::string Options::overruled() const {
  std::string text;
  for (const auto& [key_name, texts] : texts_) {
    if (!texts.environment || !texts.program) continue;
    const Key& key = key_named(key_name);
    if (in_one_spelling(key, *texts.environment) == in_one_spelling(key, *texts.program)) continue;
    text += (text.empty() ? "" : "; ") + key_name + "=" + *texts.program +
            " of the program counts, not " + *texts.environment + " of ANADROME_OPTIONS";
  }
  return text;
}

std::string Options::without_effect(const schedule::Entry& played, bool single) const {
  std::string text;
  const Options unset;
  for (const auto& [reason, wanted] : kReasons) {
    if (has(wanted, *this, played, single)) continue;
    std::string names;
    for (const Key& key : keys()) {
      if (key.wants != wanted || key.write(*this) == key.write(unset)) continue;
      names += (names.empty() ? "" : ", ") + std::string(key.name);
    }
    if (names.empty()) continue;
    text += (text.empty() ? "" : "; ") + names + ": " + std::string(reason);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> Options::shared_values(bool and_local) const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Key& key : keys()) {
    if (and_local || !key.local) values.emplace_back(key.name, key.write(*this));
  }
  return values;
}

const char* to_string(const schedule::Entry* schedule) {
  return schedule != nullptr ? schedule->name : "auto";
}
const char* to_string(Layout layout) { return name_of(kLayouts, layout); }

}  // namespace anadrome::engine
