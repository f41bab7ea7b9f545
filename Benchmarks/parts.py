#!/usr/bin/env python3
"""Prints what takes the room in the programs of `make deb`, in MB, as a table for Benchmarks/README.md.

usage: parts.py [FOLDER]   (where Scripts/deb had the linker write its maps: .build/deb)
"""

import re
import sys
from collections import Counter
from pathlib import Path

PROGRAMS = ["oob-agent", "oobctl", "oob-issuer", "oob-conform", "oob-inbox"]
ROOT = Path(__file__).resolve().parents[1]
# Address, address of loading, size and alignment in the linker's map; then a section of the program, or one of an input.
LINE = re.compile(r" *[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +\d+ ( *)(\S.*)\n")
# A library of the toolchain, or the module that an object of the build is of.
ARCHIVE = re.compile(r"/(lib[^/]*\.a)\(|^(lib[^/]*\.a)\(")
MODULE = re.compile(r"/([^/]+)\.build/")
# What is not in a stripped program's file.
ABSENT = {".bss", ".tbss", ".symtab", ".strtab", ".shstrtab", ".comment"}
PARTS = {
    "Swift: standard library, tasks, regular expressions": r"libswift.*|libdispatch.*|libBlocksRuntime\.a",
    "Foundation": r"lib_?Foundation(?!ICU).*|libCoreFoundation\.a",
    "ICU, its code": r"lib_FoundationICU\.a",
    "ICU, its data in English": r"CICUData",
    "BoringSSL": r"CNIOBoringSSL.*",
    "SwiftNIO, its TLS and HTTP/2, async-http-client": r"_?C?NIO.*|AsyncHTTPClient|CAsyncHTTPClient",
    "Hummingbird, and what it brings": (
        r"Hummingbird.*|Configuration|AsyncAlgorithms|HTTPTypes|ServiceLifecycle|UnixSignals|CoreMetrics|Metrics|Tracing"
        r"|Instrumentation|ServiceContext.*|ConcurrencyHelpers|AsyncStreaming"),
    "GRDB, Yams": r"GRDB.*|C?Yaml|Yams",
    "swift-argument-parser": r"ArgumentParser.*",
    "collections, algorithms, numbers, system, log": (
        r".*Collections.*|.*Containers.*|DequeModule|OrderedCollections|Algorithms|RealModule|_NumericsShims|SystemPackage"
        r"|CSystem|C?_?Atomics.*|Logging"),
    "this project": r"[A-Z]\w*|oob_agent|oobctl|oob_issuer",
}
REST = "relocations, tables of the linker"


def part(source: str) -> str:
    archive, module = ARCHIVE.search(source), MODULE.search(source)
    name = (archive[1] or archive[2]) if archive else module[1] if module else ""
    return next((part for part, names in PARTS.items() if re.fullmatch(names, name)), REST)


def parts(linker_map: Path) -> Counter[str]:
    """Bytes of each part of a program."""
    found: Counter[str] = Counter()
    section = ""
    with linker_map.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if match := LINE.fullmatch(line):
                size, depth, what = int(match[1], 16), len(match[2]), match[3]
                if depth == 0:
                    section = what
                elif depth == 8 and section not in ABSENT:
                    found[part(what)] += size
    return found


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".build" / "deb"
    columns = [parts(folder / f"{program}.map") for program in PROGRAMS]
    print(f"| MB | {' | '.join(f'`{program}`' for program in PROGRAMS)} |\n|---|{'---|' * len(PROGRAMS)}")
    for name in [*PARTS, REST]:
        print(f"| {name} | {' | '.join(f'{column[name] / 1e6:.1f}' if column[name] else '' for column in columns)} |")
    print(f"| **all** | {' | '.join(f'**{sum(column.values()) / 1e6:.1f}**' for column in columns)} |")


main()
