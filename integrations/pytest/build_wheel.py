"""Makes the wheel (PEP 517, PEP 427): a package of pure Python needs no more, and so pip needs nothing else to install it."""

import base64
import hashlib
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = "pytest_oob_authenticator"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None) -> str:
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stem = f"{PACKAGE}-{project['version']}"
    files = {f"{PACKAGE}/{file.name}": file.read_bytes() for file in sorted((HERE / PACKAGE).glob("*.py"))}
    info = {
        "METADATA": metadata(project),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": "".join(
            f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
            for group, entries in project["entry-points"].items()),
    }
    files |= {f"{stem}.dist-info/{name}": text.encode() for name, text in info.items()}
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{stem}.dist-info/RECORD"] = f"{record}{stem}.dist-info/RECORD,,\n".encode()
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(zipfile.ZipInfo(path), data)
    return name


def metadata(project: dict) -> str:
    lines = [
        "Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
        f"Summary: {project['description']}", f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {each}" for each in project["dependencies"]),
        *(f"Classifier: {each}" for each in project["classifiers"]),
    ]
    return "\n".join(lines) + "\n"


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
