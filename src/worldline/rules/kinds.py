"""Kinds of things: which words name a sort of thing, and which words are of that sort.

A text is tagged with kinds when it is written, so that a question about "activities" meets a text
about swimming although they share no word.  It decides nothing about ranking.  Each line of the
table reads ``names that ask for the kind: words that are of it``; a line without a colon is a set
of near-synonyms that ask for each other; an indented line continues the one above.

>>> tags_of(["swim", "car"]), asked_kinds("activ")
(('0activity', '0sport', '0vehicle', '0cars'), ('0activity',))
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from worldline.text import words

_TABLE = """
activity hobby pastime leisure interest recreation: swim hike run jog walk bike cycle paint draw
  sketch knit sew crochet garden cook bake read write dance sing camp fish hunt ski snowboard surf
  skate yoga meditate photography pottery craft woodwork sculpt puzzle chess climb kayak canoe
  paddle sail golf tennis soccer basketball volleyball bowl gym workout journal blog stargaze
  birdwatch origami collect karaoke game boardgame picnic hiking museum theater concert horseback
  ride dive scuba snorkel
sport exercise fitness workout athletic: run jog marathon race gym yoga pilates swim cycle bike hike
  climb tennis soccer football basketball baseball volleyball hockey golf ski snowboard surf skate
  boxing karate judo taekwondo crossfit weight lift cardio stretch aerobics zumba treadmill dumbbell
  squat kickboxing rowing badminton cricket rugby gymnastics triathlon 5k training coach team
  tournament league match
pet animal: dog puppy cat kitten hamster rabbit bunny bird parrot fish goldfish turtle lizard snake
  horse pony chicken goat guinea gecko ferret retriever labrador poodle terrier shepherd beagle
  husky corgi paw vet kennel leash shelter breed tail
food dish meal eat cuisine snack recipe dinner lunch breakfast diet: pizza pasta salad soup sandwich
  burger sushi taco curry rice noodle bread cake cookie pie pancake waffle steak chicken beef pork
  fish salmon shrimp tofu vegetable fruit apple banana berry strawberry blueberry orange lemon
  tomato potato cheese egg yogurt chocolate dessert ice cream bbq grill roast bake cook lasagna
  risotto ramen dumpling burrito hummus quinoa lentil bean mushroom avocado spinach muffin brownie
  croissant bagel popcorn chip nut smoothie bowl stew casserole omelette pepper garlic basil cupcake
  candy tart appetizer restaurant chef vegan vegetarian gluten spice flavor
drink beverage: coffee tea latte espresso cappuccino juice water soda beer wine cocktail whiskey gin
  rum vodka champagne milk smoothie lemonade kombucha margarita mocktail brew
family relative: mother mom mum father dad parent sister brother sibling son daughter child kid baby
  toddler twin wife husband spouse grandmother grandma grandfather grandpa grandparent aunt uncle
  cousin niece nephew family mother-in-law stepmother stepfather granddaughter grandson
child kid son daughter baby toddler teen teenager children
parent mom mum mother dad father
spouse partner husband wife boyfriend girlfriend fiance fiancee marry married relationship single
  divorce wed
sibling brother sister twin
friend buddy pal companion mate roommate neighbor neighbour colleague coworker teammate
job work career occupation profession employ company business role position: engineer developer
  programmer teacher nurse doctor lawyer accountant manager director designer artist writer chef
  waiter barista cashier driver mechanic electrician plumber carpenter scientist researcher analyst
  consultant marketing sales realtor therapist counselor psychologist dentist pharmacist pilot
  firefighter police officer soldier journalist editor photographer musician actor intern internship
  freelance startup office promotion hire interview resume boss client shift salary coworker
  employer retire entrepreneur shop store
education school study degree college university class course learn: student teacher professor
  bachelor master phd diploma graduate graduation major minor exam test homework assignment thesis
  semester campus scholarship tuition lecture seminar workshop certificate certification training
  tutor kindergarten academy bootcamp lesson curriculum
health medical illness disease condition sick injury doctor: flu cold fever cough headache migraine
  pain ache cancer diabetes asthma allergy allergic infection surgery hospital clinic nurse
  therapist therapy medication medicine pill vaccine checkup diagnosis diagnose symptom injury
  injure sprain fracture broken ankle knee back anxiety depression stress insomnia blood pressure
  cholesterol heart dentist tooth dermatologist physician doctor appointment prescription recover
  heal treatment rehab nutrition weight asthma bronchitis sinusitis eczema concussion
doctor physician specialist dermatologist cardiologist surgeon dentist orthopedic ent gp
  pediatrician
emotion feeling feel mood react reaction: happy sad angry excited nervous anxious proud grateful
  thankful worried scared afraid lonely relieved disappointed frustrated stressed overwhelmed calm
  peaceful joy love hate hope hopeful inspired motivated amazed thrilled upset jealous embarrassed
  bored tired exhausted confident content fulfilled blessed touched moved emotional
music song instrument band concert musician: guitar piano violin drum cello flute trumpet saxophone
  clarinet ukulele bass keyboard harp banjo sing singer song album playlist vinyl melody lyric jazz
  rock pop classical hip hop rap country folk blues symphony orchestra choir gig tour dj festival
  spotify tune mozart bach beethoven
instrument: guitar piano violin drum cello flute trumpet saxophone clarinet ukulele bass keyboard
  harp banjo
art artwork craft creative: paint painting draw drawing sketch sculpture sculpt pottery clay ceramic
  photography photo mural canvas watercolor oil acrylic gallery exhibit exhibition museum portrait
  landscape collage stained glass mosaic knit crochet sew quilt embroidery print design illustration
  origami calligraphy
book novel read literature author: book novel story fiction fantasy mystery thriller memoir
  biography chapter author writer library bookstore paperback kindle audiobook poem poetry magazine
  series trilogy page reading
movie film show series watch cinema tv television: movie film documentary comedy drama thriller
  horror romance anime cartoon netflix hulu disney episode season actor actress director theater
  cinema trailer sitcom marvel
game videogame: xbox playstation nintendo switch console pc steam chess monopoly scrabble catan card
  poker puzzle rpg shooter multiplayer fortnite minecraft zelda mario strategy tournament esports
  gamer
place location city town country state visit travel trip vacation destination: trip travel vacation
  holiday flight fly airport hotel hostel airbnb resort beach mountain island lake river park museum
  paris london rome tokyo spain france italy germany japan china india mexico canada england ireland
  greece turkey thailand australia brazil europe asia africa america hawaii california florida texas
  york chicago boston seattle francisco angeles vegas miami denver portland barcelona madrid berlin
  amsterdam dublin lisbon prague vienna sydney toronto vancouver singapore bali cruise tour
  itinerary passport visa luggage suitcase backpack roadtrip
country nation abroad: spain france italy germany japan china india mexico canada england ireland
  greece turkey thailand australia brazil portugal sweden norway denmark finland netherlands
  switzerland austria poland russia korea vietnam indonesia philippines egypt morocco kenya nigeria
  peru argentina chile colombia cuba jamaica israel uk scotland wales usa
city town: paris london rome tokyo york chicago boston seattle francisco angeles vegas miami denver
  portland barcelona madrid berlin amsterdam dublin lisbon prague vienna sydney toronto vancouver
  singapore austin dallas houston atlanta philadelphia detroit orlando nashville phoenix minneapolis
nature outdoors outdoor scenery: beach mountain forest wood trail lake river ocean sea waterfall
  sunset sunrise camp hike park garden flower tree plant desert canyon valley island star sky
  wildlife
vehicle car transport transportation drive commute: car truck suv van bike bicycle motorcycle
  scooter bus train subway taxi uber lyft plane boat ferry honda toyota ford bmw tesla mazda hyundai
  nissan chevy jeep audi engine tire brake mileage gas fuel dealership mechanic garage
clothes clothing wear outfit fashion: shirt dress shoe boot sneaker jacket coat jean pants skirt
  sweater hoodie hat cap scarf glove sock suit tie blouse uniform costume blazer heel sandal
  necklace ring earring bracelet jewelry watch purse handbag
device gadget technology tech electronics: phone iphone android samsung galaxy laptop computer
  macbook ipad tablet tv camera headphone earbud speaker airpods smartwatch fitbit router printer
  monitor keyboard mouse charger console drone kindle alexa thermostat
furniture decor: sofa couch table chair desk bed mattress lamp rug curtain shelf bookshelf cabinet
  dresser mirror ikea pillow blanket wardrobe
appliance kitchen: fridge refrigerator oven stove microwave blender toaster dishwasher washer dryer
  vacuum mixer fryer kettle coffee maker grill
home house live residence apartment: apartment condo house studio townhouse rent lease mortgage
  landlord tenant neighborhood suburb downtown bedroom kitchen bathroom backyard garage basement
  roommate move renovate
event celebration celebrate party ceremony occasion: birthday wedding anniversary graduation party
  festival parade concert reunion holiday christmas thanksgiving easter halloween ceremony
  conference gala fundraiser picnic bbq shower housewarming engagement baptism potluck tournament
  workshop fair meetup exhibition
volunteer charity cause community donate help nonprofit: volunteer charity shelter donate donation
  fundraiser food bank nonprofit campaign mentor tutor cleanup homeless community outreach cause
  awareness soup kitchen
goal plan aspire aspiration dream ambition future: plan goal dream hope want aim aspire intend
  target resolution savings someday
problem issue challenge difficulty struggle obstacle trouble setback: problem issue challenge
  struggle difficult hard trouble obstacle setback error bug fail failure broken stuck conflict
  injury lose loss delay
religion faith spiritual church: church pray prayer god bible faith temple mosque synagogue pastor
  priest mass christian catholic muslim buddhist hindu jewish meditation
money finance financial cost price budget expense spend: dollar pay paid price cost budget save
  savings loan debt mortgage rent salary income tax invest investment stock bank credit bill fee
  refund discount coupon bonus afford cheap expensive
gift present souvenir: gift present surprise wrap birthday christmas necklace bouquet card voucher
plant garden flower: rose tulip lily orchid sunflower daisy succulent cactus fern basil tomato herb
  seed soil fertilizer bloom seedling peace lily
subscription service membership app: netflix spotify hulu gym membership subscription app magazine
  prime streaming
color colour shade: red blue green yellow orange purple pink black white gray grey brown teal navy
  beige turquoise gold silver
weather climate: rain snow storm sunny cloudy wind hot cold heat humid hurricane fog temperature
buy purchase get acquire order pick shop
begin start launch commence kick initiate join
finish complete end conclude wrap
move relocate relocation
visit go travel attend trip
like love enjoy favorite favourite prefer preference fan
meet encounter introduce
make create build craft produce
fix repair service maintain maintenance
talk discuss conversation chat mention speak say tell
teach mentor coach instruct tutor
help assist support aid
picture photo image photograph pic photography
kind type sort style genre
happen occur event
recently lately last recent current currently now
research study investigate look
car vehicle automobile
bike bicycle cycling
trip vacation holiday journey getaway travel
decide decision choose choice chose pick
realize realise learn discover understand
inspire motivate encourage motivation inspiration
win award prize trophy medal champion
ill sick unwell flu
adopt adoption rescue
camp camping tent campfire
band group musician
purpose reason why motive because
symbol symbolize represent meaning mean remind
important significance matter meaningful
identity gender transgender lgbtq queer gay nonbinary lesbian
kids children family
deadline due date schedule timeline
test testing exam
error bug exception issue
grandma grandmother granny nana
grandpa grandfather
collect collection collector
perform performance show concert play gig
practice practise rehearse train
relax unwind destress calm peaceful
advice suggestion tip recommend suggest recommendation
hurt injure injury pain
lose lost miss missing
own have possess
color colour paint
die death pass funeral
pregnant pregnancy baby expecting
job work position role career
meal dinner lunch breakfast brunch
store shop mall market boutique
neighbor neighbour
buddy friend pal
sport team league game match
bake cake cookie bread oven
workshop class course seminar
"""


STANDING = "0standing"
"""The tag of texts that give an instruction which is to hold from then on."""


@cache
def _tables() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Token → kinds it is of, and token → kinds it asks for."""
    of: dict[str, list[str]] = {}
    asks: dict[str, list[str]] = {}
    for line in _TABLE.replace("\n  ", " ").split("\n")[1:-1]:
        heads, colon, members = line.partition(":")
        tag = "0" + heads.split()[0] + ("" if colon else "s")
        for token in words(heads):
            asks.setdefault(token, []).append(tag)
        for token in words(heads + " " + members):
            of.setdefault(token, []).append(tag)
    return _frozen(of), _frozen(asks)


def _frozen(table: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {token: tuple(dict.fromkeys(tags)) for token, tags in table.items()}


def tags_of(tokens: Iterable[str]) -> tuple[str, ...]:
    """The kinds that a text's tokens are of."""
    of, _ = _tables()
    if of.keys().isdisjoint(known := list(tokens)):
        return ()
    return tuple(dict.fromkeys(tag for token in known if token in of for tag in of[token]))


def asked_kinds(token: str) -> tuple[str, ...]:
    """The kinds that a question's token asks for."""
    return _tables()[1].get(token, ())


@cache
def of_kind(tag: str) -> frozenset[str]:
    """The tokens that are of a kind."""
    return frozenset(token for token, tags in _tables()[0].items() if tag in tags)
