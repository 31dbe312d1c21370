// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/settings/settings.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/byte_size.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/text_out.h"
#include "base/words.h"
#include "store/files/file_system.h"

namespace anadrome::petsc {
namespace {

constexpr std::string_view kPrefix = "-ts_trajectory_anadrome_";

// A memory checkpoint holds a state, so PETSc's unit (one vector) and its checkpoint (a solution,
// with or without stages) both are one here.
template <PetscInt Settings::*kNumber>
PetscErrorCode set_number(TSTrajectory tj, PetscInt number) {
  PetscFunctionBegin;
  settings_of(tj).*kNumber = number;
  settings_of(tj).changed = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc's own options of numbers, and the functions that set the same.
struct Number {
  const char *option, *meaning, *function;
  PetscInt Settings::*number;
  PetscErrorCode (*set)(TSTrajectory, PetscInt);
};
constexpr Number kNumbers[] = {
    {"-ts_trajectory_max_cps_ram", "Maximum number of checkpoints in RAM",
     "TSTrajectorySetMaxCpsRAM", &Settings::checkpoints, set_number<&Settings::checkpoints>},
    {"-ts_trajectory_max_units_ram", "Maximum number of checkpointing units in RAM",
     "TSTrajectorySetMaxUnitsRAM", &Settings::checkpoints, set_number<&Settings::checkpoints>},
    {"-ts_trajectory_max_cps_disk", "Maximum number of checkpoints on disk",
     "TSTrajectorySetMaxCpsDisk", &Settings::anchors, set_number<&Settings::anchors>},
    {"-ts_trajectory_max_units_disk", "Maximum number of checkpointing units on disk",
     "TSTrajectorySetMaxUnitsDisk", &Settings::anchors, set_number<&Settings::anchors>},
    {"-ts_trajectory_stride", "Steps between checkpoints on disk", "", &Settings::stride, nullptr}};

PetscErrorCode read_keys(OptionItems PetscOptionsObject, Settings* settings) {
  PetscFunctionBegin;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const std::string option = std::string(kPrefix) + kKeys[i].name;
    const char* now =
        settings->values[i].empty() ? kKeys[i].byDefault : settings->values[i].c_str();
    char text[PETSC_MAX_PATH_LEN];
    PetscBool given = PETSC_FALSE;
    PetscCall(PetscOptionsString(option.c_str(), kKeys[i].meaning, "anadrome_set", now, text,
                                 sizeof text, &given));
    if (given == PETSC_FALSE) continue;
    PetscCheck(text[0] != '\0', PetscOptionsObject->comm, PETSC_ERR_ARG_WRONG, "%s needs a value",
               option.c_str());
    settings->values[i] = text;
    settings->changed = true;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A misspelt one would do nothing, and nobody would be told.
PetscErrorCode refuse_unknown(OptionItems PetscOptionsObject) {
  PetscInt count = 0;
  char** names = nullptr;
  PetscFunctionBegin;
  const char* const prefix = PetscOptionsObject->prefix;
  const std::string ours = (prefix == nullptr ? "" : prefix) + std::string(kPrefix.substr(1));
  PetscCall(PetscOptionsLeftGet(PetscOptionsObject->options, &count, &names, nullptr));
  char** const unknown = std::find_if(names, names + count, [&](const char* name) {
    return std::string_view(name).substr(0, ours.size()) == ours;
  });
  const std::string name = unknown == names + count ? "" : *unknown;
  PetscCall(PetscOptionsLeftRestore(PetscOptionsObject->options, &count, &names, nullptr));
  if (name.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  std::vector<std::string_view> keys = {"replay_tolerance", "set_aside", "steps"};
  for (const Key& key : kKeys) keys.emplace_back(key.name);
  std::string all;
  for (const std::string_view key : keys) all += (all.empty() ? "" : ", ") + std::string(key);
  const std::string_view meant = nearest(keys, std::string_view(name).substr(ours.size()));
  SETERRQ(PetscOptionsObject->comm, PETSC_ERR_ARG_UNKNOWN_TYPE,
          "there is no option -%s; the nearest is -%s%s; after -%s may come %s", name.c_str(),
          ours.c_str(), meant.data(), ours.c_str(), all.c_str());
}

}  // namespace

std::size_t Settings::index_of(const char* name) {
  const auto at = std::find_if(kKeys.begin(), kKeys.end(), [name](const Key& key) {
    return key.name == std::string_view(name);
  });
  return static_cast<std::size_t>(at - kKeys.begin());
}

const std::string& Settings::value(const char* name) const { return values[index_of(name)]; }

std::string Settings::value_or_environment(const char* name) const {
  return value(name).empty() ? from_environment(name) : value(name);
}

void Settings::fix_files() {
  for (const char* key : {"report", "trace"}) {
    const std::string path = value_or_environment(key);
    if (path.empty() || path == "off" || path == "-") continue;
    values[index_of(key)] = store::absolute_path(path);
  }
}

// What is neither is the library's to refuse.
bool Settings::keeps_files() const {
  const std::string text = value_or_environment("keep");
  return !text.empty() && text != "off";
}

double Settings::commit_interval() const {
  const std::string text = value_or_environment("checkpoint_interval");
  return text.empty() ? 60 : parse_seconds(text);
}

std::string Settings::audit() const {
  const std::string text = value_or_environment("audit");
  return text.empty() ? "error" : text;
}

std::vector<std::pair<std::string, std::string>> words_of_environment() {
  const char* text = std::getenv("ANADROME_OPTIONS");
  std::istringstream words(text == nullptr ? "" : text);
  std::vector<std::pair<std::string, std::string>> found;
  for (std::string word; words >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size());
    found.emplace_back(word.substr(0, equals), word.substr(std::min(equals + 1, word.size())));
  }
  return found;
}

bool sets_another_option(const std::string& value) {
  return std::ranges::any_of(kKeys, [&](const Key& key) {
    return value.find("," + std::string(key.name) + "=") != std::string::npos;
  });
}

std::string from_environment(const char* key) {
  for (const auto& [name, value] : words_of_environment())
    if (name == key) return value;
  return "";
}

std::int64_t hash_of_environment() {
  const char* text = std::getenv("ANADROME_OPTIONS");
  std::istringstream words(text == nullptr ? "" : text);
  std::string shared;
  for (std::string word; words >> word;) {
    if (!word.starts_with("directory=")) shared += word + " ";
  }
  return static_cast<std::int64_t>(hash_of(shared));
}

std::int64_t hash_of_settings(const Settings& settings) {
  std::string shared = std::to_string(settings.set_aside) + " " + std::to_string(settings.steps);
  for (const Number& each : kNumbers) shared += " " + std::to_string(settings.*each.number);
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    constexpr std::array kOfOneRank = {"directory", "keep", "progress", "report", "trace"};
    const bool shares = std::ranges::none_of(
        kOfOneRank, [&](std::string_view name) { return name == kKeys[i].name; });
    if (shares) shared += "\n" + settings.values[i];
  }
  return static_cast<std::int64_t>(hash_of(shared));
}

PetscErrorCode memory_asked(const Settings& settings, std::int64_t* bytes) {
  PetscFunctionBegin;
  const std::string text = settings.value_or_environment("memory");
  *bytes = std::int64_t{1} << 30;
  if (text.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  try {
    *bytes = parse_bytes(text);
  } catch (const Error& error) {
    const bool set = !settings.value("memory").empty();
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s: %s",
            set ? "-ts_trajectory_anadrome_memory" : "ANADROME_OPTIONS: option memory",
            error.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_settings(OptionItems PetscOptionsObject, Settings* settings) {
  char text[64];
  PetscBool given = PETSC_FALSE;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "anadrome: asynchronous, bounded-memory trajectories");
  PetscCall(read_keys(PetscOptionsObject, settings));
  PetscCall(PetscOptionsReal("-ts_trajectory_anadrome_replay_tolerance",
                             "difference, relative to the solution, at which a step that is run "
                             "again counts as another one",
                             nullptr, settings->tolerance, &settings->tolerance, nullptr));
  PetscCheck(settings->tolerance >= 0, PetscOptionsObject->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-ts_trajectory_anadrome_replay_tolerance is %s; it is a number from 0 on",
             format_in_full(static_cast<double>(settings->tolerance)).c_str());
  PetscCall(PetscOptionsString("-ts_trajectory_anadrome_set_aside",
                               "part of memory for records at events and ends of TSSolve", nullptr,
                               "16 records or 16MiB, at most a quarter", text, sizeof text,
                               &given));
  if (given == PETSC_TRUE) {
    try {
      settings->set_aside = parse_bytes(text);
    } catch (const Error& error) {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "-ts_trajectory_anadrome_set_aside: %s",
              error.what());
    }
    settings->changed = true;
  }
  PetscCall(PetscOptionsInt("-ts_trajectory_anadrome_steps",
                            "steps from the first record to the last one, if that is known: "
                            "schedules may rely on it",
                            nullptr, settings->steps, &settings->steps, &given));
  PetscCheck(given == PETSC_FALSE || settings->steps > 0, PetscOptionsObject->comm,
             PETSC_ERR_ARG_OUTOFRANGE,
             "-ts_trajectory_anadrome_steps is %" PetscInt_FMT "; it is a number from 1 on",
             settings->steps);
  for (const Number& each : kNumbers) {
    PetscInt* const number = &(settings->*each.number);
    PetscCall(PetscOptionsInt(each.option, each.meaning, each.function, *number, number, &given));
    settings->changed = settings->changed || given == PETSC_TRUE;
  }
  PetscCall(refuse_unknown(PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compose_settings(TSTrajectory tj, bool there) {
  PetscFunctionBegin;
  for (const Number& each : kNumbers) {
    if (each.set == nullptr) continue;
    const std::string name = std::string(each.function) + "_C";
    PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(tj), name.c_str(),
                                         there ? each.set : nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc
