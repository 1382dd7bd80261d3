#!/usr/bin/env python3
"""Draws what bench_growth prints: bench_growth | plot_growth.py growth.svg

Three panels, logarithmic both ways: CPU time an op and run against the number of ops, of samples, and of elements.
"""
import json
import math
import sys

LINES = [("bare", "#777777"), ("hook", "#1b6ca8"), ("events", "#2a9d4b"), ("lockstep", "#c0392b")]
NAMES = {"bare": "bare", "hook": "hook and markers", "events": "and events", "lockstep": "lock-step, all metrics"}
TITLES = {"ops": "ops (4 elements each)", "samples": "samples (65,536 elements)", "elements": "elements a tensor"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 250, 220, 60, 50, 60


def points(lines):
    found = [json.loads(line[7:]) for line in lines if line.startswith("RESULT ")]
    return [p for p in found if p.get("name") == "growth"]


def decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def text(x, y, content, anchor="middle", size=11):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{content}</text>'


def panel(left, axis, rows, vertical):
    xs = decades([p["at"] for p in rows])
    at_x = lambda v: left + WIDTH * (math.log10(v) - xs[0]) / (xs[1] - xs[0])
    at_y = lambda v: TOP + HEIGHT * (1 - (math.log10(v) - vertical[0]) / (vertical[1] - vertical[0]))
    parts = [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
             text(left + WIDTH / 2, TOP + HEIGHT + 36, TITLES[axis])]
    for d in range(xs[0], xs[1] + 1):
        parts.append(text(at_x(10 ** d), TOP + HEIGHT + 16, f"{10 ** d:g}", size=9))
    for d in range(vertical[0], vertical[1] + 1):
        parts.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{at_y(10 ** d):.1f}" y2="{at_y(10 ** d):.1f}" stroke="#e5e5e5"/>')
        parts.append(text(left - 6, at_y(10 ** d) + 3, f"{10 ** d:g}", "end", 9))
    for name, colour in LINES:
        path = " ".join(f'{at_x(p["at"]):.1f},{at_y(p[name]["median"]):.1f}' for p in rows)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for p in rows:
            x, y = at_x(p["at"]), [at_y(p[name][k]) for k in ("low", "high")]
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y[0]:.1f}" y2="{y[1]:.1f}" stroke="{colour}"/>')
            parts.append(f'<circle cx="{x:.1f}" cy="{at_y(p[name]["median"]):.1f}" r="2.5" fill="{colour}"/>')
    return parts


def draw(rows):
    values = [p[name][k] for p in rows for name, _ in LINES for k in ("low", "high")]
    vertical = decades(values)
    axes = [a for a in TITLES if any(p["axis"] == a for p in rows)]
    width = LEFT + len(axes) * (WIDTH + GAP)
    height = TOP + HEIGHT + 50
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>', text(LEFT, 18, "CPU time an op and run, in microseconds: median, 95 % interval", "start", 12)]
    for i, (name, colour) in enumerate(LINES):
        parts.append(f'<rect x="{LEFT + 170 * i}" y="28" width="12" height="4" fill="{colour}"/>')
        parts.append(text(LEFT + 170 * i + 18, 34, NAMES[name], "start"))
    for i, axis in enumerate(axes):
        parts += panel(LEFT + i * (WIDTH + GAP), axis, [p for p in rows if p["axis"] == axis], vertical)
    return "\n".join(parts + ["</svg>", ""])


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: bench_growth | plot_growth.py OUT.svg")
    rows = points(sys.stdin)
    if not rows:
        sys.exit("plot_growth.py: no growth RESULT lines on standard input")
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write(draw(rows))


if __name__ == "__main__":
    main(sys.argv)
