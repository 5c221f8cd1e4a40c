"""Closed word classes that decide how many values a slot holds.

Data only.  `MANY` are stems of which a person has or does several; `ONE_AT_A_TIME` nouns of which
there is one; `FUNCTIONAL_KEYS` predicate keys that hold of one thing at a time.
"""

from __future__ import annotations

from worldline.reading.claim import predicate_key, stem


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


MANY = _stems(
    "like love hate enjoy prefer dislike adore appreciate visit travel go see watch read eat cook try buy "
    "speak know meet interest interested allergic fan friend member good excited proud use want need learn "
    "teach help support collect own have contain include hobby sister brother cousin child son daughter pet "
    "dog cat friend colleague neighbour neighbor student teacher goal dream plan idea problem issue part "
    "thing way reason advantage example feature interested passionate curious worried scared afraid bad "
    "involved volunteer attend join play sing dance listen write paint draw build make "
    "bake grow plant donate give receive get find lose win participate consider recommend suggest think feel "
    "believe hope wish dream aim follow talk discuss mention ask tell say skill "
    "language book movie film song "
    "band game recipe dish place memory challenge tip benefit symptom value "
    "strength weakness hero inspiration"
)
ONE_AT_A_TIME = _stems(
    "wife husband spouse partner boyfriend girlfriend fiance fiancee boss manager "
    "supervisor landlord employer "
    "job occupation profession role position title rank salary income rent budget address home hometown "
    "birthplace birthday birthdate age height weight email phone number name "
    "surname nickname password username "
    "nationality citizenship religion capital currency population ceo president "
    "chairperson chairman director "
    "governor mayor minister leader head coach captain owner author founder "
    "creator mother father mom mum dad "
    "headquarters deadline status favourite favorite gender pronoun pronouns timezone major "
    "university employer company department diet size balance tier subscription"
)
FUNCTIONAL_KEYS = frozenset(
    predicate_key(words.split(), preposition)
    for words, preposition in (
        ("live", "in"),
        ("lives", "in"),
        ("living", "in"),
        ("reside", "in"),
        ("based", "in"),
        ("work", "for"),
        ("works", "as"),
        ("employed", "by"),
        ("married", "to"),
        ("engaged", "to"),
        ("born", "in"),
        ("named", ""),
        ("called", ""),
        ("headquartered", "in"),
        ("located", "in"),
        ("report", "to"),
    )
) - {"|in", "|"}
PASSIVE_MAKING = _stems(
    "founded created written authored developed performed produced directed composed designed invented "
    "built established painted employed published discovered manufactured"
)
