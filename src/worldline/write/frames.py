"""The frames of first-person speech: patterns of clauses, and the words that fit no frame.

Data only; statements.py decides what a match claims.

    SPEAKER.match("I still live in Porto")["rest"] == "live in Porto"
"""

from __future__ import annotations

import re

from worldline.claims import stem
from worldline.wordlists import word_list, word_set

ADVERB = (
    r"(?:(?:now|currently|still|also|already|just|recently|finally|really|usually|"
    r"always|often|never|actually|"
    r"only|even|both|all|mostly|mainly|generally|normally|typically|regularly|absolutely|totally|definitely|"
    r"officially|probably|sometimes|lately|since|ever|newly|once|formerly|"
    r"previously|simply|kind of|sort of)\s+)*"
)
KIN = (
    r"wife|husband|spouse|partner|boyfriend|girlfriend|fianc[eé]e?|mother|mum|mom|father|dad|parents|sister|"
    r"brother|son|daughter|kids?|children|baby|aunt|uncle|cousin|niece|nephew|"
    r"grandmother|grandfather|grandma|"
    r"grandpa|friend|best friend|boss|manager|colleague|coworker|neighbou?r|roommate|flatmate|mentor|teacher|"
    r"coach|therapist|doctor|dentist|landlord|dog|cat|puppy|kitten|pet|family|team|company"
)
SPEAKER = re.compile(rf"^(?P<who>I|we)\s+(?P<adv>{ADVERB})(?P<rest>.+)$", re.I)
MY = re.compile(
    r"^(?P<det>my|our)\s+(?P<noun>(?:[\w'’-]+\s+){0,3}?[\w'’-]+?)\s+(?P<cop>is|are|was|were)\s+"
    rf"(?P<adv>{ADVERB})(?P<value>.+)$",
    re.I,
)
MY_ONE = re.compile(
    rf"^(?:[Mm]y|[Oo]ur)\s+(?:(?:new|older|younger|little|big|elder|twin|"
    rf"old)\s+)*(?P<kin>{KIN})(?:,?\s+(?P<name>[A-Z][a-z]+))?,?\s+"
    rf"(?P<adv>{ADVERB})(?P<rest>(?:lives?|works?|studies|studied|moved|is|was|has|"
    rf"plays|speaks|loves|likes|hates|"
    r"got|started|teaches|runs|owns|died|passed|graduated|joined|bought|adopted)\b.+)$"
)
SWITCH = re.compile(
    r"^(?:(?:have|had|has|am|are|was|were|been|just|recently|"
    r"finally)\s+)*(?P<verb>switch(?:ed|ing)?|chang(?:ed|ing)|"
    r"upgrad(?:ed|ing)|mov(?:ed|ing)|migrat(?:ed|ing)|transition(?:ed|ing)|"
    r"convert(?:ed|ing)|downgrad(?:ed|ing)|transferred)\s+"
    r"(?P<topic>(?:my|our|the|its)\s+[\w' -]+?\s+)?(?:over\s+)?(?:from\s+(?P<old>.+?)\s+)?to\s+(?P<new>.+)$",
    re.I,
)
NO_LONGER = re.compile(
    r"^(?:do\s+not|am\s+not|are\s+not|can\s+not|have\s+not|did\s+not|is\s+not|"
    r"no\s+longer)\s+(?P<rest>.+?)\s+(?:any\s*more|any\s+longer)\b|"
    r"^(?:(?:am|are|can)\s+)?no\s+longer\s+(?P<bare>.+)$|"
    r"^(?:have\s+)?(?:just\s+|finally\s+|recently\s+)*(?P<quit>stopped|quit|"
    r"gave\s+up|given\s+up|left|cancel+ed|sold|dropped)\s+"
    r"(?!up\b|off\b|for\b|to\b|by\b|out\b|it\b|them\b|behind\b|home\b|early\b|there\b)(?P<what>.+)$",
    re.I,
)
NOT_BUT = re.compile(
    r"^(?P<head>.*?\b(?:is|was|are|were|in|on|at|to|need|have|want|live|work|called|"
    r"named)\s+)?(?P<new>[\w$€£:. '-]{1,40}?),?\s+not\s+(?P<old>[\w$€£:. '-]{1,40})$",
    re.I,
)
SKIP_VERB = word_set(
    "think guess believe know hope wonder mean feel see understand agree suppose "
    "imagine doubt assume wish would "
    "could should might may can will shall must think'd want need try hear heard "
    "noticed notice remember forgot forget "
    "realize realized say said tell told ask asked look looking thinking trying "
    "planning hoping wondering feeling "
    "considering going find found seem appreciate promise bet swear admit "
    "apologize plan decide let make made get do did "
    "not am are was were have had been be to last highly"
)
CONTINUOUS_SKIP = word_set(
    "thinking looking trying planning hoping wondering feeling considering going "
    "interested excited glad happy sure "
    "curious afraid sorry worried aware ready able about so getting talking saying asking starting"
)
PARTICIPLES = word_set("worn written taken seen been done gone eaten given driven ridden")
STOP = re.compile(
    r"\s*(?:[,;()]|:(?!\d)|\b(?:because|since|so that|so(?! far)|when|while|if|that|which|"
    r"who|where|but|although|though|after|before|"
    r"until|and (?:I|we|it|they|he|she|that|then|want|found|took|had|got|went|was|"
    r"is|are|made|\w{3,}ed)|as (?:well|a way|part|I|it)|to "
    r"(?:help|make|get|be|keep|see|relax|"
    r"improve|stay)|without|like|thanks to|due to|even)\b)"
)
TAIL = re.compile(
    r"(?:[\s,]+(?:now|currently|lately|recently|today|so far|already|too|as well|"
    r"again|right now|these days|at the "
    r"moment|though|actually|anyway|myself|together|then|here|there|yet|ever|still|"
    r"instead|at home|every day))+$",
    re.I,
)
PLACE_TO = re.compile(r"^(?:the\s+)?[A-Z][\w.'-]+(?:[\s,]+(?:of|de|the|and)?\s*[A-Z][\w.'-]+)*$")
CHANGED = re.compile(r"\b(?:now|instead|no longer|not .+ any ?more|these days|nowadays|new)\b", re.I)
ADDS = re.compile(
    r"\b(?:also|too|as well|another|in addition|besides|one of|an additional|a second|"
    r"both)\b",
    re.I,
)
ADJECTIVE_LIKE = re.compile(
    r"^(?:so|very|really|pretty|quite|too|a bit|kind of|super|such|not|just|more|less|"
    r"all)\b",
    re.I,
)
BE = re.compile(r"(?:is|was|has|got)\b")
NOT_VALUES = word_set("sure really a an the to so very only just too as that because if in even all quite")
BOUND = frozenset(
    stem(w)
    for w in word_list(
        "budget plan goal time trip question problem project meeting appointment "
        "flight order target total "
        "estimate limit question task turn first last next friend favorite schedule"
    )
)  # said of whatever is being talked about, not of the speaker
NEW_JOB = re.compile(
    r"^(?:(?:got|landed|started|accepted|took|found|begun|gotten)\s+)?(?:a\s+|"
    r"my\s+|the\s+)?(?:new\s+)?(?:job|position|role|working|work)\s+"
    r"(?P<how>at|with|for|as)\s+(?P<what>.+)$",
    re.I,
)
PREPOSITION = re.compile(r"^(in|at|for|as|on|with|to|from|near|about|by|into)\s+(.+)$", re.I)
VAGUE_OBJECT = word_set(
    "something anything everything nothing someone okay ok well fine good great "
    "better together mostly up down out "
    "off on over back around away there here how what who where when why if whether me you him her us myself"
)
LIVE = frozenset(stem(w) for w in ("live", "living", "lives", "reside", "based"))
GIVEN_UP_HEAD = re.compile(
    r"^(?:(?:my|the|our)\s+)?(?:(?:new|old)\s+)?(?:job|position|role)\s+(?:at|with|as)\s+|^(?:my|the|our)\s+"
)
