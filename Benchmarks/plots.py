"""Plots as SVG, of points that were measured: nothing but text, so that a change of one can be read as a change."""

import math
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 70, 44, 20, 52
COLOURS = ("#0969da", "#bc4c00")
STYLE = """
    .page { fill: #ffffff; stroke: #d0d7de; }
    .grid { stroke: #d8dee4; }
    text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #59636e; }
    .title { font-weight: 600; font-size: 14px; fill: #1f2328; }
"""


@dataclass
class Line:
    """One curve: its name with its unit, and its points."""

    name: str
    points: dict[float, float]


class Scale:
    """Of an axis, linear or logarithmic, from values to pixels."""

    def __init__(self, values: list[float], start: int, end: int, is_log: bool):
        self.start, self.end, self.is_log = start, end, is_log
        if is_log:
            low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
            self.ticks = [10.0**each for each in range(low, max(high, low + 1) + 1)]
        else:
            step = nice(max(values) / 4 or 1)
            self.ticks = [step * each for each in range(math.ceil(max(values) / step) + 1)]

    def at(self, value: float) -> float:
        low, high, value = (math.log10(each) if self.is_log else each for each in (*self.ends, value))
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    @property
    def ends(self) -> tuple[float, float]:
        return self.ticks[0], self.ticks[-1]


def nice(step: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(step))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= step * 0.999)


def plot(title: str, below: str, lines: list[Line], is_log: bool = True) -> str:
    """Each line has a scale of its own: the first on the left, the second on the right. What is at 0 is put at 1 on a
    logarithmic axis."""
    across = Scale([max(x, 1) if is_log else x for line in lines for x in line.points],
                   LEFT, WIDTH - RIGHT - (50 if len(lines) > 1 else 0), is_log)
    parts = [f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}"/>',
             text(WIDTH / 2, 24, title, "middle", "title"),
             text((across.start + across.end) / 2, HEIGHT - 12, below, "middle")]
    for tick in across.ticks:
        parts += [grid(across.at(tick), TOP, across.at(tick), HEIGHT - BOTTOM),
                  text(across.at(tick), HEIGHT - BOTTOM + 18, f"{tick:,.0f}", "middle")]
    for place, line in enumerate(lines):
        parts += curve(line, across, COLOURS[place], is_right=place == 1)
    inner = "\n".join("  " + part for part in parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" role="img" aria-label="{escape(title)}">\n'
            f"  <style>{STYLE}  </style>\n{inner}\n</svg>\n")


def curve(line: Line, across: Scale, colour: str, is_right: bool) -> list[str]:
    up = Scale(list(line.points.values()), HEIGHT - BOTTOM, TOP, False)
    side, anchor = (across.end + 6, "start") if is_right else (LEFT - 6, "end")
    parts = [text(side, up.at(tick) + 4, f"{tick:,.6g}", anchor, colour=colour) for tick in up.ticks]
    if not is_right:
        parts += [grid(LEFT, up.at(tick), across.end, up.at(tick)) for tick in up.ticks]
    places = [(across.at(max(x, 1) if across.is_log else x), up.at(y)) for x, y in sorted(line.points.items())]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
    parts.append(text(side if is_right else LEFT - 60, TOP - 10, line.name, "end" if is_right else "start",
                      colour=colour))
    return parts


def text(x: float, y: float, words: str, anchor: str, kind: str = "", colour: str = "") -> str:
    look = f' class="{kind}"' if kind else f' style="fill: {colour}"' if colour else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{look}>{escape(words)}</text>'


def grid(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
