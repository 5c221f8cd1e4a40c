"""What each feature is worth: one table for every store, language and kind of conversation.

How it was fitted: listwise softmax (`bench/fit.py`) over the pools of three public development
sets, with and without vectors (the latter at half weight), each set counting the same; checked by
five-fold cross-validation over conversations; rounded to .05.  ``EVIDENCE`` is a logistic fit,
classes balanced, of answerable against unanswerable questions: of two of these sets, of little
memories of four to twelve texts, and of stories, with and without vectors, each counting the same,
every sign as its meaning demands.  To change a number, change the fit (`worldline bench fit`), not
the number.
"""

WEIGHTS: dict[str, float] = {
    "words": 0.25,
    "meaning": 0.35,
    "stated": 0.7,
    "lead": 1.4,
    "around": 0.8,
    "kind": 5.5,
    "session best": 0.3,
    "session cover": 0.8,
    "people: before": 0.1,
    "people: after": 0.15,
    "people: answers it": 0.35,
    "people: before that": 0.35,
    "people: own": 0.55,
    "people: to them": -0.5,
    "user: own": 0.8,
    "people: length": 0.5,
    "people: names": 0.45,
    "people: time": 0.5,
    "people: reacts": -0.4,
    "user: after": 0.25,
    "user: length": -0.35,
    "user: opens": 1.0,
    "user: reacts": -0.65,
    "user: asked of me": 1.85,
    "assistant: before": 0.35,
    "assistant: after": -0.25,
    "assistant: length": -0.6,
    "assistant: asked of it": 3.4,
    "summary: assistant": 3.6,
    "speaker": 1.2,
    "window": 3.7,
    "when": 1.05,
    "how many": 0.6,
    "name": 0.55,
    "strict": 0.75,
    "instruction": 3.8,
    "preference": 1.9,
}

TOPIC, CITED = 0.75, 0.25
"""For broad questions: how far a turn is raised towards the best of its topic, and what it is worth to be cited by
a summary. By leave-one-conversation-out over the questions of two public sets that ask for summaries and orders."""

WORLD = 0.05
"""What the nearness of a turn's world is worth: the least that shows. No weight gained anything that is
significant on the development sets, so the worlds lane is there for the candidates that it brings."""

MEETS = 2.0
"""What it is worth in a small memory, read whole, to meet the question in other words; neutral in the large sets."""

THIS_SESSION = 0.4
"""What it is worth to have been said in the session at hand; set by hand, no public file has one."""

FEW, MANY = 10, 20
"""How many turns are returned when the caller names no limit; MANY when several are asked for."""

EVIDENCE: dict[str, float] = {
    "gap": -2.15,
    "apart": -2.85,
    "lacks": -2.25,
    "person": 1.65,
    "own": 3.45,
    "meaning": 2.7,
    "request": 1.35,
}
CERTAIN = -0.5
"""The constant of the same fit: together they give the probability that there is an answer."""
THRESHOLD = 0.37
"""Below this, recall says that it does not know: it keeps nine in ten of what small memories can answer, and
refuses four in five of what they cannot."""

PROFILE = 0.1
"""What it is worth that a turn tells a landmark of the kind and the person asked for; more did not help."""

SIGNALS: dict[str, float] = {"surprise": 0.05, "strength": 0.5, "landmark": 0.1, "cause": 0.2}
"""What the signals that sleep leaves are worth (`read/beside.py`)."""
