# SPDX-License-Identifier: BSD-2-Clause
"""Pictures of the project: one colour and one word for one thing, whoever draws it."""
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree

import tool

SVG = "{http://www.w3.org/2000/svg}"
ACTIVITIES = ("advance", "recompute", "adjoint", "visit", "turn", "copy", "wait", "agree", "write", "read",
              "forward pass", "reverse pass")


def legend_of(text):
    """{word: colour} of what an SVG explains by coloured squares."""
    elements = list(xml.etree.ElementTree.fromstring(text).iter())
    return {word.text: square.get("fill") for square, word in zip(elements, elements[1:])
            if square.tag == SVG + "rect" and square.get("rx") and word.tag == SVG + "text"}


def trace_of(activities):
    """A trace in which each of them takes a second."""
    events = [{"ph": "X", "pid": 0, "tid": 0, "name": name, "ts": 1e6 * k, "dur": 1e6,
               "args": {"first": k, "last": k + 1}} for k, name in enumerate(activities)]
    about = {"program": "anadrome", "version": "0", "schedule": "async", "steps": len(events),
             "ranks": 1, "seconds": len(events), "merged_events": 0}
    return json.dumps({"traceEvents": events, "otherData": about})


class Pictures(tool.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "trace.json"
        self.trace.write_text(trace_of(ACTIVITIES))

    def timeline(self):
        process = tool.run("timeline", self.trace)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        return process.stdout

    def plan(self):
        picture = self.folder / "plan.svg"
        self.answer("plan", "--json", "--steps", 300, "--state", "512MiB", "--memory", "4GiB",
                    "--step-time", 0.08, "--adjoint-time", 0.16, "--write-rate", "20MB/s",
                    "--schedule", "multistage", "--svg", picture)
        return picture.read_text()

    def test_have_one_palette_and_one_vocabulary(self):
        timeline = {words.rsplit(" ", 2)[0]: colour
                    for words, colour in legend_of(self.timeline()).items()}
        self.assertEqual(set(timeline), set(ACTIVITIES))
        self.assertEqual(len(set(timeline.values())), len(ACTIVITIES))
        plan = legend_of(self.plan())
        self.assertEqual(set(plan) - set(timeline), {"slot in use"})
        self.assertGreaterEqual(len(plan), 3)
        self.assertEqual({word: timeline.get(word, colour) for word, colour in plan.items()}, plan)

    def test_a_timeline_goes_to_a_file(self):
        file, link = self.folder / "picture.svg", self.folder / "link"
        link.symlink_to(file)
        process = tool.run("timeline", self.trace, "--svg", link)
        self.assertEqual((process.returncode, process.stdout, process.stderr), (0, "", ""))
        self.assertEqual(file.read_text(), self.timeline())

    def test_a_timeline_that_cannot_be_drawn_or_written_is_said_and_leaves_the_picture_alone(self):
        picture = self.folder / "picture.svg"
        picture.write_text("before")
        (self.folder / "other.json").write_text('{"traceEvents": []}')
        for name, said in (("absent.json", "No such file"), ("other.json", "no trace of anadrome"),
                           ("picture.svg", "no trace of anadrome"), (".", "cannot be read")):
            self.assertIn(said, self.refuse("timeline", self.folder / name, "--svg", picture))
            self.assertEqual(picture.read_text(), "before")
        self.assertIn("TRACE", self.refuse("timeline"))
        process = tool.run("timeline", self.trace, "--svg", "/absent/x.svg")
        self.assertEqual((process.returncode, process.stdout), (3, ""))
        self.assertIn("--svg /absent/x.svg: No such file", process.stderr)


if __name__ == "__main__":
    unittest.main()
