"""What schedule=auto takes, against every schedule taken by itself, in equal memory."""
from statistics import median

from machine import say
from overhead import memory_for
from table import markdown, pick, ratios, size, spread

GRID = (256, 128)
PLAN_BYTES = 1440  # of memory per step, for a plan with overlapped transfers
SINGLES = ["revolve", "async", "overlapped", "disk_revolve", "hrevolve", "multistage"]


def situations(bench):
    """Times that a state's I/O takes of a step (0: the disk as it is), slots, steps."""
    return [(times, slots, steps) for times in bench.choose((0, 8, 60), (0, 60))
            for slots in (5, 40) for steps in bench.choose((30, 3000), (30, 300))]


def run(bench, claims):
    state_bytes = GRID[0] * GRID[1] * 8
    pilot = bench.sweep(1, ["async"], cells_x=GRID[0], cells_y=GRID[1], steps=400, work=1, rounds=3,
                        memory=memory_for(20, state_bytes))
    step = median(pick(pilot, "step"))
    table = []
    for times, slots, steps in situations(bench):
        say(f"  choice: I/O of {times} steps, {slots} slots, {steps} steps")
        singles = SINGLES + (["store_all"] if slots > steps else [])
        if steps * PLAN_BYTES > memory_for(slots, state_bytes):
            singles.remove("overlapped")  # its plan does not fit
        rows = bench.sweep(1, ["auto"] + singles, f"choice_{times}_{slots}_{steps}",
                           cells_x=GRID[0], cells_y=GRID[1], steps=steps, work=1,
                           bandwidth_limit=int(state_bytes / (times * step)) if times else 0,
                           memory=memory_for(slots, state_bytes), rounds=bench.choose(5, 2))
        seconds = {mode: median(pick(rows, "seconds", mode=mode)) for mode in singles}
        best = min(seconds, key=seconds.get)
        over = ratios(rows, "seconds", "auto", best)
        disk = f"{times} steps" if times else "as it is"
        claims.at_most(f"choice, a state's I/O {disk}, {slots} slots, n = {steps}: auto over {best}",
                       over, 1.05)
        table.append([disk, slots, steps, best, spread(over)] +
                     [f"{seconds[mode] / seconds[best]:.2f}" if mode in seconds else "-"
                      for mode in SINGLES + ["store_all"]])
    return (f"\nStates of {size(state_bytes)}, steps of {1e3 * step:.2f} ms, one rank.\n\n" +
            markdown(["I/O of a state", "slots", "n", "best single", "auto over it"] + SINGLES +
                     ["store_all"], table))
