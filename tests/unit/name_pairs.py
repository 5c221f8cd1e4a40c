"""A generator of name pairs: the same person or organisation written differently, and look-alikes.

Used by the resolver's test; every list is our own.  `pairs(seed, n)` yields (left, right, same).
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from worldline.wordlists import word_list

GIVEN = {
    "Robert": ["Bob", "Rob"], "William": ["Bill", "Will"], "Elizabeth": ["Liz", "Beth"],
    "Margaret": ["Maggie", "Peggy"], "Katherine": ["Kate", "Kathy"], "Michael": ["Mike"],
    "Thomas": ["Tom"], "Edward": ["Ed", "Ted"], "Andrew": ["Andy"], "Jennifer": ["Jen"],
    "Christopher": ["Chris"], "Rebecca": ["Becky"], "Nicholas": ["Nick"], "Samuel": ["Sam"],
    "Victoria": ["Vicky"], "Gregory": ["Greg"], "Patricia": ["Trish"], "Timothy": ["Tim"],
    "Daniel": ["Dan"], "Stephanie": ["Steph"], "Anna": [], "Claire": [], "Laura": [], "Simon": [],
    "Oliver": [], "Hannah": [], "Martin": [], "Julia": [], "Hugo": [], "Ingrid": [], "Naomi": [],
    "Tobias": [], "Miriam": [], "Felix": [], "Lydia": [], "Oscar": [], "Irene": [], "Rafael": [],
}  # fmt: skip
SURNAMES = word_list(
    "Smith Johnson Okafor Petersen Lindqvist Marchetti Kowalski Delacroix Hernandez Nakamura "
    "Bergmann Fitzgerald Abernathy Castellano Wojcik Thornbury Ashworth Villanueva Rosenthal "
    "Brightman Halvorsen Montgomery Pemberton Sinclair Underwood Whitaker Yamamoto Zimmerman "
    "Blackwood Carmichael Dunleavy Eastwood Falkner Galbraith Harrington Ironside Jefferson "
    "Kingsley Lancaster McAllister Northcott"
)
SOUNDS = [
    ("Sergei Ivanov", "Sergey Ivanoff"), ("Yuri Chaikovsky", "Yury Tchaikovsky"),
    ("Mohammed Hassan", "Muhammad Hasan"), ("Jörg Müller", "Joerg Mueller"),
    ("Dmitri Shostak", "Dmitry Schostak"), ("Katarzyna Wojcik", "Katarzyna Wójcik"),
    ("Philip Knox", "Filip Knox"), ("Youssef Khalil", "Yusuf Khalil"),
    ("Aleksandr Petrov", "Alexander Petrov"), ("Stephen Wright", "Steven Wright"),
    ("Nikolai Zhukov", "Nikolay Zhukov"), ("Ekaterina Orlova", "Yekaterina Orlova"),
    ("Karl Jansson", "Carl Jansson"), ("François Lefèvre", "Francois Lefevre"),
]  # fmt: skip
STEMS = word_list(
    "Acme Northwind Brightleaf Corvus Delphine Evergreen Foxglove Granite Harborline Inkwell "
    "Juniper Kestrel Lumina Meridian Nimbus Orchard Pinnacle Quillon Riverstone Solstice "
    "Tamarack Umbra Vanguard Wexford Zephyr"
)
FIELDS = word_list("Logistics Foods Systems Bank Motors Media Energy Consulting Insurance Software Robotics")
LEGAL = word_list("Inc. Incorporated Corp. Corporation Ltd Limited LLC GmbH Co. PLC")


def typo(rng: random.Random, word: str) -> str:
    """One slip of the fingers, not in the first letter."""
    at = rng.randrange(1, len(word) - 1)
    kind = rng.randrange(4)
    if kind == 0:
        return word[:at] + word[at + 1 :]
    if kind == 1:
        return word[:at] + word[at] + word[at:]
    if kind == 2 and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + rng.choice("aeionrstl".replace(word[at], "")) + word[at + 1 :]


def same_person(rng: random.Random) -> tuple[str, str]:
    """One person, two spellings."""
    given, last = rng.choice(list(GIVEN)), rng.choice(SURNAMES)
    full = f"{given} {last}"
    nicks = GIVEN[given]
    choices = [
        f"{given[0]}. {last}", f"{last}, {given}", f"Dr. {full}", f"{given} {rng.choice('ABCM')}. {last}",
        f"{given} {typo(rng, last)}", f"{typo(rng, given) if len(given) > 5 else given} {last.upper()}",
    ]  # fmt: skip
    choices += [f"{nick} {last}" for nick in nicks] * 2
    return full, rng.choice(choices)


def same_organisation(rng: random.Random) -> tuple[str, str]:
    """One organisation, two spellings."""
    stem, field = rng.choice(STEMS), rng.choice(FIELDS)
    full = f"{stem} {field}"
    a, b = rng.sample(LEGAL, 2)
    three = f"{stem} {rng.choice(STEMS)} {field}"
    choices = [
        (f"{full} {a}", f"{full} {b}"), (full, f"{full} {a}"), (f"{stem} {a}", f"{stem} {b}"),
        (full, f"The {full}"), (full, f"{typo(rng, stem)} {field}"), (f"{full} {a}", f"{full} Group"),
        (f"{stem} & {field}", f"{stem} and {field}"),
        (three, "".join(w[0] for w in three.split())), (full.upper(), f"{full}, {a}"),
    ]  # fmt: skip
    return rng.choice(choices)


def different(rng: random.Random) -> tuple[str, str]:
    """Two people or organisations that look alike."""
    given, other = rng.sample(list(GIVEN), 2)
    last, elsewhere = rng.sample(SURNAMES, 2)
    stem, stem2 = rng.sample(STEMS, 2)
    field, field2 = rng.sample(FIELDS, 2)
    kin = [
        ("Paul", "Paula"),
        ("Mario", "Maria"),
        ("Joan", "John"),
        ("Eric", "Erica"),
        ("Carl", "Carla"),
    ]
    kin += [
        ("Daniel", "Danielle"),
        ("Alexander", "Alexandra"),
        ("Julian", "Julia"),
        ("Lena", "Lina"),
    ]
    one, two = rng.choice(kin)
    choices = [
        (f"{given} {last}", f"{other} {last}"), (f"{given} {last}", f"{given} {elsewhere}"),
        (f"{one} {last}", f"{two} {last}"), (f"{given[0]}. {last}", f"Q. {last}"),
        (f"{stem} {field}", f"{stem} {field2}"), (f"{stem} {field} Inc.", f"{stem2} {field} Inc."),
        (f"First {field} of {stem}", f"Second {field} of {stem}"), (f"{stem} 12", f"{stem} 13"),
        (f"{stem} {field}", f"{stem}"), (f"{given}", f"{other}"),
    ]  # fmt: skip
    return rng.choice(choices)


def pairs(seed: int, count: int) -> Iterator[tuple[str, str, bool]]:
    """Half of the pairs are the same, half are not."""
    rng = random.Random(seed)
    for index in range(count):
        if index % 2:
            yield (*different(rng), False)
        elif index % 20 == 0:
            yield (*rng.choice(SOUNDS), True)
        else:
            yield (*(same_person if index % 4 else same_organisation)(rng), True)
