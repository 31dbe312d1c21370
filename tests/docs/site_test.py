# SPDX-License-Identifier: BSD-2-Clause
"""site_test.py SOURCES BUILD: the site builds without a warning, its links lead somewhere, its search finds what people type,
and every option, schedule, status, line of the summary, function, type, class, Fortran and Python name is in it."""
import functools
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCES, BUILD = (Path(word) for word in sys.argv[1:3])
HTML = BUILD / "site" / "html"


def source(path):
    return (SOURCES / path).read_text()


def first_column(page, heading):
    """Names in backticks in the first column of the tables below `heading`, up to the next one as high."""
    level = heading.split()[0]
    text = source(page).partition(heading)[2]
    text = re.split(rf"^#{{1,{len(level)}}} ", text, flags=re.MULTILINE)[0]
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([SOURCES / "docs" / "build-site", BUILD], check=True)
        cls.pages = {path: path.read_text() for path in HTML.rglob("*.html")}
        assert len(cls.pages) > 30

    def test_the_root_leads_to_the_first_page(self):
        target = re.search(r'url=([^"]+)"', (HTML / "index.html").read_text())[1]
        self.assertTrue((HTML / target).is_file())

    def test_the_reference_of_cxx_is_not_that_of_fortran(self):
        text = (HTML / "docs" / "cxx.html").read_text()
        self.assertIn("Run", text)
        self.assertNotIn("the Fortran interface", text)

    @functools.cache
    def page(self, name):
        return re.sub(r"<[^>]*>", "", self.pages[HTML / "docs" / f"{name}.html"])

    def test_links_lead_somewhere(self):
        seen = 0
        for path, text in self.pages.items():
            for file, anchor in re.findall(r'href="([^":#?]*)(?:#([^"]*))?"', text):
                target = (path.parent / file).resolve() if file else path
                if target.is_dir() or target.suffix != ".html":
                    continue
                seen += 1
                self.assertIn(target, self.pages, f"{path.name}: {file}")
                if anchor:
                    self.assertIn(f'id="{anchor}"', self.pages[target], f"{path.name}: {file}#{anchor}")
        self.assertGreater(seen, 1000)

    def test_browsers_need_no_server(self):
        for path in [*HTML.rglob("*.html"), *(HTML / "_static").rglob("*.css")]:
            self.assertNotRegex(path.read_text(), r"""((href|src)=['"]|url\(['"]?)/""", path.name)
        for path in (HTML / "_static" / "scripts").glob("furo*.js"):
            self.assertNotRegex(path.read_text(), r"(?m)^import ", "a plain script has no imports")

    def test_a_dark_system_gets_a_dark_page(self):
        style = (HTML / "_static/styles/furo.css").read_text()
        dark = style.partition("prefers-color-scheme: dark")[2]
        self.assertRegex(dark, r'body:not\(\[data-theme="?light"?\]\)\s*\{[^{}]*--color-background-primary: *#')

    def test_formulas_are_shown(self):
        with_formulas = [text for text in self.pages.values() if 'class="math ' in text]
        self.assertGreater(len(with_formulas), 3)
        for text in with_formulas:
            self.assertIn('MathJax.Hub.Config({"tex2jax": {"processClass": "math"}})', text)
            self.assertNotIn("window.MathJax", text)

    def test_sentences_of_the_reference_are_whole(self):
        for name in ("c", "cxx", "fortran"):
            self.assertNotIn("<p>. ", self.pages[HTML / "docs" / f"{name}.html"], "doxygen ends a sentence at '.. '")

    def test_search_finds_what_people_type(self):
        from sphinx.search.en import SearchEnglish
        stem = SearchEnglish({}).stem
        terms = json.loads(re.search(r"\{.*\}", (HTML / "searchindex.js").read_text(), re.DOTALL)[0])
        for query, page in (("observations in time", "docs/how-to/observations"), ("tmpfs", "docs/how-to/sites"),
                            ("ERR_NONDETERMINISTIC", "docs/messages"), ("walltime", "docs/plan"),
                            ("leapfrog", "docs/how-to/leapfrog"), ("Slurm", "docs/cluster")):
            found = None
            for word in query.lower().split():
                if len(word) < 3:  # left out by the search, too
                    continue
                pages, stemmed = set(), stem(word)
                for term, where in [*terms["titleterms"].items(), *terms["terms"].items()]:
                    if stemmed in term:
                        pages |= set(where if isinstance(where, list) else [where])
                found = pages if found is None else found & pages
            self.assertIn(page, {terms["docnames"][index] for index in found}, query)

    def test_every_option_is_documented(self):
        keys = source("src/engine/asked/options.cpp").partition("const std::vector<Key>& keys()")[2].partition("return all;")[0]
        names = re.findall(r'^      (?:\{|\w+\()"(\w+)",', keys, re.MULTILINE)
        self.assertGreater(len(names), 25)
        filled = source("docs/options.md").partition("<!-- begin options -->\n")[2].partition("<!-- end options -->")[0]
        self.assertEqual(sorted(names), sorted(re.findall(r"^### (\w+)$", filled, re.MULTILINE)))
        printed = subprocess.run([BUILD / "bin/anadrome", "options", "--page"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(printed, filled, "python3 docs/command_pages.py build/dev/bin/anadrome options docs/options.md")

    def test_every_schedule_is_documented(self):
        rows = source("src/planners/streams.cpp").split("{.name = ")[1:]
        self.assertGreater(len(rows), 10)
        of_streams = [row.split('"')[1] for row in rows if ".in_runs = true" not in row]
        streams = source("docs/options.md").split("The other planners, ")[1].split(", are [streams]")[0]
        self.assertEqual(sorted(of_streams), sorted(re.findall(r"`(\w+)`", streams)))
        names = sorted(["auto", "undo", *(row.split('"')[1] for row in rows if ".in_runs = true" in row)])  # undo is no stream
        self.assertEqual(names, sorted(first_column("docs/options.md", "## Schedules")))
        values = re.search(r"(?m)^### schedule\n(.*?)\.", source("docs/options.md"))[1]
        self.assertEqual(names, sorted(re.findall(r"`(\w+)`", values)))

    def test_every_status_is_documented(self):
        names = re.findall(r"X\((ANADROME_\w+), ", source("include/anadrome/status.h"))
        self.assertEqual(names, first_column("docs/messages.md", "# Messages by status"))

    def test_every_line_of_the_summary_is_documented(self):
        text = source("src/engine/report/summary.cpp")
        labels = re.findall(r'\badd\("([a-z]+)"', text) + re.findall(r'text \+= "  ([a-z ]+?) {2,}"', text)
        self.assertGreater(len(labels), 9)
        for label in labels:
            self.assertRegex(source("docs/summary.md"), rf"(?m)^\|[^|]*`{label}`")

    def test_every_public_name_is_in_the_reference(self):
        c = self.page("c")
        for header in (SOURCES / "include/anadrome").glob("*.h"):
            text = re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", "", header.read_text(), flags=re.DOTALL | re.MULTILINE)
            names = set(re.findall(r"ANADROME_API [^;(]*?\b(\w+)\(", text)) | set(re.findall(r"^\} (anadrome_\w+);", text, re.MULTILINE))
            names |= {name for body in re.findall(r"enum \w+ ANADROME_AS_INT \{(.*?)\}", text, re.DOTALL)
                      for name in re.findall(r"\b(ANADROME_[A-Z0-9_]+)\b(?=\s*[,=}])", body + "}")}
            for body in re.findall(r"typedef struct \w+ \{(.*?)^\}", text, re.DOTALL | re.MULTILINE):
                names |= set(re.findall(r"(\w+)(?=(?:\[\d+\])?;|\)\()", body))  # members, functions among them
            for name in names:
                self.assertIn(name, c, header.name)
        cxx = self.page("cxx")
        inner = re.compile(r"^namespace detail \{.*?^\}  // namespace detail", re.MULTILINE | re.DOTALL)
        classes = "".join(inner.sub("", source(f"include/anadrome/{name}.hpp")) for name in ("anadrome", "error", "schedule", "store"))
        for name in re.findall(r"^(?:class|struct) (\w+)", classes, re.MULTILINE):
            self.assertIn(name, cxx)

    def test_every_python_name_is_in_the_reference(self):
        names = re.findall(r'"(\w+)"', source("python/anadrome/__init__.py").partition("__all__")[2])
        self.assertGreater(len(names), 20)
        for name in set(names) - {"Action", "ScheduleAction"}:  # unions of others
            self.assertIn(f'id="anadrome.{name}"', self.pages[HTML / "docs" / "python.html"])

    def test_the_words_of_an_attribute_are_no_type(self):
        self.assertIn("Steps between anchors in force; 0: no anchors.", self.page("python"))

    def test_every_fortran_name_is_in_the_reference(self):
        files = ("types", "run", "fields", "model", "store", "schedule", "sketch")
        text = "".join(source(f"src/api/fortran/{file}.f90") for file in files) + source("src/api/fortran/shared/either_kind.inc")
        names = {name for line in re.findall(r"(?:public|enumerator) :: ([^!\n]*)", text) for name in re.findall(r"(?i)anadrome_\w+", line)}
        self.assertGreater(len(names), 60)
        for name in names:
            self.assertIn(name, self.page("fortran"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
