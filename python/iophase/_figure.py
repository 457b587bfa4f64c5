"""Figures: data in layers over axes, as SVG and on the axes of matplotlib."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._convert import _package, to_numpy

if TYPE_CHECKING:
    from ._iophase import Column

#: Scale, and what stands before the unit, of numbers that are written with a prefix.
PREFIXES = {
    "binary": [(2.0**40, "Ti"), (2.0**30, "Gi"), (2.0**20, "Mi"), (2.0**10, "Ki"), (1.0, "")],
    "decimal": [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m")],
}


class Figure:
    """A figure as a notebook shows it: `title`, `caption`, `panels` (axes and layers with their data), `svg`.

    `axes()` draws it with matplotlib.
    """

    __slots__ = ("caption", "panels", "svg", "title")
    title: str
    caption: str
    panels: list[dict[str, Any]]
    svg: str

    def __init__(self, data: str, svg: str) -> None:
        import json

        parsed = json.loads(data)
        self.title, self.caption, self.panels = parsed["title"], parsed["caption"], parsed["panels"]
        self.svg = svg

    def axes(self, axes: Any = None) -> Any:
        """The axes of matplotlib with this figure, of several panels a list; on `axes` if they are given, else on new ones."""
        if axes is None:
            axes = _subplots(len(self.panels), [panel["height"] for panel in self.panels])
        all_axes = list(axes) if isinstance(axes, (list, tuple)) else [axes]
        for one, panel in zip(all_axes, self.panels):
            _draw_panel(one, panel)
        rows = [layer["row"] + 1 for layer in self.panels[0]["layers"] if layer.get("row") is not None]
        all_axes[0].set_title(self.title, loc="left", pad=6 + 12 * max(rows, default=0))
        return all_axes[0] if len(all_axes) == 1 else all_axes

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<iophase.Figure: {self.title}>"


class Heat:
    """Bytes by rank and time: `numpy.asarray(heat)` has a row for each of `ranks` (first and last) and a column for each bin of `step_s`
    seconds, the first from `start_s` on."""

    __slots__ = ("_cells", "op", "ranks", "shape", "start_s", "step_s")

    def __init__(self, op: str, ranks: list[tuple[int, int]], start_s: float, step_s: float, bins: int, cells: Column) -> None:
        self.op, self.ranks, self.start_s, self.step_s, self._cells = op, ranks, start_s, step_s, cells
        self.shape = len(ranks), bins

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return to_numpy(self._cells, dtype, copy).reshape(self.shape)

    def to_list(self) -> list[list[float]]:
        """The rows as lists."""
        cells, bins = self._cells.to_list(), self.shape[1]
        return [cells[i : i + bins] for i in range(0, len(cells), bins)]

    def axes(self, axes: Any = None) -> Any:
        """The axes of matplotlib with this map."""
        axes = axes or _subplots(1)[0]
        last = self.start_s + self.shape[1] * self.step_s
        extent = (self.start_s, last, self.ranks[0][0] - 0.5, self.ranks[-1][1] + 0.5)
        image = axes.imshow(self.__array__(), aspect="auto", origin="lower", interpolation="nearest", cmap="Blues", extent=extent)
        axes.figure.colorbar(image, label=f"Bytes of {self.op} in {self.step_s:g} s")
        axes.set(xlabel="Time (s)", ylabel="Rank")
        return axes

    def __repr__(self) -> str:
        return f"<iophase.Heat: {self.op} of {self.shape[0]} ranks in {self.shape[1]} bins of {self.step_s:g} s>"


def _subplots(n: int, heights: list[float] | None = None) -> list[Any]:
    """New axes of matplotlib, one below the other."""
    _package("matplotlib", "3.6")
    # by name: type checkers do not look for a package that may be absent
    pyplot = importlib.import_module("matplotlib.pyplot")
    size = (9.6, sum(heights or [400]) / 100 + 1)
    return list(pyplot.subplots(n, figsize=size, height_ratios=heights, layout="constrained", squeeze=False)[1][:, 0])


def _draw_panel(axes: Any, panel: dict[str, Any]) -> None:
    for layer in panel["layers"]:
        _draw_layer(axes, layer, panel)
    for axis, of, limits in ((axes.xaxis, panel["x"], axes.set_xlim), (axes.yaxis, panel["y"], axes.set_ylim)):
        if of["numbers"] == "logarithmic":
            (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
        limits(*of["range"])
        scale, prefix = _prefix(of)
        if of["names"] is not None:
            axis.set_ticks([at for at, _ in of["names"]], [name for _, name in of["names"]])
        elif scale != 1.0:
            low, high = of["range"]
            marks = [t for t in axis.get_major_locator().tick_values(low / scale, high / scale) if low <= t * scale <= high]
            axis.set_ticks([t * scale for t in marks], [f"{t:g}" for t in marks])
        unit = f" ({prefix}{of['unit']})" if of["unit"] else ""
        axis.set_label_text(of["label"] + unit)
    names = {layer["name"] for layer in panel["layers"]} - {""}
    if names and axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small", loc="best")


def _prefix(axis: dict[str, Any]) -> tuple[float, str]:
    if axis["numbers"] != "prefixed":
        return 1.0, ""
    largest = max(abs(x) for x in axis["range"])
    kind = "binary" if axis["unit"].startswith("B") else "decimal"
    return next(((scale, text) for scale, text in PREFIXES[kind] if largest >= scale), (1.0, ""))


def _draw_layer(axes: Any, layer: dict[str, Any], panel: dict[str, Any]) -> None:
    """Draws a layer; curves are steps, and spans without a row are as high as the axes."""
    look: dict[str, Any] = {"color": layer["color"], "alpha": layer["alpha"], "label": layer["name"] or None}
    line = {**look, "linewidth": max(0.5, layer["width"] * 0.75), "linestyle": "--" if layer["dashed"] else "-"}
    kind, points = layer["kind"], layer.get("points", [])
    (left, right), (low, high) = panel["x"]["range"], panel["y"]["range"]
    if kind in ("area", "curve"):
        edges = [layer["start"] + i * layer["step"] for i in range(len(layer["values"]) + 1)]
        axes.stairs(layer["values"], edges, fill=kind == "area", **(look if kind == "area" else line))
    elif kind == "band":
        edges = [layer["start"] + i * layer["step"] for i in range(len(layer["spans"]) + 1)]
        axes.stairs([b for _, b in layer["spans"]], edges, baseline=[a for a, _ in layer["spans"]], fill=True, **look)
    elif kind in ("line", "wave") and len(points) > 1:
        axes.plot([x for x, _ in points], [y for _, y in points], **line)
    elif kind == "stems":
        axes.vlines([x for x, _ in points], low, [y for _, y in points], **line)
    elif kind == "dots":
        axes.plot([x for x, _ in points], [y for _, y in points], "o", markersize=4, **look)
    elif kind == "peaks":
        axes.plot(layer["at"], [high] * len(layer["at"]), "^", clip_on=False, **look)
    elif kind == "marks":
        axes.vlines(layer["at"], low, high, **line)
    elif kind == "levels":
        axes.hlines(layer["at"], left, right, **line)
    elif kind == "spans":
        row = layer["row"]
        bottom, height = (0.0, 1.0) if row is None else (1.01 + 0.04 * row, 0.03)
        axes.broken_barh(
            [(a, b - a) for a, b in layer["spans"]], (bottom, height), transform=axes.get_xaxis_transform(), clip_on=row is None, **look
        )
    elif kind == "boxes":
        axes.bar(
            [x for x, _, _, _ in layer["boxes"]], [y1 - y0 for _, y0, _, y1 in layer["boxes"]], bottom=[y for _, y, _, _ in layer["boxes"]],
            width=[x1 - x0 for x0, _, x1, _ in layer["boxes"]], align="edge", **look,
        )
    elif kind == "texts":
        for (x, y), text in layer["texts"]:
            axes.text(x, y, text, ha="center", va="center", fontsize="small", color=layer["color"])
    elif kind == "map":
        for row in layer["rows"]:
            edges = [row["start"] + i * row["step"] for i in range(len(row["values"]) + 1)]
            axes.pcolormesh(edges, row["y"], [row["values"]], cmap="Blues", vmin=0, vmax=1)
