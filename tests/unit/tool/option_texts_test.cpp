// SPDX-License-Identifier: BSD-2-Clause
#include "tool/run_options/option_texts.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>

#include "engine/asked/options.h"
#include "tool/runs/segments/isolated.h"

namespace anadrome::tool {
namespace {

using engine::Options;

std::map<std::string, std::string> values(const Options& options, bool and_local = true) {
  const auto all = options.shared_values(and_local);
  return {all.begin(), all.end()};
}

Options with(std::string_view name, std::string_view value) {
  Options options;
  options.set(name, value);
  return options;
}

TEST(OptionTexts, NameEachOptionOnceWithItsDefaultAndAnExampleThatChangesIt) {
  const auto presets = values(Options()), shared = values(Options(), false);
  auto left = presets;
  for (const OptionText& option : option_texts()) {
    const std::string name(option.name);
    EXPECT_EQ(left.erase(name), 1) << name;
    EXPECT_EQ(values(with(name, option.preset)), presets) << name;
    EXPECT_NE(values(with(name, option.example)).at(name), presets.at(name)) << name;
    EXPECT_EQ(option.meaning.find("Ranks may have different") != std::string_view::npos,
              !shared.contains(name))
        << name;
  }
  EXPECT_TRUE(left.empty()) << left.begin()->first;
}

TEST(OptionTexts, ThePageHasFourThenTenAndWhatTheLibraryAnswersToAWrongValue) {
  const auto of = [](Layer layer) {
    return std::count_if(option_texts().begin(), option_texts().end(),
                         [=](const OptionText& option) { return option.layer == layer; });
  };
  EXPECT_EQ(of(Layer::kEverybody), 4);
  EXPECT_EQ(of(Layer::kSome), 10);
  const std::string page = options_page();
  EXPECT_NE(page.find("'revolv' is not one of auto, store_all"), std::string::npos);
  EXPECT_EQ(page.find("### memory"), page.find("### "));
}

TEST(InChild, HasLimitsOfTimeAndMemory) {
  const std::string limits = in_child("file", 3, [] {
    rlimit cpu{}, memory{};
    ::getrlimit(RLIMIT_CPU, &cpu);
    ::getrlimit(RLIMIT_AS, &memory);
    return std::to_string(cpu.rlim_max) + " s of work, of " + std::to_string(::alarm(0)) + ", in " +
           std::to_string(memory.rlim_max >> 30) + " GiB";
  });
  EXPECT_EQ(limits, "3 s of work, of 60, in 4 GiB");
}

}  // namespace
}  // namespace anadrome::tool
