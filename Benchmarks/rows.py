"""The rows of the table: what was measured, what it should be, and how it was measured."""

from dataclasses import asdict, dataclass


@dataclass
class Row:
    """One line. `value` is held against `goal`; what has several values is within it if the worst is."""

    measure: str
    figures: str
    value: float
    goal: float
    goal_text: str
    method: str
    # Whether more is better.
    is_least: bool = False

    @property
    def is_met(self) -> bool:
        return self.value >= self.goal if self.is_least else self.value <= self.goal

    @property
    def json(self) -> dict:
        return {**asdict(self), "is_met": self.is_met}


def table(rows: list[Row]) -> str:
    """In Markdown."""
    lines = ["| measure | measured | goal | met |", "|---|---|---|---|"]
    lines += [f"| {row.measure} | {row.figures} | {row.goal_text} | {'yes' if row.is_met else '**no**'} |"
              for row in rows]
    return "\n".join(lines)


def methods(rows: list[Row]) -> str:
    return "\n".join(f"- **{row.measure}.** {row.method[:1].upper()}{row.method[1:]}." for row in rows)


def ms(seconds: float) -> str:
    return number(seconds * 1000)


def number(value: float) -> str:
    """With about three digits that count."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percentile(values: list[float], share: float) -> float:
    """The smallest value that so many of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(len(ordered) * share * 1000) // 1000) - 1))]
