"""The part of ICU's data that a package's programs have: a program of Swift that is linked with it, and one with all.

Run with `.venv/bin/python Tests/Hosts/test_icu_data.py`. It is skipped without a Swift toolchain that links statically.
"""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from programs import temporary_folder
from systemd_box import CHECKOUT

# Each line asks for something else that ICU has data for.
SOURCE = """
import Foundation
let day = Date(timeIntervalSince1970: 1_700_000_000)
let formatter = DateFormatter()
formatter.dateFormat = "EEEE yyyy-MM-dd HH:mm zzzz"
formatter.timeZone = TimeZone(identifier: "Europe/Berlin")
var calendar = Calendar.current
calendar.timeZone = TimeZone(identifier: "Asia/Tokyo")!
print(
    day.description, NSDate(timeIntervalSince1970: 0).description, formatter.string(from: day), day.formatted(.iso8601),
    ISO8601DateFormatter().string(from: day), calendar.dateComponents([.year, .weekOfYear], from: day).description,
    NumberFormatter().string(from: 1234.5) ?? "none", 1234.5.formatted(.currency(code: "EUR")), day.formatted(),
    Locale.current.identifier, ["a", "b", "c"].formatted(), String(format: "%.2f", 1.5),
    "a".localizedCompare("B").rawValue, "abc".localizedStandardContains("B"), "I".lowercased(with: Locale.current),
    "e".compare("\\u{e9}", options: .diacriticInsensitive).rawValue, URL(string: "http://b\\u{fc}cher.example/") as Any,
    String(data: Data([0xE4]), encoding: .isoLatin1) ?? "none", CocoaError(.fileNoSuchFile).localizedDescription,
    (try! NSRegularExpression(pattern: "\\\\b\\\\p{Lu}\\\\w+")).numberOfMatches(
        in: "Ab cd", range: NSRange(location: 0, length: 5)))
"""


def toolchain() -> Path | None:
    swiftc = shutil.which("swiftc")
    library = swiftc and Path(swiftc).resolve().parents[1] / "lib/swift_static/linux/lib_FoundationICU.a"
    return Path(swiftc) if library and library.exists() else None


@unittest.skipIf(toolchain() is None, "there is no swiftc here that links Foundation statically")
class EnglishData(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder(cls)
        (cls.folder / "main.swift").write_text(SOURCE, encoding="utf-8")
        cls.run_in(CHECKOUT / "packaging" / "icu-data", ".")
        source = CHECKOUT / "Sources" / "Platform" / "CICUData" / "CICUData.c"
        cls.run_in("clang", "-c", f'-DOOB_ICU_DATA="{cls.folder}/icu-data.s"', source, "-o", "data.o")
        for name, objects in [("english", ["data.o"]), ("all", [])]:
            cls.run_in("swiftc", "-static-stdlib", "-use-ld=lld", "main.swift", *objects, "-o", name)

    @classmethod
    def run_in(cls, *command, **environment: str) -> str:
        return subprocess.run(command, cwd=cls.folder, env={**os.environ, **environment}, check=True, text=True,
                              capture_output=True, timeout=560).stdout

    def test_whoever_asks_in_english_gets_what_all_data_answers(self):
        for language in ["C.UTF-8", "en_US.UTF-8"]:
            said = self.run_in("./english", LC_ALL=language, LANG=language)
            self.assertEqual(said, self.run_in("./all", LC_ALL=language, LANG=language))
            self.assertIn("2023-11-14 23:13 Central European", said)

    def test_whoever_asks_in_another_language_gets_an_answer(self):
        for language in ["de_DE.UTF-8", "tr_TR.UTF-8", "zh_CN.UTF-8", "ar_EG.UTF-8", "xx"]:
            self.assertIn("2023-11-14T22:13:20Z", self.run_in("./english", LC_ALL=language, LANG=language))

    def test_the_data_of_all_languages_is_left_out(self):
        sizes = [(self.folder / name).stat().st_size for name in ["english", "all"]]
        self.assertLess(sizes[0], sizes[1] - 25_000_000)


if __name__ == "__main__":
    unittest.main()
