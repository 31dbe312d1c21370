// Which states are audited, and what comes of a difference.
#include "engine/audit.h"

#include <gtest/gtest.h>

#include "desk.h"

namespace anadrome::engine {
namespace {

TEST(Audits, LookAtTheStateBeforeTheNextAnchorNotAlwaysUnlessItIsAnError) {
  LoneDesk desk;
  const Audits audits(desk.context);
  ScriptedSweep sweep;
  EXPECT_EQ(audits.next_step(sweep), schedule::kUnknown) << "no anchor follows";
  std::vector<std::int64_t> looked;
  for (std::int64_t number = 1; number < 40; ++number) {
    sweep.list.append(10 * (number - 1));
    sweep.facts.anchor_ahead = 10 * number;
    if (audits.next_step(sweep) == sweep.facts.anchor_ahead - 1) looked.push_back(number);
  }
  EXPECT_EQ(looked, (std::vector<std::int64_t>{1, 2, 3, 4, 16, 32}));
  desk.options.audit = Audit::kError;
  EXPECT_EQ(audits.next_step(sweep), 389);
  sweep.facts.anchor_ahead = 381;
  EXPECT_EQ(audits.next_step(sweep), schedule::kUnknown) << "x_380 is an anchor itself";
}

TEST(Audits, CompareAStateWithItselfOnce) {
  for (const Audit audit : {Audit::kWarn, Audit::kError}) {
    LoneDesk desk;
    desk.options.audit = audit;
    desk.begin("revolve", 10);
    const LiveState& live = *desk.keeper.live();
    Audits audits(desk.context);
    for (const std::int64_t step : {3, 4}) {
      desk.step_to(step);
      audits.note(step, live);
    }
    audits.check(4, live);
    desk.step_to(5);
    audits.check(5, live);
    audits.check(4, live);
    EXPECT_FALSE(desk.sweep.audit_failure) << "x_5 was not noted, x_4 was the same";
    audits.check(3, live);
    EXPECT_EQ(desk.sweep.audit_failure.status, ANADROME_ERR_NONDETERMINISTIC);
    EXPECT_TRUE(desk.sweep.audit_failure.message.starts_with("the state of step 3 is not"));
    EXPECT_EQ(static_cast<bool>(desk.context.held.failure()), audit == Audit::kError);
  }
}

}  // namespace
}  // namespace anadrome::engine
