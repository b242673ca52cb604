"""The figure of docs/architecture.md: `python docs/figures/architecture.py` writes architecture.svg beside it.

The rooms are those of .importlinter, so the figure shows the layers that are checked. A way is a list of stops: the
room or rooms where something happens, and what is called there, in the order of the calls. Dots under a room are the
ways that stop there.
"""

from configparser import ConfigParser
from html import escape
from pathlib import Path

HERE = Path(__file__).parent

WAYS = {
    "a fit": (
        ("estimators", "fit, Fitting"),
        ("tables", "read"),
        ("boosting", "boost"),
        ("losses", "loss.on"),
        ("descent", "descend"),
        ("weak", "project"),
        ("trees", "grow"),
        ("backends", "kernels"),
    ),
    "a stream row": (
        ("streams", "learn_one, Team"),
        ("online", "learn_row"),
        ("losses", "check, row"),
        ("backends", "kernels"),
    ),
    "a pool's forecast": (
        ("mirror", "predict_then_fit"),
        ("losses", "check, slope_of_sum"),
        ("checks", "sample_weight"),
        ("backends", "exp, dot"),
    ),
    "a file": (
        ("files", "save, load"),
        ("estimators online mirror planning", "the model"),
        ("boosting", "its Run"),
        ("ensemble", "its Ensemble"),
    ),
}
COLORS = {"a fit": "#0072B2", "a stream row": "#D55E00", "a pool's forecast": "#009E73", "a file": "#AA5599"}
LIGHT = {
    "page": "#ffffff",
    "band": "#f1f3f6",
    "room": "#ffffff",
    "edge": "#c3cad4",
    "ink": "#1b2330",
    "soft": "#566173",
}
DARK = {
    "page": "#12161d",
    "band": "#1c222c",
    "room": "#28303c",
    "edge": "#46505f",
    "ink": "#e9edf3",
    "soft": "#a5b0c0",
}

ROW, GAP, TOP = 46, 8, 62
ROOM_LEFT, LETTER, LANES, LANE = 16, 7.3, 560, 165


def layers() -> list[list[str]]:
    """The rooms, from the highest layer to the lowest."""
    parser = ConfigParser()
    parser.read(HERE.parents[1] / ".importlinter")
    lines = parser["importlinter:contract:layers"]["layers"].split("\n")
    return [[room.strip() for room in line.split("|")] for line in lines if line.strip() and "__" not in line]


def style(colors: dict[str, str]) -> str:
    rules = (
        ".page{{fill:{page}}} .band{{fill:{band}}} .room{{fill:{room};stroke:{edge}}} .ring{{fill:{page}}}",
        ".ink{{fill:{ink}}} .soft{{fill:{soft}}}",
    )
    return " ".join(rules).format(**colors)


def draw(dark: dict[str, str] | None = DARK, light: dict[str, str] = LIGHT) -> str:
    rooms = layers()
    width, height = LANES + LANE * len(WAYS) + 8, TOP + len(rooms) * (ROW + GAP) + 10
    middle = {
        room: TOP + number * (ROW + GAP) + ROW / 2 for number, layer in enumerate(rooms) for room in layer
    }
    both = "" if dark is None else f"@media (prefers-color-scheme: dark) {{ {style(dark)} }}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif" font-size="13">',
        "<title>The rooms of anyboost, and four ways through them</title>",
        f"<style>{style(light)} {both}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="10"/>',
        '<text class="soft" x="16" y="26">rooms: a layer may use those below it,</text>',
        '<text class="soft" x="16" y="44">and rooms of one layer do not use each other</text>',
    ]
    for number, layer in enumerate(rooms):
        out += _band(layer, TOP + number * (ROW + GAP), width)
    for lane, (name, stops) in enumerate(WAYS.items()):
        places = [(middle[rooms.split()[0]], words) for rooms, words in stops]
        out += _way(name, places, LANES + 20 + lane * LANE)
    return "\n".join([*out, "</svg>", ""])


def _band(layer: list[str], y: float, width: float) -> list[str]:
    out = [f'<rect class="band" x="8" y="{y}" width="{width - 16}" height="{ROW}" rx="6"/>']
    x = float(ROOM_LEFT)
    for room in layer:
        wide = LETTER * len(room) + 14
        out.append(f'<rect class="room" x="{x:g}" y="{y + 8}" width="{wide:g}" height="{ROW - 17}" rx="5"/>')
        out.append(f'<text class="ink" x="{x + wide / 2:g}" y="{y + 26}" text-anchor="middle">{room}</text>')
        ways = [name for name, stops in WAYS.items() if any(room in rooms.split() for rooms, _ in stops)]
        for number, name in enumerate(ways):
            place = x + wide / 2 + 11 * (number - (len(ways) - 1) / 2)
            out.append(f'<circle cx="{place:g}" cy="{y + ROW - 9}" r="4" fill="{COLORS[name]}"/>')
        x += wide + 6
    return out


def _way(name: str, stops: list[tuple[float, str]], x: float) -> list[str]:
    """A line through the layers; stops are numbered in the order of the calls."""
    color = COLORS[name]
    places = [y for y, _ in stops]
    out = [
        f'<text x="{x - 11}" y="38" font-weight="bold" font-size="15" fill="{color}">{escape(name)}</text>',
        f'<path d="M{x} {min(places)}V{max(places)}" stroke="{color}" stroke-width="4" stroke-linecap="round"/>',
    ]
    for number, (y, words) in enumerate(stops, 1):
        out += [
            f'<circle class="ring" cx="{x}" cy="{y}" r="11" stroke="{color}" stroke-width="3"/>',
            f'<text class="ink" x="{x}" y="{y + 4.5}" text-anchor="middle" font-size="12">{number}</text>',
            f'<text class="ink" x="{x + 19}" y="{y + 4.5}">{escape(words)}</text>',
        ]
    return out


if __name__ == "__main__":
    (HERE / "architecture.svg").write_text(draw(), encoding="utf-8")
