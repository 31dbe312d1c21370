# SPDX-License-Identifier: BSD-2-Clause
"""fortran_reference.py XML SOURCES OUTPUT: the page of every public Fortran name, from Doxygen's XML and the declarations that it points to.
Sphinx has no Fortran domain; a name that is not documented is an error.
fortran_reference.py FILE: the file with what it includes, which is what Doxygen reads."""
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HEAD = """# Fortran

Module `anadrome`. Steps count from 0, as in C; x_k is the state that step k starts from. Whole programs: a gradient in
[getting started](getting-started.md#fortran), one that goes on after a kill [on a cluster](cluster.md#in-fortran), and
one whose adjoint is checked in [check your adjoint](check-gradient.md#in-c-and-in-fortran).

* `ierr`, the optional last argument, is `ANADROME_OK`, or why the call failed; `anadrome_last_error()` has the line. Without `ierr` a failure ends the program, as with
  `allocate` without `stat=`.
* Registered arrays have the `target` attribute and are contiguous. In a procedure where such an array is a dummy argument, `anadrome_next` changes it only if the dummy
  is a `target`, too.
* "Collective" means: called by all ranks of the run in the same order.
"""

# What a program calls first comes first.
ORDER = """run open set add_field begin action next finish_forward fail request_stop close last_error status_name version
    model solve solve_pass gradient_model check_gradient gradient_check
    add_exchanged now then add_packed add_varying pack unpack size set_shape set_tolerance
    resumed pass rewind statistics stats text
    store part store_open store_put store_get store_drop store_contains store_expect store_view store_release store_keys store_parts store_sync
    store_statistics store_stats store_close
    schedule schedule_action schedule_open schedule_next schedule_end schedule_close
    sketch sketch_create sketch_push sketch_correlate sketch_gradient sketch_variance sketch_bytes sketch_destroy""".split()


def included(path):
    """The text of a file, with that of the files that it includes: those of the folder `shared`, where they lie, too."""
    shared = path.parent if path.suffix == ".inc" else path.parent / "shared"
    return re.sub(r' *include "(\S+)"\n', lambda found: included(shared / found[1]), path.read_text())


def described(text):
    """With a word for what is behind a public name and has none of its own, which Doxygen asks for since 1.9.8. No line moves."""
    behind = set(re.findall(r"\w+", " ".join(re.findall(r"!>[^\n]*\n *interface \w+; module procedure (.*?); end interface", text))))
    text = re.sub(r"\n\n( *[^\n!]*\b(?:subroutine|function) +(\w+)\()",
                  lambda found: f"\n!> See the generic name.\n{found[1]}" if found[2] in behind else found[0], text)
    for before, word in ((r"^(?! *!)(.*)\n(?= *(?:subroutine|function) )", r"\1 !> See the generic name.\n"),
                         (r"^(?! *!)(.*)\n(?=[^!\n]*, value :: \w+,)", r"\1 !> See the interface.\n"),
                         (r"^([^!\n]*, value :: \w+)$", r"\1 !< see the interface")):
        text = re.sub(r"(?<=\n) *(?:abstract )?interface(?: \w+)?\n.*?(?=\n *end interface)",
                      lambda found: re.sub(before, word, found[0], flags=re.MULTILINE), text, flags=re.DOTALL)
    return re.sub(r"(?m)(?<=^    private\n)(?:    (?!procedure).*::.*\n)+", lambda found: re.sub(
        r"(?m)^([^!\n]*)$(?=\n)", r"\1 !< private", found[0]), text)


def words(element):
    """The text of a description, with code in backticks."""
    if element is None:
        return ""
    text = element.text or ""
    for child in element:
        inner = words(child)
        text += f"`{inner}`" if child.tag in ("computeroutput", "ref") else inner
        text += "\n\n" if child.tag == "para" else ""
        text += child.tail or ""
    return re.sub(r"[ \t]*\n[ \t]*", "\n", text)


def description(element):
    both = words(element.find("briefdescription")) + " " + words(element.find("detaileddescription"))
    return re.sub(r"``+", "`", re.sub(r"\s+", " ", both)).strip()


def declaration(sources, element, name):
    """The head of a procedure or type under its public name, and the declarations that follow."""
    place = element.find("location")
    text = included(sources / Path(place.get("bodyfile", place.get("file"))).name)
    first = int(place.get("bodystart")) - 1
    lines = text.splitlines()
    while not re.match(r"\s*(pure |elemental |recursive )*(subroutine|function|type\b(?!\s*\())", lines[first]):
        first -= 1
    lines[first:] = [line for line in lines[first:] if not re.match(r"\s*! ", line)]
    indent = len(lines[first]) - len(lines[first].lstrip())
    head = re.sub(r"(subroutine|function)\s+\w+", rf"\1 {name}", lines[first].strip(), count=1)
    kept, at = [re.sub(r' bind\(c, name="\w+"\)', "", head)], first + 1
    while lines[at - 1].rstrip().endswith("&"):
        kept.append("  " + lines[at].strip())
        at += 1
    if re.match(r"\s*type\b", lines[first]):
        return type_declaration(text, head, lines[at:], indent)
    while re.match(r"\s*(import|use)\b", lines[at]) or "::" in lines[at]:
        text = lines[at][indent:]
        if text.strip() and not re.match(r"\s*(import|use)\b", text):
            kept.append(text.rstrip())
        at += 1
        while lines[at - 1].rstrip().endswith("&"):
            kept.append(lines[at][indent:].rstrip())
            at += 1
    dummies = re.search(r"\(([^)]*)\)", " ".join(kept))
    wanted = set(re.findall(r"\w+", dummies[1])) if dummies else set()
    result = re.search(r"result\((\w+)\)", " ".join(kept))
    wanted |= {result[1]} if result else {name}
    place = {word: at for at, word in enumerate(re.findall(r"\w+", dummies[1] if dummies else ""))}
    declared = [(re.findall(r"\w+", line.split("::", 1)[1]), line) for line in kept if "::" in line]
    declared = [(place.get(names[0], len(place)), line) for names, line in declared if wanted & set(names)]  # without what is local
    return "\n".join([line for line in kept if "::" not in line] + [line for _, line in sorted(declared, key=lambda both: both[0])])


def type_declaration(text, head, lines, indent):
    """Components and bindings, and the interfaces of those that are deferred."""
    if lines[0].strip() == "private":
        return f"{head}  ! its components are private"
    kept = [head]
    for line in lines:
        if re.match(r"\s*end type", line):
            break
        kept.append(line[indent:].rstrip())
    kept.append("end type")
    for name in re.findall(r"procedure\((\w+)\), deferred", "\n".join(kept)):
        interface = re.search(rf"^ *(subroutine|function) {name}\(.*?^ *end \1", text, re.MULTILINE | re.DOTALL)[0].splitlines()
        kept += ["", interface[0].strip()]
        kept += ["  " + line.strip() for line in interface[1:-1] if not re.match(r"\s*import\b", line)]
    return "\n".join(kept)


def together(heads):
    """One head for the specific procedures of a generic name: where a declaration differs, its types and shapes."""
    rows = [head.splitlines() for head in heads]
    if len(rows) < 3 or len({len(row) for row in rows}) > 1:
        return "\n\n".join(heads)
    merged = []
    for lines in zip(*rows):
        kinds = list(dict.fromkeys(line.split(",")[0].strip() for line in lines))
        shapes = list(dict.fromkeys(line.split("::")[-1].strip() for line in lines))
        if len(set(lines)) == 1:
            merged.append(lines[0])
            continue
        merged.append("  " + ", ".join(["TYPE"] + lines[0].split("::")[0].strip().split(", ")[1:]) + " :: " +
                      shapes[0])
        merged.append("  ! TYPE: " + ", ".join(kinds))
        if len(shapes) > 1:
            merged.append("  ! or " + ", ".join(shapes[1:]))
    return "\n".join(merged)


def collect(folder):
    """Documented elements by name: [(kind, element)], the interface or type first."""
    found, procedures = {}, {}
    for path in sorted(folder.glob("*.xml")):
        for compound in ElementTree.parse(path).getroot().iter("compounddef"):
            if compound.get("language") != "Fortran":
                continue
            short = compound.findtext("compoundname").split("::")[-1]
            if compound.get("kind") == "interface" or compound.get("kind") in ("struct", "type") and short not in found:
                found[short] = compound  # a function with the name of its type before the type
            for member in compound.iter("memberdef"):
                key = member.findtext("name")
                if member.get("kind") == "function" and member.find("location").get("bodystart", "-1") != "-1":
                    procedures.setdefault(key, member)
    return found, procedures


def public_names(sources):
    """Those of module anadrome: all of the types and constants, and what its other modules have for callers."""
    types = re.sub(r"!.*", "", (sources / "types.f90").read_text())
    yield from re.findall(r"(?:enumerator|parameter|type, bind\(c\)) :: (\w+)", types)
    for name in ("run.f90", "fields.f90", "model.f90", "store.f90", "schedule.f90", "sketch.f90", "shared/either_kind.inc"):
        for line in re.findall(r"public :: (.*)", (sources / name).read_text()):
            yield from re.findall(r"anadrome_\w+", line)


def entry(name, sources, compounds, procedures):
    element = compounds.get(name, procedures.get(name))
    if element is None:
        return None
    text = description(element)
    if not text:
        raise SystemExit(f"{name} is not documented")
    if name in compounds and element.get("kind") == "interface":
        inside = [member.findtext("name") for member in element.iter("memberdef")]
        heads = [declaration(sources, procedures[inner], name) for inner in inside if inner in procedures]
    else:
        heads = []
    if not heads:
        heads = [declaration(sources, element, name)]
    code = together(list(dict.fromkeys(heads)))
    return f"## {name}\n```fortran\n{code}\n```\n{text}\n"


def main(xml, sources, output):
    compounds, procedures = collect(Path(xml))
    sources = Path(sources)
    pages, constants = {}, []
    for name in dict.fromkeys(public_names(sources)):
        page = entry(name, sources, compounds, procedures)
        if page:
            pages[name.removeprefix("anadrome_")] = page
        else:
            constants.append(name)
    wrong = [name for name in constants if not name.startswith("ANADROME_")]
    if wrong:
        raise SystemExit(f"not found in Doxygen's XML: {', '.join(wrong)}")
    if set(pages) ^ set(ORDER):
        raise SystemExit(f"in one of ORDER and the module alone: {', '.join(set(pages) ^ set(ORDER))}")
    tail = "## Constants\nWith the meaning that they have in [C](c.md): " + ", ".join(f"`{c}`" for c in constants) + ".\n"
    Path(output).write_text(HEAD + "\n" + "\n".join(pages[name] for name in ORDER) + "\n" + tail)


if len(sys.argv) == 2:
    print(described(included(Path(sys.argv[1]))), end="")
else:
    main(*sys.argv[1:])
