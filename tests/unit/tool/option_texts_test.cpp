// SPDX-License-Identifier: BSD-2-Clause
#include "tool/run_options/option_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "engine/asked/options.h"

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

TEST(OptionTexts, NameEachOptionOnceAndNothingElse) {
  auto left = values(Options());
  for (const OptionText& option : option_texts())
    EXPECT_EQ(left.erase(std::string(option.name)), 1) << option.name;
  EXPECT_TRUE(left.empty()) << left.begin()->first;
}

TEST(OptionTexts, GiveTheDefaultsThatRunsHave) {
  for (const OptionText& option : option_texts()) {
    EXPECT_EQ(values(with(option.name, option.preset)), values(Options())) << option.name;
  }
}

TEST(OptionTexts, GiveExamplesThatChangeThatOption) {
  for (const OptionText& option : option_texts()) {
    const std::string name(option.name);
    EXPECT_NE(values(with(name, option.example))[name], values(Options())[name]) << name;
  }
}

TEST(OptionTexts, SayWhichOptionsMayDifferBetweenRanks) {
  const auto shared = values(Options(), false);
  for (const OptionText& option : option_texts()) {
    EXPECT_EQ(option.meaning.find("Ranks may have different") != std::string_view::npos,
              !shared.contains(std::string(option.name)))
        << option.name;
  }
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

}  // namespace
}  // namespace anadrome::tool
