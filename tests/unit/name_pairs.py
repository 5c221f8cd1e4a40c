"""A generator of name pairs: the same person or organisation written differently, and look-alikes.

Used by the resolver's test; every list is our own.  `pairs(seed, n)` yields (left, right, same).
LABELLED and HELD_OUT are pairs from general knowledge: = is exact, ~ is proposed, ! is different.
The rules and word lists were tuned on LABELLED; HELD_OUT was written after them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

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
SURNAMES = (
    "Smith Johnson Okafor Petersen Lindqvist Marchetti Kowalski Delacroix Hernandez Nakamura "
    "Bergmann Fitzgerald Abernathy Castellano Wojcik Thornbury Ashworth Villanueva Rosenthal "
    "Brightman Halvorsen Montgomery Pemberton Sinclair Underwood Whitaker Yamamoto Zimmerman "
    "Blackwood Carmichael Dunleavy Eastwood Falkner Galbraith Harrington Ironside Jefferson "
    "Kingsley Lancaster McAllister Northcott"
).split()
SOUNDS = [
    ("Sergei Ivanov", "Sergey Ivanoff"), ("Yuri Chaikovsky", "Yury Tchaikovsky"),
    ("Mohammed Hassan", "Muhammad Hasan"), ("Jörg Müller", "Joerg Mueller"),
    ("Dmitri Shostak", "Dmitry Schostak"), ("Katarzyna Wojcik", "Katarzyna Wójcik"),
    ("Philip Knox", "Filip Knox"), ("Youssef Khalil", "Yusuf Khalil"),
    ("Aleksandr Petrov", "Alexander Petrov"), ("Stephen Wright", "Steven Wright"),
    ("Nikolai Zhukov", "Nikolay Zhukov"), ("Ekaterina Orlova", "Yekaterina Orlova"),
    ("Karl Jansson", "Carl Jansson"), ("François Lefèvre", "Francois Lefevre"),
]  # fmt: skip
STEMS = (
    "Acme Northwind Brightleaf Corvus Delphine Evergreen Foxglove Granite Harborline Inkwell "
    "Juniper Kestrel Lumina Meridian Nimbus Orchard Pinnacle Quillon Riverstone Solstice "
    "Tamarack Umbra Vanguard Wexford Zephyr"
).split()
FIELDS = ("Logistics Foods Systems Bank Motors Media Energy Consulting Insurance Software Robotics").split()
LEGAL = ("Inc. Incorporated Corp. Corporation Ltd Limited LLC GmbH Co. PLC").split()


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


LABELLED = """
Ana|Ena|!
Jan|Jon|!
Tim|Kim|!
Mira|Mara|!
Max|Mac|!
Acme|Acne|!
Lena|Lana|!
Nora|Nura|!
Dan|Ian|!
Rosa|Rose|!
Karim|Karin|!
Elena|Alena|!
Maren|Karen|!
Marina|Martina|!
Julian|Julia|!
Hanna Berg|Johanna Berg|!
Porto|Forto|!
Oslo|Olso|!
Meta|Beta|!
Visa|Vista|!
Ivanov|Ivanova|!
Anna Lind|Anna Lund|!
Acme Bank|Acne Bank|!
C|C++|!
C|C#|!
C++|C#|!
.NET|Net|!
F#|F|!
Notepad|Notepad++|!
Disney+|Disney|!
Disney+|Disney Plus|~
C#|C Sharp|~
.NET|dotnet|~
Node.js|Node JS|~
Node.js|NodeJS|=
v1|v2|!
v1.0|v10|!
Q1|Q2|!
GPT-4|GPT-5|!
GPT-3.5|GPT-35|!
Room 12|Room 21|!
iPhone14|iPhone15|!
Boeing 737|Boeing 747|!
Python 2|Python 3|!
Python3|Python 3|~
World War I|World War II|!
World War II|World War 2|~
Louis XIV|Louis XVI|!
Henry VIII|Henry VII|!
Formula 1|Formula|!
Team Alpha 1|Team Alpha 11|!
World Health Organization|WHO|~
International Business Machines|IBM|~
National Aeronautics and Space Administration|NASA|~
Massachusetts Institute of Technology|MIT|~
United Nations|UN|~
European Union|EU|~
Federal Bureau of Investigation|F.B.I.|~
Department of Defense|DoD|~
Procter & Gamble|P&G|~
North Atlantic Treaty Organization|WTO|!
World Wildlife Fund|WHO|!
British Broadcasting Corporation|BBC|~
J. Smith|John Smith|~
J. R. R. Tolkien|John Ronald Reuel Tolkien|~
J.K. Rowling|JK Rowling|=
John A. Smith|John B. Smith|!
J. Smith|Kate Smith|!
Rosa L.|Rosa Lind|~
Rosa L.|Rosa Meyer|!
George W. Bush|George Bush|~
George W. Bush|George H. W. Bush|!
Smith, John|John Smith|~
Okafor, Chidi|Chidi Okafor|~
Smith John|John Smith|~
Garcia Marquez, Gabriel|Gabriel Garcia Marquez|~
Ali Hassan|Hassan Ali|!
University of Porto|Porto University|~
Bob|Robert|~
Liz|Elizabeth|~
Peggy Olson|Margaret Olson|~
Bill Clinton|William Clinton|~
Sasha Petrov|Aleksandr Petrov|~
Nacho Vidal|Ignacio Vidal|~
Mike|Michael|~
Tom|Tim|!
Liz|Beth|!
Alex Moore|Alexandra Moore|~
Alexander Moore|Alexandra Moore|!
Pepe|José|~
Dick Grayson|Richard Grayson|~
Dr. Rossi|Rossi|~
Mr Oyelaran|Oyelaran|~
Prof. Marie Curie|Marie Curie|~
Dr. Rossi|Marco Rossi|~
Mr. Smith|Mrs. Smith|!
Sir Ian McKellen|Ian McKellen|~
Frau Schneider|Schneider|~
Acme Inc.|Acme|~
Siemens AG|Siemens|~
Bosch GmbH|Bosch|~
Tesco Ltd|Tesco Limited|~
Petrobras S.A.|Petrobras|~
Müller GmbH & Co. KG|Müller|~
Acme Corp|Acme Corporation|~
Siemens|Siemens Healthineers|!
Google|Google Maps|!
Müller|Mueller|~
Björn|Bjoern|~
Müller|Muller|=
Łukasz Nowak|Lukasz Nowak|~
Søren Kierkegaard|Soren Kierkegaard|~
Strauß|Strauss|=
Zoë|Zoe|=
Владимир|Vladimir|~
Сергей Иванов|Sergei Ivanov|~
Tchaikovsky|Chaikovsky|~
Dostoevsky|Dostoyevsky|~
Sergei|Sergey|~
Mohammed|Muhammad|~
Yuri|Yury|~
Rosa|Rosa Lind|~
Miguel|Miguel Torres|~
Bob|Robert Smith|~
Rosa|Anna Rosa Lind|!
Rossi|Marco Rossi|~
Anna|Hannah Berg|!
Paris|Paris Texas|!
Porto|Porto Alegre|!
York|New York|!
山田太郎|山田 太郎|~
山田|山田太郎|~
ＩＢＭ|IBM|=
ﾔﾏﾀﾞ|ヤマダ|=
さくら|サクラ|~
山田さん|山田|~
張偉|张伟|~
渡邊|渡辺|~
山田太郎|山田花子|!
东京|东京大学|!
王伟|王芳|!
第一中学|第二中学|!
김민수|민수|~
김민수|김민지|!
Anna Smith|John Smith|!
John Smith Sr.|John Smith Jr.|!
Martin Luther King Jr.|Martin Luther King|~
North Korea|South Korea|!
Emma's sister|Emma|!
Robert's sister|Robert|!
Emma's sister|Emma's brother|!
Levi's|Levi|!
McDonald's|McDonalds|=
Project Alpha|Project Beta|!
East Berlin|West Berlin|!
Korea|North Korea|!
Anna and John Smith|Anna Smith|!
Mary Ann Smith|Mary Smith|~
First National Bank|Second National Bank|!
Upper Silesia|Lower Silesia|!
Spring Festival|Autumn Festival|!
Northwind Robotics|Northwnd Robotics|~
Kristina Abernathy|Kristina Abernahty|~
John Smith|John Smyth|~
Thomas Meyer|Thomas Meier|~
Monday|Sunday|!
Vitamin B|Vitamin D|!
Plan A|Plan B|!
acme works|ACME WORKS|=
O'Brien|OBrien|=
The Beatles|Beatles|~
Eva|Iva|!
Leo|Lea|!
Hans|Hanz|!
Omar|Oscar|!
Sara|Zara|!
Nike|Nika|!
Dell|Bell|!
Lisa|Luisa|!
Daria|Maria|!
Carlos|Carla|!
Fabian|Fabia|!
Kiran|Karan|!
A+|A|!
J#|J|!
Google+|Google|!
Apple TV+|Apple TV|!
C++|C plus plus|~
Vue.js|Vue JS|~
Windows 10|Windows 11|!
Claude 3.5|Claude 3.7|!
Python 3.1|Python 31|!
Gate B12|Gate B21|!
Q3 2024|Q3 2025|!
Apollo 11|Apollo 13|!
Elizabeth I|Elizabeth II|!
Rocky III|Rocky 3|~
Terminator|Terminator 2|!
Central Intelligence Agency|CIA|~
International Monetary Fund|IMF|~
United Kingdom|UK|~
Bayerische Motoren Werke|BMW|~
Johns Hopkins University|JHU|~
World Trade Organization|WHO|!
R. Lind|Rosa Lind|~
C. S. Lewis|Clive Staples Lewis|~
G.R.R. Martin|George Raymond Richard Martin|~
T. Morrison|Jim Morrison|!
Amadi K.|Amadi Kone|~
Lopes, Ana|Ana Lopes|~
van Dijk, Pieter|Pieter van Dijk|~
Kate Winslet|Katherine Winslet|~
Jack Kennedy|John Kennedy|~
Tony|Anthony|~
Debbie Harry|Deborah Harry|~
Paco|Francisco|~
Misha|Mikhail|~
Ron|Don|!
Prof. Nguyen|Nguyen|~
Mr. Bean|Miss Bean|!
Captain Ahab|Ahab|~
Señor Lopez|Lopez|~
Volvo AB|Volvo|~
Samsung Co., Ltd.|Samsung|~
Ferrari S.p.A.|Ferrari|~
Nokia Oyj|Nokia|~
Amazon|Amazon Music|!
Jürgen Groß|Juergen Gross|~
Åse Dahl|Aase Dahl|~
Đorđe Petrović|Djordje Petrovic|~
Наталья|Natalia|~
Gorbachev|Gorbachov|~
Dmitri|Dmitry|~
Priya|Priya Sharma|~
Kwame|Kwame Mensah|~
Liz|Elizabeth Warren|~
Sofia|Maria Sofia Costa|!
San|San Diego|!
佐藤|佐藤健|~
佐藤健|佐藤 健|~
劉備|刘备|~
タナカ|たなか|~
鈴木先生|鈴木|~
鈴木一郎|鈴木二郎|!
北京|北京银行|!
Peter Jones|Mary Jones|!
South Sudan|Sudan|!
Rosa's mother|Rosa|!
Operation Red|Operation Blue|!
New Zealand|Old Zealand|!
Stephan Zimmermann|Stephan Zimmerman|~
"""

HELD_OUT = """
Ida|Ada|!
Finn|Lynn|!
Pia|Mia|!
Bea|Lea|!
Noah|Noa|!
Gino|Dino|!
Tessa|Vessa|!
Milan|Dilan|!
Ebay|Etsy|!
Lyon|Leon|!
Selim|Selin|!
Ravi|Rani|!
Chloe|Cleo|!
Oluchi|Olachi|!
Ruslan|Ruslana|!
Petrov|Petrova|!
Kofi Boateng|Kofi Boatend|~
Objective-C|C|!
Paramount+|Paramount|!
Canal+|Canal Plus|~
A#|A|!
Three.js|Threejs|=
React 17|React 18|!
iOS 16|iOS 17|!
USB 2.0|USB 20|!
Llama 3|Llama 3.1|!
Highway 61|Highway 16|!
Flat 3B|Flat 3C|!
Sprint 4|Sprint 14|!
Ocean's Eleven|Ocean's Twelve|!
Pope Pius X|Pope Pius XI|!
Final Fantasy VII|Final Fantasy 7|~
Star Wars IV|Star Wars VI|!
Organisation for Economic Co-operation and Development|OECD|~
International Atomic Energy Agency|IAEA|~
Saudi Arabia|SA|~
Los Angeles|LA|~
General Electric|GE|~
Union of European Football Associations|UEFA|~
European Central Bank|EBC|!
W. Shakespeare|William Shakespeare|~
E. M. Forster|Edward Morgan Forster|~
H. G. Wells|Herbert George Wells|~
F. Kahlo|Diego Kahlo|!
Samuel L. Jackson|Samuel Jackson|~
Tariq B.|Tariq Bensaid|~
Achebe, Chinua|Chinua Achebe|~
de Beauvoir, Simone|Simone de Beauvoir|~
Kim Jong Un|Kim Jong Il|!
Gabe Newell|Gabriel Newell|~
Becky Hammon|Rebecca Hammon|~
Ike|Isaac|~
Trudy|Gertrude|~
Kolya|Nikolai|~
Lupe Ortiz|Guadalupe Ortiz|~
Jerry|Terry|!
Mandy|Randy|!
Professor Okonkwo|Okonkwo|~
Herr Bauer|Frau Bauer|!
Sgt. Pepper|Pepper|~
Mrs Dalloway|Clarissa Dalloway|~
Philips N.V.|Philips|~
Embraer S.A.|Embraer|~
Tata Motors Limited|Tata Motors|~
Tata Motors|Tata Steel|!
Orange|Orange Juice|!
Jürgen Klopp|Juergen Klopp|~
Øyvind Berg|Oyvind Berg|~
Анна Каренина|Anna Karenina|~
Khrushchev|Khruschev|~
Fatima|Fatima Zahra|~
Bjarne|Bjarne Stroustrup|~
高橋|高橋由美|~
黃曉明|黄晓明|~
スズキ|すずき|~
박지성|지성|~
李娜|李娟|!
Carlos Ruiz|Elena Ruiz|!
Northern Ireland|Ireland|!
Tomás's brother|Tomás|!
"""
