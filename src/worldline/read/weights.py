"""What each feature is worth: one table for every store, language and kind of conversation.

How it was fitted: listwise softmax (`bench/fit.py`) over the pools of three public development
sets, of stories and of small memories, with and without vectors (the latter at half weight), each set
counting the same; checked on whole sets that were left out, and on conversations; rounded to .05.
``EVIDENCE`` is a logistic fit, classes balanced, of answerable against unanswerable questions: of a public set,
of memories of four to twelve texts, and of stories by two hands, each counting the same, every sign as its
meaning demands; but for "open", which the fit over all puts at −.3 and that over small memories, whose questions
use the words that were said, far lower: it stands between the two.
"""

WEIGHTS: dict[str, float] = {
    "meaning": 0.5,
    "cover": 2.15,
    "news": 1.6,
    "told": 1.15,
    "session": 0.3,
    "before": 0.35,
    "after": 0.2,
    "answers": 0.35,
    "own": 0.75,
    "length": 0.2,
    "details": 0.2,
    "reacts": -0.4,
    "role": 2.75,
    "speaker": 0.9,
    "window": 2.35,
    "wanted": 0.85,
    "advice": 4.35,
}

TOPIC, CITED = 0.75, 0.25
"""For broad questions: how far a turn is raised towards the best of its topic, and what it is worth to be cited by
a summary. By leave-one-conversation-out over the questions of two public sets that ask for summaries and orders."""

WORLD = 0.05
"""What the nearness of a turn's world is worth: the least that shows. No weight gained anything that is
significant on the development sets, so the worlds lane is there for the candidates that it brings."""

THIS_SESSION = 0.4
"""What it is worth to have been said in the session at hand; set by hand, no public file has one."""

FEW, MANY = 10, 20
"""How many turns are returned when the caller names no limit; MANY when several are asked for."""

EVIDENCE: dict[str, float] = {
    "open": -1.5,
    "lacks": -0.75,
    "person": 1.0,
    "own": 2.9,
    "meaning": 0.8,
    "answered": 1.05,
    "reach": 2.8,
}
CERTAIN = -1.3
"""The constant of the same fit: together they give the probability that there is an answer."""
THRESHOLD = 0.345
"""Below this, recall says that it does not know: it keeps nine in ten of what small memories, stories and chats can
answer, and eight in ten where a story's questions avoid its words."""

UNTOLD = 0.4
"""The most that a question reaches which asks for no value: whether, why, how; less, the more of it is left open."""

PROFILE = 0.1
"""What it is worth that a turn tells a landmark of the kind and the person asked for; more did not help."""

SIGNALS: dict[str, float] = {"surprise": 0.05, "strength": 0.5, "landmark": 0.1, "cause": 0.2}
"""What the signals that sleep leaves are worth (`read/beside.py`)."""
