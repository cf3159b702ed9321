"""Writes the catalogue and the sheet of the demo, with fictional products; the result is always the same.

python -m forebay.pipelines.sheets.demo_files.write
"""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

from forebay.services.products.gtins import check_digit

FOLDER = Path(__file__).parent
BRANDS = ("Bergwerk", "Lumina", "Nordpol", "Casa Verde", "Quill & Co", "Tamarind", "Holzmann", "Velo")
THINGS = {
    "Kettle": ("Kitchen", ("1.2 l", "1.5 l", "1.7 l"), 35),
    "Toaster": ("Kitchen", ("two slices", "four slices"), 40),
    "Desk lamp": ("Lighting", ("LED 6 W", "LED 9 W"), 45),
    "Headlight": ("Cycling", ("300 lm", "600 lm"), 30),
    "Notebook": ("Office", ("A5 ruled", "A4 dotted"), 8),
    "Fountain pen": ("Office", ("fine nib", "broad nib"), 25),
    "Backpack": ("Outdoor", ("20 l", "35 l"), 70),
    "Thermos bottle": ("Outdoor", ("0.5 l", "0.75 l", "1 l"), 22),
    "Wall clock": ("Living", ("25 cm", "30 cm"), 28),
    "Wool blanket": ("Living", ("130 x 170 cm", "150 x 200 cm"), 60),
}
MODELS = ("Aurora", "Polaris", "Morgenrot", "Siena", "Fjord", "Atlas", "Mistral", "Cedar", "Orbit", "Linea")
COLOURS = ("black", "white", "red", "blue", "green", "steel", "oak")

Product = dict[str, str]


def products(count: int = 200) -> list[Product]:
    dice = random.Random(5)  # noqa: S311 - a seed, so that the files are the same
    made: dict[str, Product] = {}
    while len(made) < count:
        thing = dice.choice(list(THINGS))
        category, sizes, price = THINGS[thing]
        brand, model, colour, size = (dice.choice(each) for each in (BRANDS, MODELS, COLOURS, sizes))
        title = f"{thing} {model} {size} {colour}"
        n = len(made)
        body = f"200{n * 7919 % 10**9:09d}"  # GTINs that begin with 2 are reserved for internal use
        made.setdefault(
            f"{brand} {title}",
            {
                "sku": f"{brand[:2].upper()}-{1000 + n}",
                "gtin": body + check_digit(body),
                "mpn": f"{model[:2].upper()}{n:03d}/{colour[0].upper()}",
                "brand": brand,
                "title": title,
                "price": f"{price * dice.uniform(0.7, 1.6):.2f}",
                "currency": "EUR",
                "category": category,
                "url": f"https://shop.example/p/{1000 + n}",
            },
        )
    return list(made.values())


def rows(listed: list[Product]) -> list[dict[str, str]]:
    """Realistic rows: empty cells, other word order, typos, other price formats."""
    dice = random.Random(7)  # noqa: S311
    made: list[dict[str, str]] = []
    for n, product in enumerate(dice.sample(listed, 57)):
        row = {
            "Name": f"{product['title']}",
            "Marke": product["brand"],
            "EAN": "",
            "Preis": _price(n, product["price"]),
        }
        match n % 6:
            case 0:
                row["EAN"] = product["gtin"]
            case 1:
                row["Name"] = _typo(product["title"], dice)
            case 2:
                row["Name"] = " ".join(reversed(product["title"].split(" ", 2)))
            case 3:
                row["Name"] = f"{product['title'].upper()} (NEW, boxed)"
            case 4:
                row |= {"EAN": f"EAN {product['gtin']}", "Name": product["title"].split()[0]}
            case _:
                row |= {"Marke": "", "Name": f"{product['brand']} {product['title']}"}
        made.append(row)
    made.insert(20, {"Name": "Garden gnome with lantern 40 cm", "Marke": "Zwergenland", "EAN": "", "Preis": "19,90 €"})
    made.insert(41, {"Name": "Ukulele soprano mahogany", "Marke": "Kahuna", "EAN": "", "Preis": "1.049,00"})
    made.insert(50, {"Name": "???", "Marke": "", "EAN": "12345", "Preis": "on request"})
    return made


def _typo(text: str, dice: random.Random) -> str:
    first = text.split(maxsplit=1)[0]
    at = dice.randrange(1, len(first) - 1)
    return text.replace(first, first[:at] + first[at + 1] + first[at] + first[at + 2 :], 1)


def _price(n: int, price: str) -> str:
    comma = price.replace(".", ",")
    return (f"{comma} €", f"EUR {comma}", comma, f"{comma} EUR")[n % 4]


def _csv(listed: list[dict[str, str]], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(listed[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    return out.getvalue().encode()


def demo_files() -> dict[str, bytes]:
    """The contents by file name."""
    listed = products()
    return {"catalogue.csv": _csv(listed, ","), "sheet.csv": _csv(rows(listed), ";")}


if __name__ == "__main__":
    for name, data in demo_files().items():
        (FOLDER / name).write_bytes(data)
