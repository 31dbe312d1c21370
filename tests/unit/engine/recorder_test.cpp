// What a recorder of one rank remembers, and the file that it writes.
#include "engine/recorder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "desk.h"

namespace anadrome::engine {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Recorder, KeepsCopiesAndWaitsApartWithoutATrace) {
  Recorder recorder;
  recorder.prepare(false);
  recorder.start(100);
  EXPECT_FALSE(recorder.on());
  recorder.waited(101, 102);
  EXPECT_EQ(recorder.after_waits(101.5), 102) << "a copy that waited for its block";
  EXPECT_EQ(recorder.after_waits(103), 103);
  recorder.start(50);
  EXPECT_EQ(recorder.after_waits(60), 60) << "what the sweep before waited for is past";
}

TEST(Recorder, WritesWhatHappenedSinceTheStart) {
  alone(64, 0, [](Desk& desk) {
    Recorder& recorder = desk.context.recorder;
    const std::string path = desk.directory / "trace.json";
    recorder.prepare(true);
    recorder.start(100);
    recorder.add(Activity::kAdvance, 100.25, 100.75, 3, 4);
    recorder.waited(101, 101.5);
    store::Transfer transfer;
    transfer.started = 102;
    transfer.ended = 103;
    recorder.moved(transfer, 5, 6);
    recorder.write(desk.context.agreement, path, {});
    const std::string text = text_of(path);
    for (const char* event : {R"("advance")", R"("wait")", R"("read")"}) {
      EXPECT_TRUE(has(text, event)) << event << text;
    }
    EXPECT_FALSE(has(text, R"("write")"));
    EXPECT_TRUE(has(text, R"("ts":250000)")) << text;
    recorder.prepare(true);
    recorder.write(desk.context.agreement, path, {});
    EXPECT_FALSE(has(text_of(path), R"("advance")")) << "another sweep";
  });
}

TEST(Recorder, SaysWhichFileItCannotWrite) {
  alone(64, 0, [](Desk& desk) {
    desk.context.recorder.prepare(true);
    const Failure failure = failure_from([&] {
      desk.context.recorder.write(desk.context.agreement, desk.directory / "none/trace.json", {});
    });
    EXPECT_EQ(failure.status, ANADROME_ERR_IO);
    EXPECT_TRUE(has(failure.message, "none/trace.json")) << failure.message;
  });
}

}  // namespace
}  // namespace anadrome::engine
