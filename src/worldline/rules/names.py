"""What English-speaking readers know about names: nicknames, titles, legal forms, short forms.

Data and its look-ups only; identity.py decides what follows from them.

    canonical_given("bob") == "robert"
"""

from __future__ import annotations

from worldline.wordlists import word_list, word_set

NICKNAMES = """
robert bob rob bobby robbie bert|william bill will billy willy liam|richard dick rick rich ricky
james jim jimmy jamie|john jon johnny jack|jonathan jonny nathan|joseph joe joey|michael mike mick mikey
thomas tom tommy|charles charlie chuck|edward ed eddie ted ned|theodore teddy theo|daniel dan danny
david dave davey|steven stephen steve stevie|matthew matt|anthony tony|andrew andy drew|peter pete
patrick pat paddy|nicholas nick nicky nicolas|benjamin ben benny|samuel sam sammy|samantha sammie
alexander alex sasha aleksandr alexandr alejandro alec|alexandra alexa lexi aleksandra
christopher chris kit|christine christina chrissy tina kristina christa|katherine catherine kate katie kathy
cathy kathryn kat katerina ekaterina katya|elizabeth liz lizzie beth betty eliza elisabeth betsy libby
margaret maggie meg peggy margie rita|jennifer jen jenny|jessica jess jessie|rebecca becky becca
susan sue susie suzanne|barbara barb barbie|deborah debbie deb debra|patricia patty tricia trish
victoria vicky tori|pamela pam|kimberly kim|cynthia cindy|dorothy dot dottie|judith judy|sandra sandy
amanda mandy|stephanie steph|angela angie|melissa missy|jacqueline jackie|gabriel gabe|gabriella gabby
lawrence laurence larry|leonard len lenny leo|gregory greg|jeffrey geoffrey jeff geoff|timothy tim timmy
kenneth ken kenny|ronald ron ronnie|donald don donnie|raymond ray|gerald gerry jerry|walter walt wally
henry hank harry|harold hal|frederick fred freddie friedrich|francis frank frankie francesco|albert al
alfred alf alfie|eugene gene yevgeny evgeny evgenii|vincent vince vinny|zachary zach zack|joshua josh
nathaniel nate|isaac ike|abraham abe|philip phil phillip|douglas doug|martin marty|arthur art artie
mohammed muhammad mohamed mohammad muhammed mehmet|yusuf yousef youssef|ahmed ahmad|hussein husayn
ali aly|omar umar|ibrahim ebrahim|sergei sergey serge|yuri yury iurii|dmitri dmitry dima dmitriy|ivan vanya
mikhail misha|nikolai nikolay kolya|vladimir volodymyr vova|tatiana tatyana tanya|natalia natalya natasha
anastasia nastya|jorge george georgi|jose pepe|francisco paco pancho|guadalupe lupe|ignacio nacho
ludwig lutz|johannes hans johann|heinrich heiner|wilhelm willi|giuseppe beppe|luigi gigi|eleanor ellie nora
abigail abby|emily em emmy|charlotte lottie|penelope penny|theresa teresa terry tess|valerie val
veronica ronnie|cassandra cass cassie|madeline maddie|olivia liv livvie|isabella bella isabel izzy
maximilian max maxwell|sebastian seb bastian|dominic dom|russell russ|bradley brad|clifford cliff
carl karl|anna ana|sara sarah|erik eric|marc mark|sean shawn
""".replace("\n", "|")
OTHER_GIVEN = word_list("""
anna ana anne ann ana joan jean jane june maria mario marie mark marc marco marcus paul paula carl karl carla
carol caroline eric erica erik sara sarah clara claire laura lauren lara daniela danielle michelle michele
louis louise luis luisa lucas lucy luke julia julian julie juliet oliver olive martha marta nina dina
gina lena elena helen helena ella emma eva eve ava mia maya mila lisa liza linda lydia leah lea lee
ian evan ethan aaron adam alan allen alice alicia alison amy andrea andre angelo antonio antonia brian
bryan brandon bruce carmen cecilia colin craig dana dean dennis denise diana diane dylan edgar edith
edwin elaine ellen elias erin ernest esther felix fiona gary gavin glenn gloria grace graham hannah hana
heather hugo hugh irene iris irina ingrid jason jacob jake janet janice jared jasmine jay jill joanna joy
joyce justin karen karin kevin kyle kyra lance larissa leon leona lewis lily lila logan lorenzo lorraine
marcel marcela marina marian marilyn mason maurice megan melanie mira miriam mona monica morgan nadia
naomi neil nigel noah noel nora norman norma oscar owen pablo pedro petra pierre rachel ralph ramon raul
rene renee ricardo rosa rose roger roland romeo ross roy ruth ryan sean seth shane sharon sheila simon
simone sofia sophia sophie stella stuart sylvia tara terence tobias tracy trevor tyler ursula vera viola
virginia vivian wanda wayne wendy xavier yolanda yvonne yvette zoe chloe kai kira mei ming wei li jun
hiro kenji yuki haruki akira priya anil sunil sunita ravi rohan rohit kavita amir amira samir samira
layla leila farid farida hassan hasan kofi kwame ama abena chidi ngozi joana joao miguel tiago thiago
""")
TITLES = word_set(
    "mr mrs ms miss mx dr prof professor sir dame lady lord rev reverend fr father "
    "sister brother "
    "capt captain lt col gen sgt hon president senator judge jr sr phd md esq ii iii iv"
)
SUFFIXES = word_set("jr sr phd md esq ii iii iv")
LEGAL = word_set(
    "inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh ag "
    "kg se sa sas "
    "sarl srl spa bv nv oy oyj ab as asa aps kk pty pte pvt private sro zoo bhd tbk jsc ooo ltda "
    "cie mbh ug kgaa"
)
GENERIC = word_set("group holding holdings worldwide global international enterprise enterprises")
SHORT_FORMS = {
    "intl": "international",
    "univ": "university",
    "uni": "university",
    "tech": "technologies",
    "technology": "technologies",
    "technologie": "technologies",
    "mfg": "manufacturing",
    "mgmt": "management",
    "bros": "brothers",
    "assoc": "associates",
    "assn": "association",
    "natl": "national",
    "dept": "department",
    "inst": "institute",
    "ctr": "center",
    "centre": "center",
    "sys": "systems",
    "system": "systems",
    "svcs": "services",
    "svc": "services",
    "service": "services",
    "labs": "laboratories",
    "lab": "laboratories",
    "laboratory": "laboratories",
    "ind": "industries",
    "industry": "industries",
    "hosp": "hospital",
    "pharma": "pharmaceuticals",
    "pharmaceutical": "pharmaceuticals",
    "solution": "solutions",
    "st": "saint",
    "mt": "mount",
    "ft": "fort",
    "eng": "engineering",
    "engg": "engineering",
    "dev": "development",
    "comms": "communications",
    "fin": "financial",
    "ins": "insurance",
    "elec": "electric",
    "transp": "transport",
    "logistic": "logistics",
}
ORGANISATION_WORDS = word_set(
    "bank university institute school college hospital museum church foundation "
    "association agency "
    "ministry department club union league team society council committee partners ventures capital "
    "media press studio studios records airlines airways motors foods energy insurance consulting "
    "software hotel hotels restaurant cafe bakery library laboratories systems services solutions "
    "technologies industries logistics brothers associates"
)

_CANONICAL: dict[str, str] = {}
for _group in NICKNAMES.split("|"):
    _names = _group.split()
    for _name in _names:
        _CANONICAL.setdefault(_name, _names[0])
GIVEN = frozenset(_CANONICAL) | frozenset(OTHER_GIVEN)


def canonical_given(name: str) -> str:
    """The full form of a given name or nickname; a name that is not known stays as it is."""
    return _CANONICAL.get(name, name)
