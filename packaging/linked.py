"""What a finished release build has linked into the programs, as the build itself has noted it."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Which programs each Debian package has.
PROGRAMS = {"oob-agent": ["oob-agent", "oobctl"], "oob-testkit": ["oob-issuer", "oob-conform", "oob-inbox"]}
CHECKOUT = re.compile(r"/checkouts/([^/]+)/")


@dataclass(frozen=True)
class Bundled:
    """Other people's code inside a package: the module that holds it, and where that says which version it is."""

    module: str
    name: str
    url: str
    licence: str
    file: str = ""
    version: str = ""
    terms: str = "LICENSE"

    def text(self, folder: Path) -> str:
        """Its licence: a file, or the comment that a header begins with; empty if the package has neither."""
        path = folder / "Sources" / self.module / self.terms
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return text.removeprefix("/*").partition("*/")[0] if path.suffix == ".h" else text


BUNDLED = [
    Bundled("CNIOBoringSSL", "boringssl", "https://boringssl.googlesource.com/boringssl",
            "Apache-2.0 AND MIT", "hash.txt", r"revision ([0-9a-f]{40})"),
    Bundled("CNIOLLHTTP", "llhttp", "https://github.com/nodejs/llhttp", "MIT", "include/c_nio_llhttp.h",
            r"VERSION_MAJOR (\d+)\n.*VERSION_MINOR (\d+)\n.*VERSION_PATCH (\d+)"),
    Bundled("CNIOExtrasZlib", "zlib", "https://github.com/madler/zlib", "Zlib", "vendored-zlib.version", r"(\S+)",
            "include/nioextras-zlib.h"),
    Bundled("CYaml", "libyaml", "https://github.com/yaml/libyaml", "MIT"),
]


@dataclass
class Package:
    """One of Package.resolved, of which at least one module is in a program."""

    name: str
    folder: Path
    url: str
    version: str
    revision: str
    modules: set[str] = field(default_factory=set)

    def text(self, kind: str) -> str:
        """Its LICENSE or NOTICE; empty if it has none."""
        found = sorted(self.folder.glob(f"{kind}*"))
        return found[0].read_text(encoding="utf-8") if found else ""

    @property
    def licence(self) -> str:
        """Its licence as SPDX has it; one that nobody has looked at yet is an error."""
        text = self.text("LICENSE")
        if "Apache License" in text:
            return "Apache-2.0" + (" WITH Swift-exception" if "Runtime Library Exception" in text else "")
        if "Permission is hereby granted, free of charge" in text:
            return "MIT"
        raise SystemExit(f"packaging: {self.folder}: its licence is neither Apache-2.0 nor MIT: look at it")

    @property
    def bundled(self) -> list[Bundled]:
        return [each for each in BUNDLED if each.module in self.modules]

    def bundled_version(self, bundled: Bundled) -> str | None:
        if not bundled.file:
            return None
        text = (self.folder / "Sources" / bundled.module / bundled.file).read_text(encoding="utf-8")
        found = re.search(bundled.version, text)
        if found is None:
            raise SystemExit(f"packaging: {bundled.name}: no version in {bundled.file} of {bundled.module}")
        return ".".join(found.groups())


def modules(release: Path, program: str) -> set[str]:
    """The modules whose objects the linker was given."""
    objects = (release / f"{program}.product" / "Objects.LinkFileList").read_text(encoding="utf-8")
    return set(re.findall(r"/([^/]+)\.build/", objects))


def checkout_of(release: Path, module: str) -> str | None:
    """The package that a module's sources are of; None if they are this project's own."""
    build = release / f"{module}.build"
    # A Swift module has a list of its sources; one of C or assembly says of each object what it was made from.
    listed = build / "sources"
    note = listed if listed.exists() else next(iter(sorted(build.rglob("*.d"))), None)
    found = CHECKOUT.search(note.read_text(encoding="utf-8")) if note else None
    return found[1] if found else None


def packages(scratch: Path, package: str) -> list[Package]:
    """All that is linked into any program of a Debian package, by name."""
    pins = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]
    by_folder = {pin["location"].rsplit("/", 1)[1].removesuffix(".git"): pin for pin in pins}
    release = scratch / "release"
    found: dict[str, Package] = {}
    for module in sorted(set().union(*(modules(release, program) for program in PROGRAMS[package]))):
        name = checkout_of(release, module)
        if name is None:
            continue
        pin = by_folder[name]
        linked = found.setdefault(name, Package(
            name, scratch / "checkouts" / name, pin["location"], pin["state"]["version"], pin["state"]["revision"]))
        linked.modules.add(module)
    return [found[name] for name in sorted(found)]


def swift_version(scratch: Path) -> str:
    """Of the compiler that made the build, whose runtime is in the programs."""
    (said,) = (scratch / "release").glob("swift-version-*.txt")
    return re.search(r"Swift version (\S+)", said.read_text(encoding="utf-8"))[1]


def icu_version(scratch: Path, package: str) -> str | None:
    """Of the ICU inside Foundation, as the toolchain of the build has it; None if no program of a package has it."""
    if not any(b"icudt" in (scratch / "release" / program).read_bytes() for program in PROGRAMS[package]):
        return None
    compiler = re.search(r'"(/[^"]+/swiftc)"', (scratch / "release.yaml").read_text(encoding="utf-8"))[1]
    header = Path(compiler).resolve().parents[1] / "lib/swift_static/_foundation_unicode/uvernum.h"
    return re.search(r'define U_ICU_VERSION "(\S+)"', header.read_text(encoding="utf-8"))[1]
