// Which states are audited, and what comes of a difference.
#include "engine/audit.h"

#include <gtest/gtest.h>

#include "desk.h"

namespace anadrome::engine {
namespace {

// After an anchor at every tenth step.
schedule::AnchorList anchors(std::int64_t count) {
  schedule::AnchorList list;
  for (std::int64_t number = 0; number < count; ++number) list.append(10 * number);
  return list;
}

TEST(Audits, LookAtTheStateBeforeTheNextAnchor) {
  alone(64, 0, [](Desk& desk) {
    const Audits audits(desk.context);
    ScriptedSweep sweep;
    sweep.list = anchors(3);
    EXPECT_EQ(audits.next_step(sweep), schedule::kUnknown) << "no anchor follows";
    sweep.ahead = 30;
    EXPECT_EQ(audits.next_step(sweep), 29);
    sweep.ahead = 21;
    EXPECT_EQ(audits.next_step(sweep), schedule::kUnknown) << "x_20 is an anchor itself";
    sweep.ahead = 30;
    desk.options.audit = Audit::kOff;
    EXPECT_EQ(audits.next_step(sweep), schedule::kUnknown);
  });
}

TEST(Audits, LookAtFewStatesUnlessADifferenceIsAnError) {
  alone(64, 0, [](Desk& desk) {
    const Audits audits(desk.context);
    std::vector<std::int64_t> looked;
    ScriptedSweep sweep;
    const auto looks = [&](std::int64_t number) {
      sweep.list = anchors(number);
      sweep.ahead = 10 * number;
      return audits.next_step(sweep) == sweep.ahead - 1;
    };
    for (std::int64_t number = 1; number < 40; ++number) {
      if (looks(number)) looked.push_back(number);
    }
    EXPECT_EQ(looked, (std::vector<std::int64_t>{1, 2, 3, 4, 16, 32}));
    desk.options.audit = Audit::kError;
    EXPECT_TRUE(looks(17));
  });
}

TEST(Audits, CompareAStateWithItselfOnce) {
  for (const Audit audit : {Audit::kWarn, Audit::kError}) {
    alone(64, 0, [&](Desk& desk) {
      desk.options.audit = audit;
      desk.begin("revolve", 10);
      const LiveState& live = *desk.keeper.live();
      const Failure& found = desk.context.sweep.audit_failure;
      Audits audits(desk.context);
      for (const std::int64_t step : {3, 4}) {
        desk.step_to(step);
        audits.note(step, live);
      }
      audits.check(4, live);
      audits.check(5, live);
      EXPECT_FALSE(found) << "it is the same, and x_5 was not noted";
      audits.check(3, live);
      EXPECT_EQ(found.status, ANADROME_ERR_NONDETERMINISTIC);
      EXPECT_NE(found.message.find("the state of step 3 "), std::string::npos) << found.message;
      EXPECT_EQ(static_cast<bool>(desk.context.held.failure()), audit == Audit::kError);
      audits.check(4, live);
      desk.context.sweep.audit_failure = {};
      audits.check(3, live);
      EXPECT_FALSE(found);
    });
  }
}

}  // namespace
}  // namespace anadrome::engine
