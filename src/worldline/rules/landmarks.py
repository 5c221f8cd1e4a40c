"""Landmarks: the turning points of a life that a text tells of (a job, a move, a birth, a loss …).

It decides what kind of landmark a sentence tells, of whom, and how much it weighs; not when it was
(the text's own date does) and not whether it is true. What is denied, wished, supposed, planned in
vain, asked, or told of "you" is not a landmark.

>>> [(one.kind, one.of) for one in landmarks("My sister had twins! I nearly got married once.")]
[('birth', 'My sister')]
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from worldline.rules.sentences import only_asks, sentences, unreal_before

LONGEST = 8000
"""Characters of a text that are read."""
WEIGHTS = {
    "birth": 1.0,
    "marriage": 1.0,
    "loss": 0.9,
    "job": 0.8,
    "move": 0.8,
    "health": 0.8,
    "graduation": 0.8,
    "identity": 0.8,
    "mishap": 0.7,
    "achievement": 0.7,
    "purchase": 0.6,
    "pet": 0.6,
    "travel": 0.5,
    "beginning": 0.5,
    "event": 0.4,
}
"""What each kind weighs, told of oneself and done."""
_OF_OTHERS, _AHEAD = 0.8, 0.7


class Landmark(Struct, frozen=True):
    """One turning point: its kind, of whom (empty: the one who speaks), where it is told, its weight."""

    kind: str
    of: str
    start: int
    end: int
    weight: float


_KIN = (
    r"(?:wife|husband|spouse|partner|boyfriend|girlfriend|fianc[eé]e?|mother|mum|mom|mama|father|dad|papa|"
    r"parents?|sisters?|brothers?|siblings?|sons?|daughters?|kids?|child|children|baby|babies|twins|aunt|auntie|"
    r"uncle|cousins?|nieces?|nephews?|grand\w+|granny|nana|friends?|boss|colleague|coworker|neighbou?rs?|"
    r"roommate|mentor|teacher|coach|(?:mother|father|brother|sister|son|daughter)-in-law|"
    r"step(?:mother|father|mom|dad|son|daughter|sister|brother))"
)
_PET = (
    r"(?:dog|puppy|pup|cat|kitten|kitty|bunny|rabbit|hamster|parrot|bird|horse|pony|turtle|guinea pig|ferret|"
    r"snake|gecko)"
)
_WORKPLACE = (
    r"(?:business|company|shop|store|studio|start-?up|restaurant|caf[eé]|bakery|practice|firm|agency|gallery|"
    r"salon|gym|food truck)"
)
_DWELLING = r"(?:house|home|apartment|flat|condo|townhouse|cottage|cabin|farm|property|loft)"
_STUDY = (
    r"(?:degree|diploma|ph\.?d|doctorate|master['’]?s|bachelor['’]?s|mba|thesis|dissertation|certification|"
    r"certificate|licen[sc]e|ged|residency|bootcamp)"
)
_ORDEAL = (
    r"(?:surgery|operation|heart attack|stroke|miscarriage|concussion|seizure|transplant|c-section|biopsy|"
    r"breakdown|relapse|allergic reaction|overdose)"
)
_BONE = (
    r"(?:leg|arm|ankle|wrist|foot|toe|hand|finger|hip|ribs?|nose|collarbone|elbow|shoulder|knee|back|neck|jaw|"
    r"acl|achilles)"
)
_TROPHY = (
    r"(?:award|prize|medal|trophy|tournament|championship|competition|contest|race|election|grant|scholarship|"
    r"match|title|cup|league|pageant|hackathon|lottery)"
)
_ADVERB = (
    r"(?:just|finally|recently|actually|also|both|officially|already|now|then|even|really|once|first|later|"
    r"eventually|suddenly|unexpectedly|happily|sadly|unfortunately|luckily|all|still|ended up|completely|"
    r"at last|last (?:week|month|year|night|\w+day)|yesterday|today|this (?:week|month|year)|in \d{4})"
)
_AUX = "was|were|been|got|gotten|am|is|are|being|getting"
_A = r"(?:(?:a|an|the|my|our|his|her|their|this|that|some|one|two|three|another)\s+)"
_OWN = r"(?:my|our|his|her|their)"
_SOME = r"(?:(?!(?:not|no|never|and|or|but|to|for|in|at|with|of)\b)[\w'’&-]+\s+){0,3}?"
"""Up to three words that describe what follows."""
_PLACE = r"(?:the\s+)?(?-i:[A-Z])[\w-]+\b"

_DONE: tuple[tuple[str, str, str], ...] = (
    ("job", "got|landed|accepted|found|started|began|took|secured|scored|offered", rf"{_A}?{_SOME}"
     r"(?:job|position|role|internship|promotion|apprenticeship)\b"
     r"(?!\s+(?:done|to do|title|fair|right|description|model|play))"),
    ("job", "quit|left|lost|resigned from", rf"{_A}?{_SOME}(?:job|position|role|career|firm|company)\b"),
    ("job", _AUX, r"(?:hired|fired|promoted|laid off|let go|made redundant|furloughed|recruited)\b(?!\s+up)"),
    ("job", "retired|resigned", r"(?!to\b|early\b|for the night)"),
    ("job", "opened|launched|founded|started|closed|sold|shut down|took over",
     rf"(?:up\s+)?{_A}{_SOME}{_WORKPLACE}\b(?!\s+door)"),
    ("job", "started|began", r"(?:working|work)\s+(?:at|for|as|with)\b(?!\s+(?:noon|dawn|\d))"),
    ("job", "changed|switched", r"(?:jobs|careers|employers|(?:my|his|her) career)\b"),
    ("job", "joined", r"(?:(?-i:[A-Z])[\w&.-]+\s+){1,3}as\b"),
    ("move", "moved", rf"(?:(?:back|over|down|up|out|here)\s+)?(?:to|from)\s+{_PLACE}"),
    ("move", "moved", rf"(?:back\s+)?(?:to|into)\s+{_A}{_SOME}(?:{_DWELLING}|place|city|town|country|state|area|"
     r"neighbou?rhood|dorm|countryside|suburbs|coast|studio|village)\b(?!\s+(?:page|screen))"),
    ("move", "moved", r"(?:in\s+(?:together|with)|back\s+home|abroad|overseas|house|"
     r"across\s+the\s+(?:country|state|world|city))\b"),
    ("move", "relocated|emigrated|immigrated", r"(?!the\b)"),
    ("health", _AUX, r"(?:diagnosed|hospitali[sz]ed|rushed to|admitted to (?:the|a) hospital|injured|paraly[sz]ed|"
     r"in remission)\b"),
    ("health", "had|underwent|suffered|went through", rf"{_A}?{_SOME}{_ORDEAL}\b(?!\s+of\s+(?:luck|genius))"),
    ("health", "broke|fractured|sprained|tore|dislocated|injured", rf"(?:{_OWN}|an?)\s+{_SOME}{_BONE}\b"),
    ("health", "beat|survived", r"(?:\w+\s+)?(?:cancer|leukemia)\b"),
    ("health", "recovered from|got sober|tested positive|went to rehab|checked into rehab", r"(?!the shock\b)"),
    ("health", "quit|stopped|gave up", r"(?:smoking|drinking)\b"),
    ("birth", "gave birth", r"(?!to\s+(?:an?|the)\s+(?:idea|movement|tradition))"),
    ("birth", "had", rf"(?:an?|{_OWN})\s+{_SOME}(?:baby(?:\s+(?:boy|girl))?|son|daughter|child)\b"
     r"(?!['’]|\s+(?:shower|with|doctor|sitter|who|in\b|at\b|over\b|do\b|help))"),
    ("birth", "had", r"(?:twins|triplets)\b"),
    ("birth", "became", r"(?:an?\s+)?(?:\w+\s+)?(?:mom|mum|mother|dad|father|parent|grandma|grandmother|"
     r"grandpa|grandfather|grandparent|aunt|uncle|big sister|big brother)s?\b(?!\s+figure)"),
    ("birth", "welcomed|adopted", rf"{_A}{_SOME}(?:child|children|baby|son|daughter|girl|boy|toddler|"
     r"teenager|kids?|grandson|granddaughter|twins)\b(?!['’])"),
    ("birth", "found out", r"(?:that\s+)?(?:i|we|she)\s*(?:['’](?:m|re|s)|am|are|is|was|were)\s+"
     r"(?:pregnant|expecting)\b"),
    ("birth", "got pregnant", ""),
    ("marriage", "got", r"(?:re)?(?:married|engaged|hitched|divorced)\b"
     r"(?!\s+(?:to\s+(?:the|an?)\s+(?:idea|plan)|in\s+(?:an?\s+)?(?:argument|conversation|debate|politics)|with\s+the))"),
    ("marriage", "tied the knot|eloped", ""),
    ("marriage", "proposed to", rf"(?:me|him|her|us|{_OWN}|(?-i:[A-Z]))"),
    ("marriage", "filed for|went through", r"(?:an?\s+)?(?:\w+\s+)?divorce\b"),
    ("marriage", "broke up|split up|separated", r"(?!(?:the|an?|into|our|my|by)\b)"),
    ("marriage", "started|began", r"(?:dating\b|seeing\s+(?:some(?:one|body)|(?-i:[A-Z])))"),
    ("graduation", "graduated", r"(?!to\b|cylinder|tax|scale)"),
    ("graduation", "got|earned|finished|completed|received|defended|obtained",
     rf"(?:{_OWN}|an?|the)\s+{_SOME}{_STUDY}\b(?!\s+(?:plate|renewed|of authenticity))"),
    ("graduation", "passed", rf"(?:{_OWN}|the|all)\s+{_SOME}(?:exams?|bar|driving test|boards|finals)\b"
     r"(?!\s+(?:on|around|to))"),
    ("graduation", _AUX, r"(?:accepted|admitted)\s+(?:in)?to\b(?!\s+(?:the|an?)\s+(?:hospital|er\b))"),
    ("graduation", "got into", rf"(?:{_SOME}(?:college|university|grad school|program)\b|(?-i:[A-Z]))"),
    ("graduation", "dropped out of", r"(?:\w+\s+)?(?:school|college|university)\b"),
    ("graduation", "started|began", r"(?:college|university|(?:grad|law|med|medical)\s+school|"
     r"(?:my|his|her)\s+(?:ph\.?d|master['’]?s|degree|freshman year))\b"),
    ("loss", "lost", rf"{_OWN}\s+{_SOME}(?:{_KIN}|{_PET})\b(?!['’])(?!\s+(?:for|in\s+the|at\s+the|collar|toy))"),
    ("loss", "attended|went to|held", rf"(?:the|an?|{_OWN}(?:\s+\w+['’]s?)?)\s+(?:funeral|memorial|wake)\b"
     r"(?!\s+(?:up|day))"),
    ("loss", "put", rf"(?:down\s+{_OWN}\s+{_SOME}{_PET}|{_OWN}\s+{_SOME}{_PET}\s+(?:down|to\s+sleep))\b"),
    ("mishap", "crashed|totaled|totalled|wrecked", rf"(?:{_OWN}|the)\s+{_SOME}(?:car|truck|bike|motorcycle|van)\b"),
    ("mishap", "was in|were in|been in|got in|got into|had", rf"an?\s+{_SOME}accident\b(?!\s+report)"),
    ("mishap", _AUX, r"(?:robbed|mugged|evicted|arrested|burgled|scammed|hit by an?)\b"),
    ("achievement", "won", rf"(?:{_A}?{_SOME}{_TROPHY}\b(?!\s+tickets?)|(?:first|second|third|1st|2nd|3rd)\s+place\b)"),
    ("achievement", "ran|finished|completed", rf"(?:{_OWN}|an?|the)\s+{_SOME}"
     r"(?:marathon|triathlon|ironman|5k|10k)\b(?!\s+(?:of|movie))"),
    ("achievement", "published|released|finished writing|finished|recorded", rf"(?:{_OWN}|an?)\s+{_SOME}"
     r"(?:book|novel|paper|album|single|memoir|ep|story|screenplay|screenplays|painting)\b(?!\s+(?:report|review))"),
    ("achievement", "set|broke", r"(?:an?|the|my|his|her)\s+(?:\w+\s+){0,2}record\b(?!\s+(?:player|straight))"),
    ("achievement", "climbed|summited", r"(?-i:M)(?:oun)?t\b"),
    ("identity", "came out", r"(?:as\b|to\s+(?:my|his|her|their|everyone)\b)"),
    ("identity", "became", rf"an?\s+{_SOME}citizen\b"),
    ("identity", "got|received", rf"{_OWN}\s+(?:green card|citizenship|asylum)\b"),
    ("identity", _AUX, r"(?:bapti[sz]ed|ordained)\b"),
    ("identity", "converted to", r"(?-i:[A-Z])(?!DF)"),
    ("purchase", "bought|purchased|closed on|sold|paid off", rf"(?:{_OWN}|an?|the)\s+{_SOME}(?:{_DWELLING}|"
     r"car|truck|van|rv|camper|boat|motorcycle|motorbike|suv|land|piano|mortgage)\b"
     r"(?!['’]|\s+(?:insurance|wash|cover|keys?|magazine|warmer|decor|seat|charger|toy|plant|music|part|gym))"),
    ("pet", "adopted|rescued|got|brought home|took in", rf"{_A}{_SOME}{_PET}s?\b"
     r"(?!['’-]|\s+(?:food|bed|toy|collar|tree|sitter|hair|treats?|video|bath|groomed|to\b|out\b))"),
    ("travel", "went|flew|traveled|travelled|drove|sailed|backpacked|cruised|hitchhiked",
     rf"(?:(?:all the way|back|over|down|up|out|on a trip)\s+)?(?:to|through|around|across)\s+{_PLACE}(?!['’]s)"),
    ("travel", "got back|came back|returned|came home", r"from\s+(?:(?:an?|my|our|the)\s+(?:\w+\s+){0,2}"
     rf"(?:trip|vacation|holiday|honeymoon|cruise|retreat)\b|{_PLACE}(?!['’]s))"),
    ("travel", "went on|took|had", rf"(?:an?|the|{_OWN})\s+{_SOME}(?:vacation|holiday|honeymoon|road\s?trip|"
     r"cruise|safari|trip|getaway|pilgrimage)\b(?!\s+(?:to\s+the\s+(?:store|dentist|bathroom|er\b)|down|request))"),
    ("travel", "visited|toured|explored", rf"{_PLACE}(?!['’]s)"),
    ("beginning", "signed up|enrolled", r"(?:for|in|at)\b(?!\s+(?:the\s+newsletter|emails?))"),
    ("beginning", "joined|started|began|launched|founded|created|formed", rf"{_A}{_SOME}(?:club|team|group|band|choir|"
     r"league|class|course|blog|podcast|channel|garden|program(?:me)?|therapy|campaign|foundation|charity|movement|"
     r"community|organi[sz]ation|fan page|lessons|collection|journal|line)\b(?!\s+(?:photo|call))"),
    ("beginning", "took up", r"(?!(?:too|so|a lot|most|all|the)\b)"),
    ("event", "attended|hosted|organized|organised|threw|emceed|headlined|celebrated|participated in|took part in|"
     "performed at|performed in|performed|spoke at|volunteered at|competed in|went to|ran|had|held|did",
     rf"(?:{_A}|{_OWN}\s+\w+['’]s\s+)?{_SOME}(?:weddings?|concerts?|festivals?|conferences?|parades?|part(?:y|ies)|exhibit(?:ion)?s?|"
     r"retreats?|fundraisers?|rall(?:y|ies)|ceremon(?:y|ies)|reunions?|tournaments?|galas?|conventions?|fairs?|"
     r"charity (?:race|run|event)s?|birthdays?|anniversar(?:y|ies)|gigs?|recitals?|auctions?|protests?|"
     r"workshops?|auditions?|interviews?|photo ?shoots?|open mics?|camping trip)\b"
     r"(?!\s+(?:dress|planner|song|coming|in\s+\w+\s+(?:weeks|days|months)|next|planned|tomorrow|yet))"),
)  # fmt: skip
_OF_OTHERS_DONE: tuple[tuple[str, str, str], ...] = (
    ("loss", "passed away", r"(?!the\b)"),
    ("loss", "died", r"(?!laughing|down|out|hard|on\s+(?:me|us)|of\s+(?:laughter|embarrassment|boredom))"),
    ("birth", "was born|were born", r"(?!to\s+(?:do|be|perform|sing)|with\b)"),
    ("marriage", "proposed", r"(?=[.!,]|$|(?:last|yesterday|on|at|in|during)\b)"),
)  # fmt: skip
_TO_COME: tuple[tuple[str, str, str], ...] = (
    ("marriage", "getting", r"(?:re)?(?:married|hitched|divorced)\b"),
    ("marriage", "engaged|divorced|newlyweds", r"(?!(?:in|with)\b)"),
    ("birth", "pregnant", ""),
    ("birth", "expecting", r"(?:(?:an?|our|my|her|their)\s+(?:\w+\s+)?)?"
     r"(?:(?:baby|child|twins|boy|girl)\b|(?=[.!,]|$|in\b))"),
    ("move", "moving", rf"(?:(?:back|over)\s+)?(?:to\s+{_PLACE}|into\s+{_A}|in\s+(?:together|with)\b|abroad\b)"),
    ("job", "starting|beginning", rf"(?:an?|the|{_OWN})\s+{_SOME}(?:job|role|position|internship)\b"),
    ("job", "retiring", ""),
    ("graduation", "graduating", r"(?!class)"),
)  # fmt: skip
_CHINESE: tuple[tuple[str, str], ...] = (
    ("marriage", "(?:结婚|订婚|离婚|分手)了"),
    ("birth", "(?:怀孕|生(?:了|下)|当(?:爸爸|妈妈))了?"),
    ("job", "(?:找到|换|辞)(?:了)?(?:新)?工作|(?:升职|失业|退休|入职|辞职)了"),
    ("move", "搬(?:家|到|去|进)了?"),
    ("graduation", "(?:毕业|考上|录取)了"),
    ("loss", "(?:去世|过世|走)了(?!吗)(?<!带走了)(?<!拿走了)"),
    ("health", "(?:住院|确诊|做了手术|骨折)"),
    ("purchase", "买(?:了)?(?:房|车)(?:子)?了?"),
)
_CHINESE_DOUBT = re.compile(r"[没不未别]|如果|要是|想|打算|希望|会|可能|[吗？?]")

# Who: read backwards from the verb. Contractions ("I've", "she's") carry the auxiliary verb.
_NOBODY = (
    r"(?!(?:The|This|That|These|Those|It|You|Your|What|When|Where|Why|How|Who|Which|There|Here|If|So|And|But|Or|"
    r"Not|No|Nobody|Nothing|Everyone|Everybody|Someone|People|Everything|Has|Have|Had|Did|Do|Does|Is|Was|Are|"
    r"Were|Then|Now|Just|Finally|Recently|Also|Maybe|Perhaps|Today|Yesterday|Tomorrow|Last|Next|Since|Because|"
    r"After|Before|While|Yes|Yeah|Wow|Oh|Congrats|My|Our|His|Her|Their|We|He|She|They|I)\b)"
)
_NAME = rf"{_NOBODY}(?-i:[A-Z][a-z]+)"
_HEY = r"so|well|hey|oh|and|yes|yeah|guess what|(?:big|good|sad) news|update|news|wow|omg|anyway|then"
_FILL = rf"(?:,?\s+(?:{_ADVERB}|have|has|had|am|is|was|were|are|been|\w+ (?:weeks|months)),?)*"
_WHO = re.compile(
    rf"(?:\b(?P<self>(?:I|we)(?:['’](?:ve|m|re|d(?!\s+have)))?)"
    rf"|\b(?P<other>{_OWN}\s+(?:[\w-]+\s+){{0,2}}?(?:{_KIN}|{_PET})(?:,?\s+{_NAME},?)?(?:['’]s)?"
    rf"|(?:he|she|they)(?:['’](?:s|ve|re|d))?"
    rf"|{_NAME}(?:\s+{_NAME})?(?:['’]s)?(?:\s+and\s+{_NAME})?)"
    rf"|(?P<open>^(?:(?:{_HEY})[,!:.]*\s+)*(?:{_ADVERB}(?=,?\s))?)"
    rf"|(?P<joined>(?:[,;:]|\s[–—-]|\band)(?:\s+(?:{_HEY})[,!:.]*)*(?=\s)))"
    rf"{_FILL}\s*$",
    re.I,
)
_SOMEBODY_ELSE = re.compile(r"\b(?:you|he|she|they|who|it|not|never|everyone)\b|n['’]t\b", re.I)
_SOON = re.compile(
    rf"(?:\b(?:am|is|are|was|were)|['’](?:m|s|re))(?:\s+(?:{_ADVERB}|\w+ (?:weeks|months)))*\s*$", re.I
)
_SHORT = re.compile(r"['’](?:s|ve|re|d)$|,$")


class _LandmarkRule(Struct, frozen=True):
    kind: str
    pattern: re.Pattern[str]
    coming: bool
    of_others: bool


@cache
def _by_first_word() -> dict[str, list[_LandmarkRule]]:
    """The rules that a word may be the first of; made for the first text."""
    found: dict[str, list[_LandmarkRule]] = {}
    tables = ((_DONE, False, False), (_OF_OTHERS_DONE, False, True), (_TO_COME, True, False))
    for table, coming, of_others in tables:
        for kind, verbs, rest in table:
            between = rf"(?:(?:\s+{_ADVERB})*\s+|(?=[.!,]|$))" if verbs != _AUX else rf"(?:\s+{_ADVERB})*\s+"
            spaced = verbs.replace(" ", r"\s+")
            rule = _LandmarkRule(kind, re.compile(rf"(?:{spaced})\b{between}{rest}", re.I), coming, of_others)
            for word in dict.fromkeys(verb.split()[0] for verb in verbs.split("|")):
                found.setdefault(word, []).append(rule)
    return found


@cache
def _first() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(_by_first_word()))})\b", re.I)


_CHINESE_RULES = tuple((kind, re.compile(rule)) for kind, rule in _CHINESE)


def landmarks(text: str) -> tuple[Landmark, ...]:
    """The landmarks that a text tells of, in order; one of a kind for each sentence."""
    found: list[Landmark] = []
    for start, end in sentences(text[:LONGEST]):
        sentence = text[start:end]
        if not only_asks(sentence):
            found += _of_sentence(sentence, start)
            if not sentence.isascii():
                found += _in_chinese(sentence, start)
    return tuple(found)


def strength(found: tuple[Landmark, ...]) -> float:
    """How much of a landmark a text is: its weightiest one."""
    return max((one.weight for one in found), default=0.0)


def _of_sentence(sentence: str, offset: int) -> list[Landmark]:
    found: dict[str, Landmark] = {}
    rules = _by_first_word()
    for first in _first().finditer(sentence):
        for rule in rules[first.group().lower()]:
            match = rule.pattern.match(sentence, first.start()) if rule.kind not in found else None
            told = _told(sentence, first.start(), rule) if match else None
            if match and told:
                weight = round(WEIGHTS[rule.kind] * told[1], 3)
                start, end = offset + match.start(), offset + match.start() + len(match.group().rstrip())
                found[rule.kind] = Landmark(rule.kind, told[0], start, end, weight)
    return list(found.values())


def _told(sentence: str, at: int, rule: _LandmarkRule) -> tuple[str, float] | None:
    """(of whom, share of the weight) if somebody is said to have done it; None where it is in doubt."""
    if unreal_before(sentence, at):
        return None
    head = sentence[:at]
    who = _WHO.search(head)
    if who is None or (who.group("joined") and _SOMEBODY_ELSE.search(head)):
        return None
    other = who.group("other")
    if (rule.coming and not _SOON.search(head)) or (rule.of_others and not other):
        return None
    share = (_AHEAD if rule.coming else 1.0) * (_OF_OTHERS if other and not rule.of_others else 1.0)
    return _SHORT.sub("", other or ""), share


def _in_chinese(sentence: str, offset: int) -> list[Landmark]:
    if _CHINESE_DOUBT.search(sentence):
        return []
    found = []
    for kind, rule in _CHINESE_RULES:
        if match := rule.search(sentence):
            own = "我" in sentence[: match.start()]
            weight = WEIGHTS[kind] * (1.0 if own else _OF_OTHERS)
            whose = "" if own else sentence[: match.start()][-12:]
            found.append(Landmark(kind, whose, offset + match.start(), offset + match.end(), weight))
    return found
