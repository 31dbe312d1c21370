# SPDX-License-Identifier: BSD-2-Clause
"""The gradient of a job on several hosts is that of one host, bit by bit, wherever its states are."""


import cluster

SCHEDULES = {
    "async": ("--schedule", "async", "--interval", 5),
    "revolve": ("--schedule", "revolve"),
}
WHERE = (("shared", "/common"), ("node", "/scratch"), ("rank", "/scratch"))


class Layouts(cluster.Case):
    def exact(self, hosts, schedules):
        for schedule in schedules:
            for layout, directory in WHERE:
                with self.subTest(hosts=hosts, schedule=schedule, layout=layout):
                    process = self.heat(hosts, *cluster.SMALL, *SCHEDULES[schedule], "--layout", layout, "--directory", directory)
                    self.assert_exact(process)
                    self.assert_nothing_left()

    def test_two_hosts(self):
        self.exact(["n1", "n2"], ["async"])

    def test_four_hosts(self):
        self.exact(["n1", "n2", "n3", "n4"], SCHEDULES)

    def test_two_ranks_on_each_of_two_hosts(self):
        self.exact(["n1", "n1", "n2", "n2"], SCHEDULES)


if __name__ == "__main__":
    cluster.main(hosts=4)
