# SPDX-License-Identifier: BSD-2-Clause
"""anadrome.plan has the numbers of the command. On one rank."""
import json
import subprocess

import numpy as np
import pytest
from counting import carry_out

import anadrome
from anadrome import _command

QUESTION = dict(steps=1000, state="512MiB", memory="16GiB", step_time="200ms", ranks=4, write_rate="500MB/s", disk="2TiB")


def test_rows_are_those_of_the_command():
    plan = anadrome.plan(**QUESTION)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in QUESTION.items()]
    answer = json.loads(subprocess.run(["anadrome", "plan", *words, "--json"], check=True, capture_output=True).stdout)
    assert [row.schedule for row in plan.schedules] == [row["schedule"] for row in answer["schedules"]]
    for row in answer["schedules"]:
        for name, value in row.items():
            assert getattr(plan[row["schedule"]], "remark" if name == "why_not" else name) == value
    assert (plan.recommended, plan.auto, plan.why) == (answer["recommended"], answer["auto"], answer["why"])
    assert plan.seconds_ideal == answer["seconds_ideal"]
    with pytest.raises(KeyError):
        plan["teapot"]
    large = anadrome.plan(**{**QUESTION, "steps": 10**15, "state": 1 << 40, "memory": 1 << 42})
    assert large["revolve"].forward_steps > 2**53
    page = plan._repr_html_()
    assert "schedule      steps/n" in str(plan) and "<svg" in page and "steps/n" in page
    assert plan.svg()._repr_svg_() == plan.svg() and plan.svg().startswith("<svg")


def test_passes_and_compressed_states_are_in_it():
    plain = anadrome.plan(**QUESTION)
    small = anadrome.plan(**QUESTION, compress=2, slot="256MiB")
    assert small["revolve"].forward_steps < plain["revolve"].forward_steps
    assert small["async"].seconds <= plain["async"].seconds and small["async"].seconds_passes is None
    more = anadrome.plan(**QUESTION, passes=4, visit_time=0.3)
    assert more["async"].seconds_passes >= 2 * 1000 * 0.3


def test_a_notebook_shows_the_timeline_of_a_sweep(directory):
    u = np.zeros(1)
    with anadrome.Run(directory=directory, trace=directory / "sweep.json") as run:
        run.state(u=u)
        for action in run.sweep(20):
            carry_out(action, u)
    picture = anadrome.timeline(directory / "sweep.json")
    assert "20 steps" in picture and picture._repr_svg_().startswith("<svg")
    with pytest.raises(anadrome.Error, match="nothing.json"):
        anadrome.timeline(directory / "nothing.json")


def test_where_nothing_runs_the_rows_say_why():
    plan = anadrome.plan(steps=10, state="1GiB", memory=1000, step_time=1, tape_size=10, stiff=True, cores_busy=True)
    assert plan.recommended is None and not any(row.runs for row in plan.schedules)
    assert "needs" in plan["revolve"].remark and plan.svg() == "" and "<svg" not in plan._repr_html_()


def test_a_wrong_question_is_an_error_in_words_of_parameters_not_of_flags():
    without_disk = anadrome.plan(steps=100, state="1MiB", memory="8MiB", step_time=1)
    assert without_disk["async"].remark == "needs write_rate, and room on disk"
    assert "needs write_rate," in str(without_disk) and "--" not in str(without_disk)
    for question, words in ((dict(steps=100, state="1MiB", step_time=1), r"^memory is missing; see help\(anadrome.plan\)"),
                            ({**QUESTION, "steps": -1}, "^steps: expected a whole number")):
        with pytest.raises(anadrome.Error, match=words) as raised:
            anadrome.plan(**question)
        assert raised.value.status == anadrome.Status.ERR_ARGUMENT


def test_without_the_command_there_is_an_error(monkeypatch, directory):
    monkeypatch.setattr(_command, "__file__", str(directory / "anadrome" / "_command.py"))
    monkeypatch.setenv("PATH", str(directory))
    with pytest.raises(anadrome.Error, match="not installed") as raised:
        anadrome.plan(**QUESTION)
    assert raised.value.status == anadrome.Status.ERR_UNSUPPORTED


def test_memory_that_suffices_for_a_time_is_that_of_the_command():
    question = {name: value for name, value in QUESTION.items() if name != "memory"}
    plan = anadrome.plan(**question, target=1.5)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in question.items()]
    answer = json.loads(subprocess.run(["anadrome", "plan", *words, "--target=1.5", "--json"], check=True,
                                       capture_output=True).stdout)
    assert [(row.disk, row.memory_bytes, row.schedule) for row in plan.answers] == [
        (row["disk"], row["memory_bytes"], row["schedule"]) for row in answer["answers"]]
    assert plan.in_time and plan.schedules == () and plan.svg() == "" and "Within" in str(plan)
    assert not anadrome.plan(**QUESTION, walltime="1s").in_time
    assert anadrome.plan(**QUESTION, walltime=1e6).in_time
