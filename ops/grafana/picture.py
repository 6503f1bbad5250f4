#!/usr/bin/env python3
"""Draws the dashboard, as dashboard.json describes it, from what Prometheus answered to its queries.

    picture.py PANELS.json OUT.png

PANELS.json comes from `ops/experiments/run dashboard --long`. The titles, units, places and legends of the panels are
the dashboard's own; only the drawing is not Grafana's.
"""

import json
import math
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.dates
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import FuncFormatter, MaxNLocator
from PIL import Image

HERE = Path(__file__).resolve().parent
DOTS_PER_INCH = 100
UNIT = 34 / DOTS_PER_INCH  # The height of one step of Grafana's grid, in inches.
PAGE = 16.0  # The width of the page, in inches.
GAP = 0.05
HEAD = 0.55  # The space for the title of the page.
COLORS = ["#1f78b4", "#e8833a", "#3a9a5b", "#b5438f", "#7a5bb5", "#8a6d3b", "#17a2b8", "#d62f3b", "#6b7280"]
STATES = {"green": "#56a64b", "yellow": "#f2cc0c", "red": "#e02f44"}
INK, PALE, GRID, PAPER = "#24292e", "#6a737d", "#e4e7eb", "#f4f5f5"


def worded(value: float, unit: str) -> str:
    """Returns a value as people read it."""
    if math.isnan(value):
        return "no data"
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    if unit == "bytes":
        return f"{value / 1e6:.0f} MB"
    if unit == "s":
        if value == 0:
            return "0 s"
        return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s" if value < 120 else f"{value / 60:.3g} min"
    if unit == "reqps":
        return f"{value:.3g}/s"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def legend_of(target: dict, labels: dict) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda label: labels.get(label[1], ""), target["legendFormat"])


def columns(legends: list[str]) -> int:
    """Returns how many legends fit beside each other."""
    return 2 if max(map(len, legends), default=0) > 21 else 3


def lines_of(panel: dict, answers: list) -> list[tuple[str, list, list]]:
    """Returns the lines of a panel: legend, times, values."""
    lines = []
    for target, series in zip(panel["targets"], answers):
        for one in series:
            times = [datetime.fromtimestamp(t, UTC) for t, _ in one["values"]]
            lines.append((legend_of(target, one["metric"]), times, [float(value) for _, value in one["values"]]))
    return lines


class Page:
    def __init__(self, dashboard: dict, recorded: dict):
        self.panels, self.recorded = dashboard["panels"], recorded
        self.steps = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in self.panels)
        self.height = self.steps * UNIT + HEAD + GAP
        self.figure = plt.figure(figsize=(PAGE, self.height), dpi=DOTS_PER_INCH, facecolor=PAPER)
        self.start, self.end = (datetime.fromtimestamp(recorded[name], UTC) for name in ("start", "end"))
        minutes = round((self.end - self.start).total_seconds() / 60)
        self._text(0.15, HEAD / 2, dashboard["title"], size=16, weight="bold")
        self._text(PAGE - 0.15, HEAD / 2, f"two workers under load, {minutes} minutes", size=11, color=PALE, ha="right")

    def draw(self) -> None:
        for panel in self.panels:
            place = panel["gridPos"]
            left, top = place["x"] / 24 * PAGE, HEAD + place["y"] * UNIT
            width, height = place["w"] / 24 * PAGE, place["h"] * UNIT
            if panel["type"] == "row":
                self._text(left + 0.15, top + height / 2, panel["title"], size=13, weight="bold")
                continue

            self._box(left + GAP, top + GAP, width - 2 * GAP, height - 2 * GAP)
            self._text(left + 0.18, top + 0.24, panel["title"], size=10.5, weight="medium")
            lines = lines_of(panel, self.recorded["panels"][str(panel["id"])])
            draw = {"stat": self._stat, "state-timeline": self._states}.get(panel["type"], self._lines)
            draw(panel, lines, left, top, width, height)

    def _stat(self, panel: dict, lines: list, left: float, top: float, width: float, height: float) -> None:
        defaults = panel["fieldConfig"]["defaults"]
        for index, (legend, _times, values) in enumerate(lines):
            share = (width - 0.3) / len(lines)
            middle = left + 0.15 + share * (index + 0.5)
            last = values[-1]
            color = STATES["green"]
            for step in defaults["thresholds"]["steps"]:
                if step["value"] is None or last >= step["value"]:
                    color = STATES[step["color"]]
            self._text(
                middle,
                top + height * 0.5,
                worded(last, defaults["unit"]),
                size=19 if len(lines) > 2 else 23,
                weight="bold",
                color=color,
                ha="center",
            )
            if len(lines) > 1:
                self._text(
                    middle, top + height * 0.73, legend, size=9 if len(lines) < 3 else 8, color=PALE, ha="center"
                )

    def _lines(self, panel: dict, lines: list, left: float, top: float, width: float, height: float) -> None:
        defaults = panel["fieldConfig"]["defaults"]
        axes = self._axes(left, top, width, height, [legend for legend, _, _ in lines])
        stacked = defaults["custom"]["stacking"]["mode"] == "normal"
        colors = [COLORS[index % len(COLORS)] for index in range(len(lines))]
        if stacked and lines:
            times = sorted({time for _, line_times, _ in lines for time in line_times})
            known = [dict(zip(line_times, values)) for _, line_times, values in lines]
            axes.stackplot(
                times,
                [[one.get(time, 0) for time in times] for one in known],
                labels=[legend for legend, _, _ in lines],
                colors=colors,
                alpha=0.75,
                linewidth=0,
            )
        for (legend, times, values), color in zip([] if stacked else lines, colors):
            axes.plot(times, values, color=color, linewidth=1.4, label=legend)
            if len(lines) <= 2:
                axes.fill_between(times, values, color=color, alpha=0.1, linewidth=0)

        axes.set_ylim(bottom=0, top=defaults.get("max"))
        highest = axes.get_ylim()[1]
        if not any(value > 0 for _, _, values in lines for value in values):
            axes.set_ylim(0, 1)
        elif "max" not in defaults:
            axes.set_ylim(0, highest * 1.05)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=defaults["unit"] == "short" and highest > 3))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: worded(value, defaults["unit"])))
        self._legend(axes, [legend for legend, _, _ in lines])

    def _states(self, panel: dict, lines: list, left: float, top: float, width: float, height: float) -> None:
        options = panel["fieldConfig"]["defaults"]["mappings"][0]["options"]
        axes = self._axes(left, top, width, height, [option["text"] for option in options.values()])
        for row, (legend, times, values) in enumerate(lines):
            ends = times[1:] + [self.end]
            for begin, end, value in zip(times, ends, values):
                axes.barh(
                    row,
                    end - begin,
                    left=begin,
                    height=0.6,
                    color=STATES[options[str(int(value))]["color"]],
                    linewidth=0,
                )
            axes.text(
                0.01,
                row,
                legend,
                transform=axes.get_yaxis_transform(),
                va="center",
                fontsize=9,
                color="white",
                weight="bold",
            )
        axes.set_yticks([])
        axes.set_ylim(len(lines) - 0.4, -0.6)
        for option in options.values():
            axes.plot([], [], color=STATES[option["color"]], linewidth=6, label=option["text"])
        self._legend(axes, [option["text"] for option in options.values()])

    def _axes(self, left: float, top: float, width: float, height: float, legends: list[str]):
        """Returns axes within a panel, with room for its title above and for its legend below."""
        legend = 0.2 * math.ceil(len(legends) / columns(legends)) + 0.14
        x, y, w, h = left + 0.85, top + 0.48, width - 1.1, height - 0.48 - 0.35 - legend
        axes = self.figure.add_axes((x / PAGE, 1 - (y + h) / self.height, w / PAGE, h / self.height), facecolor="none")
        axes.set_xlim(self.start, self.end)
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=8.5, colors=PALE, length=0)
        axes.xaxis.set_major_locator(matplotlib.dates.AutoDateLocator(minticks=4, maxticks=8))
        axes.xaxis.set_major_formatter(matplotlib.dates.DateFormatter("%H:%M"))
        for side in axes.spines.values():
            side.set_visible(False)
        return axes

    def _legend(self, axes, legends: list[str]) -> None:
        if not legends:
            axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", va="center", color=PALE)
            return
        bottom = -0.28 / (axes.get_position().height * self.height)
        axes.legend(
            loc="upper left",
            bbox_to_anchor=(-0.12, bottom),
            ncols=columns(legends),
            fontsize=8.5,
            frameon=False,
            labelcolor=INK,
            handlelength=1.2,
            columnspacing=1.2,
            handletextpad=0.5,
            borderaxespad=0,
            labelspacing=0.35,
        )

    def _box(self, left: float, top: float, width: float, height: float) -> None:
        self.figure.add_artist(
            FancyBboxPatch(
                (left / PAGE, 1 - (top + height) / self.height),
                width / PAGE,
                height / self.height,
                boxstyle="square,pad=0",
                facecolor="white",
                edgecolor=GRID,
                linewidth=1,
                transform=self.figure.transFigure,
                zorder=-1,
            )
        )

    def _text(self, x: float, y: float, text: str, color: str = INK, ha: str = "left", **style) -> None:
        self.figure.text(x / PAGE, 1 - y / self.height, text, color=color, ha=ha, va="center", **style)

    def save(self, file: Path) -> None:
        """Writes a PNG with few colours, which halves its size."""
        self.figure.savefig(file, facecolor=PAPER)
        Image.open(file).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__)
        return 64
    plt.rcParams["font.family"] = "DejaVu Sans"
    page = Page(json.loads((HERE / "dashboard.json").read_text()), json.loads(Path(sys.argv[1]).read_text()))
    page.draw()
    page.save(Path(sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
