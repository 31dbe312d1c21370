# SPDX-License-Identifier: BSD-2-Clause
"""A loop over the actions of a sweep, on any number of ranks."""
import logging
import sys
import types

import numpy as np
import pytest

import anadrome
import counting
from anadrome import _progress
from advection import Ring

STEPS = 60
IN_MEMORY = {"schedule": "revolve", "checkpoints": 4}
ON_DISK = {"schedule": "async", "memory": "128KiB", "interval": 7}


def carry_out(sweep, ring, u, lam, run=None):
    """All actions of a sweep; how many forward steps they were. With the run where it is not told how many there are."""
    taken = 0
    for action in sweep:
        match action:
            case anadrome.Advance(first, last, again=again):
                for k in range(first, last):
                    ring.step(u)
                    taken += 1
                    if run and not again and k + 1 == STEPS:
                        run.finish_forward(STEPS)
                        break
            case anadrome.Turn(n):
                assert n == STEPS
                lam[:] = u
            case anadrome.Adjoint(k):
                ring.adjoint_step(u, lam)
    return taken


def swept(comm, ring, **options):
    """A run after a sweep, which is closed."""
    u, lam = ring.x0.copy(), np.zeros_like(ring.x0)
    with anadrome.Run(comm, **{**IN_MEMORY, **options}) as run:
        run.state(u=u)
        carry_out(run.sweep(STEPS), ring, u, lam)
    return run


@pytest.fixture
def ring(comm):
    return Ring(comm)


@pytest.fixture
def expected(ring):
    return ring.everything_kept(STEPS)[1]


@pytest.mark.parametrize("options", [IN_MEMORY, {"schedule": "store_all"}, ON_DISK])
def test_the_gradient_has_the_bits_of_everything_kept(comm, directory, ring, expected, options):
    u, lam = ring.x0.copy(), np.zeros_like(ring.x0)
    with anadrome.Run(comm, directory=directory, audit="off", **options) as run:
        run.state(u=u)
        run.adjoint(lam=lam)
        taken = carry_out(run.sweep(STEPS), ring, u, lam)
        stats = run.statistics()
    assert run.statistics().forward_steps_taken == taken  # the run is closed
    assert (stats.forward_steps_taken, stats.adjoint_steps_taken, stats.ranks) == (taken, STEPS, comm.size)
    assert (stats.phase, stats.schedule) == (anadrome.Phase.DONE, options["schedule"])
    np.testing.assert_array_equal(lam, expected)


def test_a_second_sweep_and_a_second_reverse_sweep(comm, directory, ring, expected):
    u, lam = ring.x0.copy(), np.zeros_like(ring.x0)
    with anadrome.Run(comm, directory=directory, **ON_DISK) as run:
        run.state(u=u)
        for begin in (lambda: run.sweep(STEPS), lambda: run.sweep(STEPS), run.rewind):
            u[:], lam[:] = ring.x0, 0
            carry_out(begin(), ring, u, lam)
            np.testing.assert_array_equal(lam, expected)


def test_passes_over_the_trajectory(comm):
    u, seen = np.zeros(5), {}
    with anadrome.Run(comm, passes=4, **IN_MEMORY) as run:
        run.state(u=u)
        for name, begin in (("sweep", lambda: run.sweep(9)), ("forward", run.forward_pass), ("reverse", run.reverse_pass)):
            for action in begin():
                assert name == "sweep" or not isinstance(action, (anadrome.Advance, anadrome.Turn)) or action.again
                counting.carry_out(action, u)
                if isinstance(action, (anadrome.Visit, anadrome.Adjoint)):
                    assert (u == action.step).all()
                    seen.setdefault(name, []).append((type(action).__name__, action.step))
        stats = run.statistics()
    assert seen["forward"] == [("Visit", k) for k in range(9)] and seen["reverse"] == [("Adjoint", k) for k in reversed(range(9))]
    assert (stats.passes, stats.visit_steps_taken) == (2, 9)


def test_a_sweep_of_unknown_length(comm, directory, ring, expected):
    u, lam = ring.x0.copy(), np.zeros_like(ring.x0)
    with anadrome.Run(comm, directory=directory, schedule="async", memory="128KiB") as run:
        run.state(u=u)
        carry_out(run.sweep(None), ring, u, lam, run)
    np.testing.assert_array_equal(lam, expected)


def test_a_tape_is_filled_by_recorded_steps(comm, directory, ring, expected):
    u, tape, lam = ring.x0.copy(), np.zeros_like(ring.x0), np.zeros_like(ring.x0)
    with anadrome.Run(comm, directory=directory, schedule="mixed", checkpoints=5) as run:
        run.state(u=u)
        run.tape(tape=tape)
        for action in run.sweep(STEPS):
            match action:
                case anadrome.Advance(first, last, record=record):
                    for k in range(first, last):
                        if record and k == last - 1:
                            tape[:] = u
                        ring.step(u)
                case anadrome.Turn():
                    lam[:] = u
                case anadrome.Adjoint():
                    ring.adjoint_step(tape, lam)
    np.testing.assert_array_equal(lam, expected)


def test_a_run_goes_on_where_another_one_stopped(comm, directory, ring, expected):
    options = dict(directory=directory, resume=True, checkpoint_interval=0, **ON_DISK)
    u, lam = ring.x0.copy(), np.zeros_like(ring.x0)

    def begun(run):
        run.state(u=u)
        run.adjoint(lam=lam)
        return run.sweep(STEPS)

    with pytest.raises(anadrome.Error) as raised, anadrome.Run(comm, **options) as run:
        sweep = begun(run)
        assert run.resumed is None
        for action in sweep:
            if isinstance(action, anadrome.Advance):
                for k in range(action.first, action.last):
                    ring.step(u)
                if action.first > STEPS // 2:
                    run.request_stop()
    assert raised.value.status == anadrome.Status.STOPPED
    with pytest.raises(anadrome.Error, match="asked Run.resumed where; ask after Run.sweep,"), anadrome.Run(comm, **options) as run:
        next(begun(run))
    u[:] = lam[:] = np.nan
    with anadrome.Run(comm, **options) as run:
        sweep = begun(run)
        assert run.resumed.phase == anadrome.Phase.FORWARD and 0 < run.resumed.step < STEPS
        assert carry_out(sweep, ring, u, lam) < 3 * STEPS
    np.testing.assert_array_equal(lam, expected)


@pytest.mark.parametrize("report", ["off", "-", "report.txt"])
def test_the_summary_is_on_rank_0(comm, directory, ring, capsys, report):
    with anadrome.Run(comm) as run:
        assert run.summary() == ""
    run = swept(comm, ring, report=report if report in ("off", "-") else directory / report)
    summary = run.summary()
    assert summary.startswith(f"anadrome {anadrome.__version__}: schedule revolve") == (comm.rank == 0)
    assert f"60 steps on {comm.size} rank" in summary or comm.rank > 0
    assert capsys.readouterr().out == (summary if report == "-" else "")
    if comm.rank == 0 and report == "report.txt":
        assert summary == (directory / report).read_text()
    labels = [label for label, _ in summary.rows()]
    assert ("sweep" in labels and "recompute" in labels and labels[0] == "") == (comm.rank == 0)
    assert summary._repr_html_().count("<tr>") == len(summary.splitlines())


def test_statistics_are_a_dict_of_numbers_and_texts(comm, ring):
    statistics = swept(comm, ring).statistics()
    found = statistics.as_dict()
    assert found["steps"] == STEPS and found["phase"] == "DONE" and found["schedule"] == "revolve"
    assert all(isinstance(value, (int, float, str)) for value in found.values())
    assert statistics._repr_html_().count("<tr>") == len(found)


@pytest.mark.parametrize("kind", ["loop", "functions", "unknown steps"])
def test_a_function_hears_how_far_a_sweep_is(comm, ring, monkeypatch, capfd, kind):
    monkeypatch.setattr(_progress, "_PERIOD", 0)
    calls, u, lam = [], ring.x0.copy(), np.zeros_like(ring.x0)
    with anadrome.Run(comm, progress=calls.append, **IN_MEMORY) as run:
        run.state(u=u)
        if kind == "functions":
            run.solve(STEPS, advance=lambda first, last: [ring.step(u) for _ in range(first, last)] and None,
                      adjoint=lambda k: ring.adjoint_step(u, lam), turn=lambda n: lam.__setitem__(slice(None), u))
        else:
            carry_out(run.sweep(STEPS if kind == "loop" else None), ring, u, lam, run if kind != "loop" else None)
    assert "forward  at step" not in capfd.readouterr().err
    if comm.rank > 0:
        assert calls == []
        return
    assert {call.phase for call in calls} == {anadrome.Phase.FORWARD, anadrome.Phase.REVERSE, anadrome.Phase.DONE}
    assert calls[-1].steps == STEPS < len(calls)
    if kind == "unknown steps":
        assert (calls[0].steps, calls[0].done) == (None, None)
    else:
        assert calls[-1] == (anadrome.Phase.DONE, 0, STEPS, 1.0) and 0 <= calls[0].done < 0.5 < calls[-2].done <= 1


def test_the_share_never_falls_when_adjoint_steps_turn_out_to_be_long():
    calls = []
    known = dict(steps=4, phase=1, forward_steps_remaining=0, seconds_step=1.0, seconds_adjoint_step=0.0, forward_steps_taken=4,
                 adjoint_steps_taken=0)
    reporter = _progress.Reporter(calls.append, lambda: known)
    for taken, seconds in ((0, 0.0), (1, 50.0), (2, 50.0)):
        known.update(adjoint_steps_taken=taken, seconds_adjoint_step=seconds)
        reporter._next = 0.0
        reporter.look(4 - taken)
    assert [round(call.done, 2) for call in calls] == [0.33, 0.33, 0.51]
    reporter.end()
    known.update(adjoint_steps_taken=0)
    reporter.look(4)
    assert calls[-1].done < 0.1  # of the next sweep


def with_a_warning(comm):
    """A sweep whose steps are never the same."""
    u, calls = np.zeros(3), []
    with anadrome.Run(comm, audit="warn", **IN_MEMORY) as run:
        run.state(u=u)
        for action in run.sweep(STEPS):
            if isinstance(action, anadrome.Advance):
                calls.append(action)
                u += len(calls)


def test_lines_go_to_a_logger_or_a_function_or_standard_error(comm, caplog, capfd):
    lines = []
    try:
        anadrome.set_log(logging.getLogger("of.a.test"))
        with_a_warning(comm)
        anadrome.set_log(lambda level, line: lines.append((level, line)))
        with_a_warning(comm)
    finally:
        anadrome.set_log(None)
    assert capfd.readouterr().err == ""
    with_a_warning(comm)
    said = capfd.readouterr().err
    if comm.rank > 0:
        assert (caplog.records, lines, said) == ([], [], "")
        return
    assert said.startswith("anadrome: ") and "gives another state when it is run again" in said
    assert lines == [(logging.WARNING, said.removeprefix("anadrome: ").rstrip("\n"))]
    assert [(r.name, r.levelno, r.getMessage()) for r in caplog.records] == [("of.a.test", *lines[0])]
    with pytest.raises(TypeError):
        anadrome.set_log(7)


class Bar:
    """In place of tqdm."""
    bars = []

    def __init__(self, total, unit):
        self.total, self.n, self.closed, self.words = total, 0, False, ""
        self.bars.append(self)

    def update(self, by):
        self.n += by

    def set_description(self, words, refresh):
        self.words = words

    def close(self):
        self.closed = True


@pytest.mark.parametrize("there", [True, False])
def test_the_bar_is_that_of_tqdm_if_it_is_there(monkeypatch, capsys, there):
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar) if there else None)
    monkeypatch.setattr(Bar, "bars", [])
    bar = anadrome.ProgressBar()
    bar(anadrome.Progress(anadrome.Phase.FORWARD, 7, 60, 0.125))
    if there:
        assert (Bar.bars[0].n, Bar.bars[0].words, Bar.bars[0].closed) == (12.5, "forward 7", False)
    bar(anadrome.Progress(anadrome.Phase.DONE, 0, 60, 1.0))
    if there:
        assert [(each.n, each.closed) for each in Bar.bars] == [(100, True)]
    assert ("12.5 %  forward 7" in capsys.readouterr().err) == (not there)


@pytest.mark.parametrize("known", [True, False])
def test_solve_calls_functions_and_ends_where_advance_says(comm, ring, expected, known):
    u, lam, ends = np.zeros_like(ring.x0), np.zeros_like(ring.x0), []

    def advance(first, last):
        end = min(last, STEPS)
        for k in range(first, end):
            ring.step(u)
        return None if known else end

    def turn(n):
        ends.append(n)
        lam[:] = u

    with anadrome.Run(comm, schedule="revolve", checkpoints=5) as run:
        run.state(u=u)
        run.solve(STEPS if known else None, advance=advance, adjoint=lambda k: ring.adjoint_step(u, lam), turn=turn,
                  start=lambda: u.__setitem__(slice(None), ring.x0))
    assert ends == [STEPS]
    np.testing.assert_array_equal(lam, expected)


def test_a_sweep_that_was_ended_is_an_error(comm, ring):
    u, lam = ring.x0.copy(), np.zeros_like(ring.x0)
    with anadrome.Run(comm, **IN_MEMORY) as run:
        run.state(u=u)
        first = run.sweep(STEPS)
        next(first)
        second = run.sweep(STEPS)
        with pytest.raises(anadrome.Error, match="ended by a later call") as raised:
            next(first)
        assert raised.value.status == anadrome.Status.ERR_ORDER
        carry_out(second, ring, u, lam)
        assert next(second, None) is None


def test_options_are_texts_numbers_truths_and_paths(comm, directory):
    with pytest.raises(anadrome.Error, match="anadrome.schedule gives its actions, and"):
        anadrome.Run(comm, schedule="double")
    with anadrome.Run(comm, memory=1 << 20, keep=np.bool_(False), directory=directory, bandwidth_limit="none") as run:
        run.state(u=np.zeros(1))
        run.sweep(1)
        assert run.statistics().memory_bytes == 1 << 20
        with pytest.raises(anadrome.Error) as raised:
            run.set(memory="2MiB")
        assert raised.value.status == anadrome.Status.ERR_ORDER
    for option in ("directory", "report", "trace"):  # which are no files that are called None
        with pytest.raises(anadrome.Error, match=f"option {option}"):
            anadrome.Run(comm, **{option: None})
    with pytest.raises(anadrome.Error, match="'memory'") as raised:
        anadrome.Run(comm, memroy="1GiB")
    assert raised.value.status == anadrome.Status.ERR_ARGUMENT


@pytest.mark.parametrize("kind, status, words, options", [
    (MemoryError, "ERR_MEMORY", "", {"memory": "1KiB", "schedule": "store_all"}),
    (OSError, "ERR_IO", "/nowhere", {"directory": "/nowhere", **ON_DISK})])
def test_statuses_are_exceptions_of_python(comm, kind, status, words, options):
    with pytest.raises(kind, match=words) as raised, anadrome.Run(comm, **options) as run:
        run.state(u=np.zeros(1000))
        run.sweep(100)
    assert isinstance(raised.value, anadrome.Error) and raised.value.status == anadrome.Status[status]


def test_lossy_compression_keeps_to_a_tolerance(comm):
    x_0 = np.sin(np.linspace(0, 9, 200 * 300)).reshape(200, 300)
    u, largest = x_0.copy(), 0.0
    with anadrome.Run(comm, schedule="async", interval="3", memory="4MiB", compress="zfp") as run:
        run.state(u=u)
        with pytest.raises(anadrome.Error, match="no number >= 0"):
            run.tolerance("u", -1)
        run.tolerance("u", 1e-3)
        for action in run.sweep(40):
            if type(action) is anadrome.Advance:
                for _ in range(action.first, action.last):
                    u += 0.5
            elif type(action) is anadrome.Adjoint:
                largest = max(largest, np.abs(u - x_0 - 0.5 * action.step).max())
    assert 1e-12 < largest <= 1e-3 + 1e-12


@pytest.mark.parametrize("steps, kind, words", [
    (-7, anadrome.Error, "-7 steps; give 0 or more, or None"),
    (10 / 0.5, TypeError, r"steps must be an int, not float \(20.0\)"),
    (10**30, ValueError, r"steps must be below 2\*\*63 in size, not 10{30}"),
    ("10", TypeError, "steps must be an int, not str")])
def test_a_number_of_steps_that_is_none_is_refused(comm, steps, kind, words):
    with anadrome.Run(comm, schedule="revolve") as run:
        run.state(u=np.ones(3))
        with pytest.raises(kind, match=words):
            run.sweep(steps)
        with pytest.raises(kind, match=words):
            run.solve(steps, advance=lambda first, last: None, adjoint=lambda k: None)
        assert sum(isinstance(action, anadrome.Adjoint) for action in run.sweep(np.int64(4))) == 4


@pytest.mark.parametrize("call, words", [
    (lambda run: run.packed("p", 8.0, print, print), "size must be an int, not float"),
    (lambda run: run.packed("p", -1, print, print), "size must be 0 bytes or more"),
    (lambda run: run.packed("p", 8, None, print), "pack must be a function, not NoneType"),
    (lambda run: run.varying("p", "8", len, print, print), "most must be an int, not str"),
    (lambda run: run.tolerance("u", "small"), "absolute must be a number, not str"),
    (lambda run: run.packed("p", 2**64, print, print), r"size must be below 2\*\*63"),
    (lambda run: run.finish_forward(3.5), "steps must be an int, not float"),
    (lambda run: run.finish_forward(-2**63 - 1), r"steps must be below 2\*\*63"),
    (lambda run: run.fail(3), "why must be a str, not int"),
    (lambda run: run.set(memory=print), "progress"),  # which alone takes a function
    (lambda run: run.solve(3, advance=1, adjoint=print), "advance must be a function, not int"),
    (lambda run: run.check_gradient(3.0, advance=print, adjoint=print, perturb=print, objective=print, derivative=print),
     "steps must be an int, not float"),
    (lambda run: run.check_gradient(3, advance=print, adjoint=print, perturb=print, objective=print, derivative=print,
                                    epsilon="a"), "epsilon must be a number, not str"),
    (lambda run: run.state(u=np.ma.masked_less(np.arange(5.0), 2)), "a MaskedArray would lose its mask"),
    (lambda run: run.state(u=np.arange(3, dtype=np.float16)), "elements of type float16 are none"),
    (lambda run: anadrome.schedule("revolve", steps=4.0, slots=2), "steps must be an int, not float"),
    (lambda run: anadrome.schedule("revolve", steps=4, slots="2"), "slots must be an int, not str"),
    (lambda run: anadrome.schedule("revolve", steps=4, slots=2).end("x"), "steps must be an int, not str"),
    (lambda run: anadrome.Sketch(3, arrays=2**63), r"arrays must be below 2\*\*63"),
    (lambda run: anadrome.Sketch(3, arrays=2.0), "arrays must be an int, not float"),
    (lambda run: anadrome.Sketch((3, 4.0), arrays=2), r"shape\[1\] must be an int, not float"),
    (lambda run: anadrome.Sketch(3, arrays=2).push(1.5, np.ones(3)), "step must be an int, not float")])
def test_arguments_are_named_in_the_words_of_the_caller(comm, call, words):
    with anadrome.Run(comm) as run, pytest.raises((TypeError, ValueError), match=words):
        call(run)


def test_a_run_that_was_not_closed_is_named_as_that_of_this_process(comm, directory):
    left = anadrome.Run(comm, directory=directory, **ON_DISK)
    try:
        left.state(u=np.ones(5000))
        next(left.sweep(STEPS))
        with anadrome.Run(comm, directory=directory, **ON_DISK) as run:
            run.state(u=np.ones(5000))
            with pytest.raises(anadrome.StorageError, match=r"another run of this process, which was not closed.*`with`"):
                run.sweep(STEPS)
    finally:
        left.close()
