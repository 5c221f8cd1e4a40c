"""What a message is read as: sentences with the facts in them, and sentences that hold none."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from worldline import Config, Memory
from worldline.clock import show, to_datetime
from worldline.reading.claim import Claim
from worldline.reading.read import MAX_TEXT, Reading, read
from worldline.rules.slots import label, sentence
from worldline.write.reconcile import DECODER, ENCODER

SAID = datetime(2024, 5, 15, 10, 0, tzinfo=UTC)  # a Wednesday

FACTS = """
I eat eggs but no cheese. | Ana eats eggs; Ana does not eat cheese
I have neither a car nor a bike. | Ana does not have car; Ana does not have bike
Nuria, not Pilar, chairs the committee. | Nuria chairs committee; Pilar does not chair committee
My cousin isn't a lawyer but a notary. | Ana's cousin is not lawyer; Ana's cousin is notary
The recital isn't on Tuesday but on Friday. | recital is not on Tuesday; recital is on Friday
I don't eat meat any more, only fish. | Ana no longer eats meat; Ana eats fish
Nobody but Greta has the alarm code. | Greta has alarm code
It was Bertil who painted the fence. | Bertil painted fence
It wasn't Bertil who painted the fence. | Bertil did not paint fence
Everybody has a locker except Tove. | Tove does not have locker
Apart from Ludo, none of us has a passport. | Ana does not have passport; Ludo has passport
Since March she's been away, and since April we've been renting a barn. | Ana rents barn
As of today my desk is D14. | Ana's desk is D14
The stove is a Morso, I had it swept in May. | stove is Morso; Ana had swept stove
Mette, whose husband owns a kiln, lives in Ribe. | Mette's husband owns kiln; Mette lives in Ribe
I report to Solveig Brandt now, she runs the archive. | Ana reports to Solveig Brandt; Solveig Brandt runs archive
I sold the drill to my cousin Aksel. | Ana's cousin is Aksel; Ana sold drill to Aksel; Ana sold drill
Sprained my ankle on Friday, missed the ferry. | Ana sprained ankle; Ana missed ferry
Yeah, John. Sold the piano. | Ana sold piano
Cool, James! Met two developers and joined a chess club. | Ana met two developers; Ana joined chess club
I joined a nearby church. | Ana joined nearby church
I joined Halden Dairy in May. | Ana works at Halden Dairy
I joined a small firm. | Ana works at small firm
I've started with the basic setup. | Ana started with basic setup
Budget was 900, but Otto found another 250. | Budget was 900; Otto found 250
Estimate £2,300, deposit asked for. | Estimate is £2,300
I'm tall and wear size 46 shoes. | Ana is tall; Ana wears size 46 shoes
The ladder is in our neighbour Piet's shed. | Ana's neighbour is Piet; ladder is in Piet's shed
The kiosk closes at quarter to six. | kiosk closes at quarter to six
The crèche costs us 420 a month. | crèche costs 420 a month
I keep my passport in the safe. | Ana keeps Ana's passport in safe
We moved to Lyon last week, any tips for a dentist? | Ana lives in Lyon
The woman who leads our choir, Thea Lind, plays the oboe. | Thea Lind leads Ana's choir; Thea Lind plays oboe
My aunt runs a small inn in Bergen. | Ana's aunt runs small inn; Ana's aunt runs small inn in Bergen
Sanne is the one who walks the dog. | Sanne walks dog
Lotte is the one with the nut allergy. | Lotte has nut allergy
My sister plays the oboe and so does her husband. | Ana's sister plays oboe; Ana's sister's husband plays oboe
I'm not vegan but my flatmate is. | Ana is not vegan; Ana's flatmate is vegan
Did I tell you Marit got engaged to Jonas? | Marit got engaged to Jonas
Could you write to my notary, Ms. Okoye? | Ana's notary is Ms. Okoye
My boss, a woman called Rita Sand, plays golf. | Ana's boss is Rita Sand; Rita Sand plays golf
Pavel, the guy who tunes our piano, is moving to Brno. | Pavel lives in Brno
My landlord is Mr. Sand and the rent is 980 a month. | Ana's landlord is Mr. Sand; rent is 980 a month
My son's school is Lund and his teacher is Ms. Roe. | Ana's son's school is Lund; Ana's son's teacher is Ms. Roe
The glass goes out on the first Monday of the month. | glass goes out on first Monday of the month
The cat gets half a tablet twice a day. | cat gets half a tablet
I drink two or three beers. | Ana drinks two or three beers
The pump trips every two hours. | pump trips every two hours
I owe Bo 200 pounds. | Ana owes Bo 200 pounds
Our team talks on Slack. | Ana's team talks on Slack
Parcels expire after 90 days. | Parcels expire after 90 days
The ladder hangs behind the wood shed. | ladder hangs behind wood shed
Sorting the post is Benedikt's duty. | Sorting the post is Benedikt's duty
Purchase questions go to Marta. | Purchase questions go to Marta
The heater wants firmware 3.1. | heater wants firmware 3.1
We rent a cottage outside Narberth. | Ana rents cottage; Ana rents cottage outside Narberth
Wenche has two sons, Odd and Leif. | Wenche's son is Odd; Wenche's son is Leif
My parents are Hans and Greta. | Ana's parents are Hans; Ana's parents are Greta
Tom and Lisa are my best friends. | Tom is Ana's best friend; Lisa is Ana's best friend
My dogs are called Bo and Al. | Ana's dogs are Bo; Ana's dogs are Al
I'm allergic to peanuts and shellfish. | Ana is allergic to peanuts; Ana is allergic to shellfish
I'm allergic to shellfish and peanuts. | Ana is allergic to shellfish; Ana is allergic to peanuts
Al is allergic to soy, oat and bee stings. | Al is allergic to soy; Al is allergic to oat; Al is allergic to bee stings
Ida is intolerant to house dust and to shellfish. | Ida is intolerant to house dust; Ida is intolerant to shellfish
I have an allergy to both eggs and shellfish. | Ana has allergy to eggs; Ana has allergy to shellfish
I'm afraid of heights and flying. | Ana is afraid of heights; Ana is afraid of flying
We don't eat pork or shellfish. | Ana does not eat pork; Ana does not eat shellfish
I hate squash and capers. | Ana hates squash; Ana hates capers
I like badminton, karate and rowing. | Ana likes badminton; Ana likes karate; Ana likes rowing
I love pizza and hate olives. | Ana loves pizza; Ana hates olives
I have house and car insurance. | Ana has house and car insurance
I've got a parrot called Polly. | Ana has parrot; Ana's parrot is Polly
I have a cat named Mia. | Ana has cat; Ana's cat is Mia
Ida has a cat called Tom and a dog called Rex. | Ida has cat; Ida has dog; Ida's cat is Tom; Ida's dog is Rex
I have a cat and a dog named Mia and Rex. | Ana has cat; Ana has dog
Lena has a boat called Gull. | Lena has boat; Lena's boat is called Gull
Our dog is a whippet called Zip. | Ana's dog is whippet; Ana's whippet is called Zip
I met a dog called Buddy. | Ana met dog; Buddy is dog
My aunt runs an inn called Salt and Crumb. | Ana's aunt runs inn; Ana's aunt's inn is called Salt and Crumb
I own two ponies, Toffee and Bramble. | Ana owns Toffee; Ana owns Bramble
I speak Czech, Polish and a bit of Slovene. | Ana speaks Czech; Ana speaks Polish; Ana speaks Slovene
We moved into the cottage on Mill Lane last week. | Ana lives in cottage on Mill Lane
I work for a museum in Ghent. | Ana works for museum in Ghent
Our office moved from Dock Street to Harbour Square. | Ana's office moved to Harbour Square
I was promoted to team lead. | Ana was promoted to team lead
My wedding is at Lake Orta on 12 September. | Ana's wedding is at Lake Orta; Ana's wedding is on 12 September
The show was opened by the mayor in 2012. | show was opened by mayor
The mill isn't run by the Olsens any longer. | mill is no longer run by Olsens
Signe's train is late and she's staying with my aunt. | Signe stays with Ana's aunt
The regatta is on the 4th, no wait, the 5th of July. | regatta is on the 5th of July
My son starts at Birch Primary on 1 September. | Ana's son starts at Birch Primary
There's a spare key under the mat. | spare key is under mat
I'm left-handed and colour-blind. | Ana is left-handed; Ana is colour-blind
The museum is closed on Tuesdays. | museum is closed on Tuesdays
I owe Milan 200 euros. | Ana owes Milan 200 euros
We spent two weeks in Crete. | Ana spent two weeks in Crete
The old ferry to Hven stopped running in 2021. | old ferry to Hven stopped running
We're expecting twins in March. | Ana expects twins
The woman I told you about, Farah, bought a loom. | Farah bought loom
You can reach me on 0770 112 233. | Ana has phone number 0770 112 233
Femke waters the plants. | Femke waters plants
Agnes conducts the village choir. | Agnes conducts village choir
Chess circle meets on wednesdays. | Chess circle meets on wednesdays
Boat hire is £22 an hour. | Boat hire is £22 an hour
Formatting is done with black. | Formatting is done with black
Wanda never touches shellfish. | Wanda does not touch shellfish
Ilse and Bruno are engaged. | Ilse is engaged to Bruno
The tram leaves at 6:20. | tram leaves at 6:20
Tamar handles invoices. | Tamar handles invoices
relay runs Ferrite 9 | relay runs Ferrite 9
Rent for the barn is 310. | barn's rent is 310
Offer for the boat stands at 8,200. | Offer for the boat stands at 8,200
Choir practice is every Thursday. | Choir practice is every Thursday
We stream everything on Plumly. | Ana streams on Plumly
The table saw is a Bosch. | table saw is Bosch
My landlady put the rent up to 870. | rent is 870
They pushed the audit report back to 2 June. | audit report is scheduled for 2 June
Jonna went to live with my cousin in Graz. | Jonna lives with Ana's cousin; Jonna lives in Graz
I have type 2 diabetes. | Ana has type 2 diabetes
Server osprey-07 rebooted at 04:10. | Server osprey-07 rebooted
im at the Elbe office | Ana is at Elbe office
I drive a Volvo estate with 90k miles on it. | Ana drives Volvo estate
The service runs on port 7112. | service runs on port 7112
Market day is on Fridays. | Market day is on Fridays
Guess who passed the exam? Our Mila! | Mila passed exam
They've made me head gardener. | Ana works as head gardener
Ruth has been promoted to head of finance. | Ruth is promoted to head of finance
The rent is 700 euros. | rent is 700 euros
I could see myself working at Bosch one day. Hate mushrooms. | Ana hates mushrooms
Mr Brandt is back on solid food. | Mr Brandt is on solid food
I'm colour-blind, so please suggest other paint. | Ana is colour-blind
Our cousin Piet was going to study law, then he opened a bakery. | Ana's cousin is Piet; Piet opened bakery
I've been allergic to dust since I was a child. | Ana is allergic to dust
Professor Adeyemi married Aunt Ruth. | Professor Adeyemi married Aunt Ruth
Heidi plays chess every Friday. | Heidi plays chess
He's the new vet, based in Linz. Ines swam home. | Ines swam home
The ferry sank last night. | ferry sank
My tutor is a lovely man called Wim. | Ana's tutor is Wim
We bought a tandem, it arrives on 3 June. | Ana bought tandem; tandem arrives on 3 June
We adopted a parrot! Her name's Olga. | Ana adopted parrot; Ana's parrot is Olga
Judith? She moved to Graz. | Judith lives in Graz
Petra and I have been together for six years. | Ana is together with Petra
My phone's 0664 55 20 18. | Ana's phone is 0664 55 20 18
Our fee went up to 90 euros. | Ana's fee went up to 90 euros
I don't drive. | Ana does not drive
The tall ladder is my uncle's. | tall ladder belongs to Ana's uncle
The blue kayak is the harbour's property. | blue kayak belongs to harbour
The cellar is mine. | cellar belongs to Ana
Orchard picnic on 3 June. | Orchard picnic is on 3 June
Theo can't swim. | Theo cannot swim
Write to me at ana@fjord.example from now on. | Ana has e-mail address ana@fjord.example
Ownership of the parser went to Lena. | parser went to Lena
Good news: my knee is fine and I live in Oslo. | Ana lives in Oslo
Dad's moved to Tromso. | Dad lives in Tromso
I've got a little flat in Bern. | Ana has flat in Bern
I work nights at the Alder bakery. | Ana works at Alder bakery
My train leaves at 8:15. | Ana's train leaves at 8:15
A cappuccino at Gio's costs 3.10. | cappuccino at Gio's costs 3.10
Our team lead is Sunil. | Ana's team lead is Sunil
The door code is fern-4411. | door code is fern-4411
I love kohlrabi. | Ana loves kohlrabi
My uncle has asthma. | Ana's uncle has asthma
Nobody at home plays chess except Wim. | Wim plays chess
Neither Ole nor Finn drinks wine. | Ole does not drink wine; Finn does not drink wine
Theo broke his thumb on Saturday. | Theo broke thumb
Hugo and I split up. | Ana split up with Hugo
First day at Larkfield Optics! | Ana works at Larkfield Optics
I'm a nurse at Harlow Clinic. | Ana is nurse; Ana works at Harlow Clinic
The ferry office reopened yesterday. | ferry office is open
Invoice 77 was paid on 3 May. | Invoice 77 was paid
I've got a new dentist, Dr Adeyemi. | Ana's dentist is Dr Adeyemi
I cycle to work. | Ana cycles to work
The firm employs 62 people. | firm employs 62 people
Kenji went back to Sapporo for good. | Kenji went back to Sapporo
I live in Porto. | Ana lives in Porto
I work at Halden Dairy. | Ana works at Halden Dairy
I live with my girlfriend Nora in Bonn. | Ana's girlfriend is Nora; Ana lives with Nora; Ana lives in Bonn
My sister Rosa lives in Lisbon. | Ana's sister is Rosa; Rosa lives in Lisbon
My brother Piet moved to Leeds in 2021. | Ana's brother is Piet; Piet lives in Leeds
I'm allergic to walnuts, and Tom is vegetarian. | Ana is allergic to walnuts; Tom is vegetarian
Rosa's husband is called Miguel. | Rosa's husband is Miguel
Lena's son Max plays the drums. | Lena's son is Max; Max plays drums
Kasper's wife Mette is a judge. | Kasper's wife is Mette; Mette is judge
Diego is my cousin. | Diego is Ana's cousin
Yuki is my piano teacher. | Yuki is Ana's piano teacher
As you know, Petra is my aunt. | Petra is Ana's aunt
Farah is the mother of Idris. | Farah is mother of Idris
Our landlord is Mr Brandt. | Ana's landlord is Mr Brandt
My dentist is Dr Okafor. | Ana's dentist is Dr Okafor
My manager is Sofia Lindqvist. | Ana's manager is Sofia Lindqvist
My dog is called Bruno. | Ana's dog is Bruno
Jonas Weber is married to Lena Vogt. | Jonas Weber is married to Lena Vogt
Clara is engaged to Pavel. | Clara is engaged to Pavel
Karim was born in Tunis. | Karim was born in Tunis
Zofia is from Gdansk. | Zofia is from Gdansk
Meera is Hindu. | Meera is Hindu
I am a carpenter. | Ana is carpenter
I'm a vegetarian. | Ana is vegetarian
Ravi, a trained pilot, lives in Pune. | Ravi is trained pilot; Ravi lives in Pune
Petra, who works at Bosch, speaks Dutch. | Petra works at Bosch; Petra speaks Dutch
I speak Finnish and Turkish. | Ana speaks Finnish; Ana speaks Turkish
Ines and Rui live in Braga. | Ines lives in Braga; Rui lives in Braga
Ines lives in Braga and works at Efacec. | Ines lives in Braga; Ines works at Efacec
I report to Dana, and Dana reports to Felix. | Ana reports to Dana; Dana reports to Felix
Karim plays the oud. | Karim plays oud
I love rock climbing. | Ana loves rock climbing
I'm into bouldering. | Ana is into bouldering
Bianca prefers tea to coffee. | Bianca prefers tea
Luca's favourite colour is teal. | Luca's favourite colour is teal
Meera's hobby is pottery. | Meera's hobby is pottery
Hugo collects stamps. | Hugo collects stamps
Femi supports Leeds United. | Femi supports Leeds United
I'm learning Korean. | Ana learns Korean
Erik owns a red Volvo. | Erik owns red Volvo
Nell's laptop is a ThinkPad. | Nell's laptop is ThinkPad
We use Linear for tickets. | Ana uses Linear
The API is written in Rust. | API is written in Rust
Our database runs on Postgres 16. | Ana's database runs on Postgres 16
Sven reports to Ulrika. | Sven reports to Ulrika
Kofi is the captain of the team. | Kofi is captain of team
Acme was founded by Ruth Adler. | Acme was founded by Ruth Adler
The bakery is run by Dora. | bakery is run by Dora
Our main supplier is Tarn Metals. | Ana's main supplier is Tarn Metals
Our office is in Malmö. | Ana's office is in Malmö
The printer is on the third floor. | printer is on third floor
The key is under the mat. | key is under mat
Grandma takes warfarin. | Grandma takes warfarin
Edda has asthma. | Edda has asthma
My rent is 950 euros. | Ana's rent is 950 euros
The gym costs 29 euros a month. | gym costs 29 euros a month
I weigh 71 kilos. | Ana weighs 71 kilos
My shoe size is 41. | Ana's shoe size is 41
My flight number is TP210. | Ana's flight number is TP210
My email is ana@example.org. | Ana's email is ana@example.org
Our wifi password is tulip-92. | Ana's wifi password is tulip-92
The deadline for the grant proposal is 14 June. | grant proposal's deadline is 14 June
Peter subscribes to Le Monde. | Peter subscribes to Le Monde
Bo lives in Porto now. | Bo lives in Porto
Thanks! I live in Faro now, by the way. | Ana lives in Faro
Jonas says that Petra works at Bosch. | Petra works at Bosch
Did you know that Petra lives in Ulm? | Petra lives in Ulm
Did you know Ruben only drinks oat milk? | Ruben drinks oat milk
Bo repairs clocks in Oslo. | Bo repairs clocks in Oslo
Euan's allergic to wasps, so bring the net. | Euan is allergic to wasps
Kit's a plumber. | Kit is plumber
On 3 May tram 4 hit a lorry. | tram 4 hit lorry
I bought a crate to keep the hall tidy. | Ana bought crate
Lars used to live in Pori and work at Nokia. | Lars used to live in Pori
It's Edda's birthday on Saturday. | Edda's birthday is Saturday
Neither of my brothers speaks Danish. | Ana's brothers does not speak Danish
Otto had his hip replaced in April. | Otto had hip replaced
Mira is out for the season. | Mira is out for season
We're off to Malta on the 9th. | Ana is off to Malta
I'm seeing a guy called Florin. | Ana sees Florin
Store it at 4°C. The serum kept at 4°C. | serum kept at 4°C
Acme relocated its head office to Bergen. | Acme relocated head office to Bergen
The depot project goes by Heron now. | depot project is called Heron
Rui and Milo married in 2019. | Rui married Milo
I'm vegan, can you suggest a cake? | Ana is vegan
Tove is out until Friday. | Tove is out
I've got the family plan on Streamly. | Ana has family plan on Streamly
Yoga is at 7 on Mondays. | Yoga is at 7; Yoga is on Mondays
We buy our flour from Tarn Mill. | Ana buys flour; Ana buys from Tarn Mill
Mia settled in Ghent. | Mia settled in Ghent
Our rent went up to £720. | Ana's rent went up to £720
The ferry has put the single ticket up to £6.40. | ferry put up single ticket to £6.40
The angling club elected Marta as treasurer. | angling club elected Marta as treasurer
The angling club elected Jan to the chair. | angling club elected Jan to chair
The vet, Dr Sommer, gave him drops. | Ana's vet is Dr Sommer
The new landlord is Mr Adler. | Ana's landlord is Mr Adler
The manager is Ilja. | manager is Ilja
The hero is a cook called Timo. | hero is cook; hero is called Timo
Ulla and I broke up. | Ana broke up with Ulla
Ulla and I broke up last month. | Ana broke up with Ulla
Zbynek and I split up on Friday. | Ana split up with Zbynek
I'm going out with a baker called Ilja. | Ana goes out with Ilja
My sister's name is Odile. | Ana's sister is Odile
Our new plumber's name is Tarek. | Ana's plumber is Tarek
Drill is on Saturday mornings. | Drill is on Saturday mornings
They've shifted drill to Saturday mornings. | drill is on Saturday mornings
New number: 0555 318 772 | Ana's number is 0555 318 772
Odile had her first day at Brecon College. | Odile works at Brecon College
The committee appointed Marta secretary. | committee appointed Marta secretary
The members elected Idris captain of the rowing club. | members elected Idris captain of rowing club
The opening was pushed back to 9 June. | opening was pushed back to 9 June
The audit was brought forward to 2 April. | audit was brought forward to 2 April
Jonas is in charge of the archive project. | Jonas is in charge of archive project
Freya took ownership of the search index. | Freya took ownership of search index
The booking page went live. | booking page is live
The greenhouse project is on hold. | greenhouse project is on hold
The dishwasher is working again. | dishwasher is working
The museum site is down. | museum site is down
Otto uses a Granta as his phone. | Otto uses Granta as phone
I'm down to 61 kg. | Ana is down to 61 kg
Paul is CEO of the Harbour Trust. | Paul is CEO of Harbour Trust
I'm on 75 mg of venlafaxine. | Ana is on 75 mg of venlafaxine
Ida's pregnant. | Ida is pregnant
My cousin Bo's living in Umeå. | Ana's cousin is Bo; Bo lives in Umeå
The library is open until seven. | library is open until seven
Ruben sleeps in the attic room. | Ruben sleeps in attic room
The plumber charged us £180. | plumber charged Ana £180
I get 14.50 an hour at the bakery. | Ana gets 14.50 an hour
Hanna exchanged vows with Emil. | Hanna exchanged vows with Emil
The choir is in the back room these days. | choir is in back room
The school is on Elm Street. | school is on Elm Street
We painted the garden gate dark red. | Ana painted garden gate dark red; Ana painted garden gate
I painted the shed green last week. | Ana painted shed green; Ana painted shed
We switched from Slack to Teams. | Ana switched from Slack; Ana switched to Teams
Our supplier was Hansa until March, then Borg. | Ana's supplier was Hansa; Ana's supplier was Borg
The exhibition runs from 2 to 20 June. | exhibition runs to 20 June
The bridge is shut until 2027. | bridge is shut
The road is closed between 5 and 9 June. | road is closed
Spare key is under the blue pot | Spare key is under blue pot
Meeting room is on the fourth floor | Meeting room is on fourth floor
Favourite tea is lapsang | Favourite tea is lapsang
Dentist on Tuesday at 9 | Ana's dentist appointment is on Tuesday; Ana's dentist appointment is at 9
Bins on Thursday | Bins are on Thursday
Choir rehearsal on Mondays at 7 | Choir rehearsal is on Mondays; Choir rehearsal is at 7
Haircut Saturday 11am | Haircut is on Saturday 11am
I have an eye test on 3 June. | Ana has eye test on 3 June
There's a fire drill on Friday at 10. | fire drill is on Friday; fire drill is at 10
I sit next to Ida. | Ana sits next to Ida
My desk is next to the window. | Ana's desk is next to window
We release every Thursday. | Ana releases every Thursday
The team meets every Monday at 10. | team meets at 10; team meets every Monday
Mia and I share a desk. | Ana shares desk with Mia
Jonas has been to Japan. | Jonas has been to Japan
Rosa sells honey. | Rosa sells honey
My cousin teaches class 2B with Ms Olsen. | Ana's cousin teaches class 2B; Ana's cousin teaches class 2B with Ms Olsen
I share a locker with Ben. | Ana shares locker with Ben
I like coffee with milk. | Ana likes coffee with milk
I run 8 km every Friday. | Ana runs 8 km
"""

RECORDS = """
Quarterly budget: 40,000 euros | Quarterly budget is 40,000 euros
Patient: R. Okafor. Allergies: latex, aspirin. | R. Okafor's allergy is latex; R. Okafor's allergy is aspirin
Name: Ilse Brandt / Email: ilse@brandt.example | Ilse Brandt's email is ilse@brandt.example
Project: Lantern / Owner: Dora Klein / Status: on track | Lantern's owner is Dora Klein; Lantern's status is on track
Asset: Forklift 7 / Serial number: FK-2291 | Forklift 7's serial number is FK-2291
Invoice 4471 / Amount: 640 euros | Invoice 4471's amount is 640 euros
Tier: Silver | Tier is Silver
Nutmeg (rabbit, 3 y) escaped on Monday. | Nutmeg is rabbit; Nutmeg is 3; Nutmeg has escaped
Sensor 4 failed. Replaced by Kim. | Sensor 4 has failed; Sensor 4 replaced by Kim
OPS-311: Lift 2 is blocked. Escalated to Ravi. | Lift 2 is blocked; OPS-311 escalated to Ravi
cache-7: version 4.2, status degraded | cache-7's version is 4.2; cache-7's status is degraded
Pupil Nora Blum: allergic to nuts | Nora Blum is allergic to nuts
Interview, Ruben Castell. Speaks Greek. | Ruben Castell speaks Greek
Patient: Mr Adam Ferris, 67. Takes warfarin. | Mr Adam Ferris is 67; Mr Adam Ferris takes warfarin
Premium 38 euros/month, policy number KX-22 | Premium is 38 euros/month; policy number is KX-22
Booster due April 2025 | Booster is due April 2025
Next MOT due April 2025 | Next MOT is due April 2025
Pump 3 tripped at 02:10. | Pump 3 has tripped
Call with Tarn / Contact: Ivo Roth, head of sales | Tarn's contact is Ivo Roth; Ivo Roth is head of sales
Falcon rollout deadline: 3 June 2024 | Falcon rollout's deadline is 3 June 2024
Sales team lead: Ida Roth | Sales's team lead is Ida Roth
Lena's cell: 555-0142 | Lena's cell is 555-0142
Owner of the ferry-api: k.lind | ferry-api's owner is k.lind
Darts night: Tuesdays at 8 | Darts night is Tuesdays at 8
Server: falcon-7. CPU: 16 cores. | falcon-7's cpu is 16 cores
Horse: gelding "Comet". Height: 162 cm. | Comet is gelding; Comet's height is 162 cm
New hire: Ines Lopez, manager: Tom Reed. | Ines Lopez's manager is Tom Reed
Class 3B: 24 pupils, 2 absent. | Class 3B has 24 pupils; Class 3B has 2 absent pupils
Class 3B: 24 pupils. Form tutor: Mary Odell. | Class 3B has 24 pupils; Class 3B's form tutor is Mary Odell
Berth 4: sloop "Tern", length 8.2 m, owner Olaf Berg | Tern's length is 8.2 m; Tern's owner is Olaf Berg
Inspection of Unit 7: caretaker Joan Platt, 3 doors | Unit 7's caretaker is Joan Platt; Unit 7 has 3 doors
Stock count hall B: 120 crates, 6 damaged. | hall B has 120 crates; hall B has 6 damaged crates
08:45 Bus 12 left Harlow station, driver: J. Cole. | Bus 12's driver is J. Cole; Bus 12 left Harlow station
Tenant flat 5: Olga Petrenko. Deposit: 1,800 euros. | flat 5's tenant is Olga Petrenko; flat 5's deposit is 1,800 euros
Bed 3 Mr Field: daughter Amy | Mr Field's daughter is Amy
Ping p99: 210 ms (was 300 ms) | Ping p99 is 210 ms
Owner: design team. | Owner is design team
Call with Ms Varga (Pecs office): wants a refund of 250 euros. | Ms Varga wants refund of 250 euros
Ida Kern, 58, ex-smoker, on insulin. | Ida Kern is 58; Ida Kern is ex-smoker; Ida Kern is on insulin
Site visit at Mill Farm: roof slates loose, 3 barns. | Mill Farm has 3 barns; Mill Farm's roof slates are loose
Backup of store2 failed, disk full on store2. | Backup of store2 has failed; disk is full on store2
Fire door damaged. | Fire door is damaged
Stand-up: Kim on leave until Friday. | Kim is on leave
mail-3: 64 GB RAM, 2 disks | mail-3 has 64 GB RAM; mail-3 has 2 disks
Incident 402: pump failed, replaced by Omar. | Incident 402's pump has failed; pump replaced by Omar
Contact: Jonas Weber, jonas@weber.example | Jonas Weber's email is jonas@weber.example
Resigned: Paula Stein, as of 31 March 2024. | Paula Stein has resigned
Secretary Ellen Moss sold the piano. | Ellen Moss sold piano; Ellen Moss is secretary
Meter 5 replaced on 3 May. | Meter 5 replaced
Gate 2 repaired on Monday by Ines. | Gate 2 repaired by Ines
06:40 sluice 3 opened by Ines. | Sluice 3 was opened by Ines
Machine: saw M4. Keeper: Omar Sy. Serviced: 3 May. | saw M4's keeper is Omar Sy; saw M4 was serviced on 3 May
Machine: lathe M4. Status: idle since Tuesday. | lathe M4's status is idle
Chair since May 2019: Ilse Brandt. Deputy: Jon Falk. | Chair is Ilse Brandt; Deputy is Jon Falk
Water temperature on Tuesday: 14.2 °C. | Water temperature is 14.2 °C
Odometer of van 6 on 28 February: 51,220 km. | van 6's odometer is 51,220 km
Cold store 2: 3.9 °C at 08:00 | Cold store 2 is 3.9 °C
Freezer A: -18 °C at 07:30 | Freezer A is -18 °C
Pupil: Nora Blum, class 4A from 1 March. | Nora Blum's class is 4A
Boat "Tern", 11 m, skipper Ada Lund, berth 14. | Tern is 11 m; Tern's skipper is Ada Lund; Tern's berth is 14
Invoice 2201, 1,400 euros, sent 3 May, unpaid. | Invoice 2201 is 1,400 euros; Invoice 2201 is unpaid; Invoice 2201 sent
Van 12 (driver Sela) hit a post. | Van 12's driver is Sela; Van 12 hit post
Lift C out of service since 3 May. Repair firm: Arno Roth. | Lift C's repair firm is Arno Roth; Lift C is out of service
Printer 3 under repair. | Printer 3 is under repair
Tank 3 refilled on Monday, level 82 %. | Tank 3 refilled; Tank 3's level is 82 %
Slab poured yesterday, 40 m2. | Slab poured
Crane 2 stopped, no spare parts. | Crane 2 has stopped
Version 4.2 released 3 April. | Version 4.2 released
Well 4: flow stopped on Monday, pump replaced 3 May. | Well 4's flow has stopped; Well 4's pump replaced
Job 8: 38 pages, due 28 March. | Job 8 has 38 pages; Job 8 is due 28 March
Order 7: let to Timo Kern, 45 euros a month, since January. | Order 7 is 45 euros a month
Bill 88, Marsh Oil, 40 sacks, due 15 May. | Bill 88 has 40 sacks; Bill 88 is due 15 May
Permit no. 7, renewed on 1 May, ends on 3 June. | Permit no 7 was renewed on 1 May; Permit no 7 ends on 3 June
Bag 9, filled 3 May, ships 9 May, client Berg. | Bag 9 was filled on 3 May; Bag 9 ships on 9 May; Bag 9's client is Berg
Lathe B6, serial LM-22, bought 3 May, as new. | Lathe B6's serial is LM-22; Lathe B6 was bought on 3 May
Guest 8, Yusuf Roe, joined May 2016, lapsed June 2023. | Guest 8 joined in May 2016; Guest 8 lapsed in June 2023
Greenhouse 2: 24 °C, vents open. | Greenhouse 2 is 24 °C
Pt: L. Berg. BP 131/84. Started ramipril 2 mg daily. | L. Berg's BP is 131/84; L. Berg started ramipril 2 mg daily
Pt: L. Berg. Scan on 3 June. | L. Berg's scan is on 3 June
Tank 3. Level 82 %. Cleaned on Monday. | Tank 3's level is 82 %; Tank 3 was cleaned on Monday
Flat 9. Tenant Ines Moll. Rent 900 euros. | Flat 9's tenant is Ines Moll; Flat 9's rent is 900 euros
Project Heron. Budget 90 euros. Lead: Kim Lund. | Project Heron's budget is 90 euros; Project Heron's lead is Kim Lund
Owner of the mail gateway changed: Ana -> Ben | mail gateway's owner is Ben
Gate code changed: 4411 -> 9020 | Gate code is 9020
Sodium 138 mmol/L. Ferritin 80 ng/mL. | Sodium is 138 mmol/L; Ferritin is 80 ng/mL
Bread 2.10, milk 1.15, total 3.25 | Bread is 2.10; milk is 1.15; total is 3.25
Patient weight 5.1 kg, 3 May 2024. | Patient's weight is 5.1 kg
07:00 WARN sensor-3 humidity=81% battery=3.1V | sensor-3's humidity is 81%; sensor-3's battery is 3.1V
Order 88 / Client: Kim Lund / 3 lamps | Order 88 has 3 lamps; Order 88's client is Kim Lund
Shed: 2 spades, 1 rake. | Shed has 2 spades; Shed has 1 rake
Freezer: 2 loaves, 1 chicken. | Freezer has 2 loaves; Freezer has 1 chicken
Ferry 3: Lund 9:10, Oxbow Pier 9:40. | Ferry 3 is at Lund at 9:10; Ferry 3 is at Oxbow Pier at 9:40
Table 6: Anna, Mrs Bell. | Anna is at Table 6; Mrs Bell is at Table 6
Room 12: Anna Roth. | Anna Roth is in Room 12
Late shift: Omar Sy. | Late shift is Omar Sy
Flat 4. Term: 1 June 2024 to 31 May 2025. | Flat 4's term starts on 1 June 2024; Flat 4's term ends on 31 May 2025
Corner Shop, 22/04/2024. Sage tea 4.50. Total 4.50 paid by card. | Sage tea is 4.50; Total is 4.50
Route: Lund → Ystad | Route is Lund → Ystad
Weight 71.2 kg. | Ana's weight is 71.2 kg
Ticket #9 / Device: M5 / Issue: no light | Ticket #9's device is M5; Ticket #9's issue is no light
Booking ref QX7: seat 12C, guest Kim Lund | Booking ref QX7's seat is 12C; Booking ref QX7's guest is Kim Lund
"""

NOTHING = """
Green tea is in fashion
Public transport is in chaos
Good luck on Friday
See you on Tuesday at 9
Rain on Saturday
Mia on Friday
Photos from Saturday
The lecture made me think about my father.
Ida's new car!
Thanks, Maria. Gotta go.
They give me peace and strength.
I wanted to bring the lamp home.
I'm so done with this winter.
Those shoes won't work for me.
I thought you lived in Bristol!
Karin's convinced that the pool opens at six.
Let's say the bus leaves at nine and takes an hour.
I just want to crawl into bed.
Yeah right, and I'm the queen of Norway.
I'm soaked to the skin.
I'll call you later.
You're the best.
I ordered the blue one in the end.
According to Maud, the bakery is closing.
In my dream I was the king of Spain.
Gossip says Tom has left the choir.
My cousin keeps telling people that we moved to Oslo.
Write me a story where a boy called Pim lives in a mill.
Otto thinks Marcel is moving to Ghent.
The wifi password is [redacted: password].
Do you live in Porto?
Where does Rosa work these days?
Is Hana allergic to nuts?
Should I move to Lisbon?
Can you check whether Karim has a visa?
Could you rewrite this paragraph?
If I lived in Rome, I would learn Italian.
I might move to Ghent next year.
I would love to live in Bergen.
I wish I had a dog.
I hope Ana finds a flat in Graz.
Imagine you own a castle.
Unless Piet quits his job, nothing will change.
Maybe we could get a cat.
I'm thinking of switching to Linear.
"I live in Berlin," says the man in the film.
Translate this: I live in Paris and work at Renault.
Please book a table for two.
Call the plumber tomorrow.
Remind me to water the plants.
Don't forget the keys.
You should try the new ramen place.
Let me think about it.
Todo: buy milk
The rumour that Ole moved to Bergen won't go away.
Had Ole bought the barn, he would be broke.
Thanks, that's great!
Good morning!
Haha, no way.
See you later.
What a lovely day!
Sounds good to me.
I'm not sure what you mean.
That is a good idea.
He lives in Rome.
I'm always here for you, Mel!
Seattle is a great city.
We had a great experience.
We can make a difference.
Books can carry us away.
It helps us find peace.
I'll check out those options.
The green one is mine.
You live in Oslo, don't you?
Status: closed. Priority: low. Comment: will look later.
Email: n/a. Address: n/a.
Item 2: minutes of the last meeting.
GET /api/users status=500 ms=12
set timeout=30 retries=5
Route 66. Great song.
Room 4: Maths 09:00, Physics 10:00.
Room 12: physics, chemistry.
Metformin 10 mg stopped on Monday.
Next steps: paint, sand, varnish.
Ok.
"""


def table(text: str) -> list[tuple[str, list[str]]]:
    """Lines of "message | fact; fact", where " / " stands for a new line."""
    rows = [line.split(" | ") for line in text.strip().splitlines()]
    return [(said.replace(" / ", "\n"), facts.split("; ")) for said, facts in rows]


def facts(reading: Reading) -> list[str]:
    """The claims of a reading, as they read."""
    return [sentence(c.subject, c.predicate, c.object) for c in reading.claims]


def the_claim(text: str) -> Claim:
    """The only claim in a message."""
    (claim,) = read(text, "Ana", said_at=SAID).claims
    return claim


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("I started metformin.", "takes_medication"),
        ("I started apixafen last week.", "takes_medication"),
        ("I started a blog.", ""),
        ("We went on a camping trip.", ""),
        ("I attended a pottery workshop.", "attended"),
        ("I attend Halden College.", "studies_at"),
        ("I attend Stanford.", "studies_at"),
        ("I play the cello.", "plays_instrument"),
        ("I play volleyball.", "plays_sport"),
        ("I do yoga.", "plays_sport"),
        ("I know Spanish.", "speaks"),
        ("I have a boat.", "owns"),
        ("I have trouble with the printer.", ""),
        ("She gave me good advice.", ""),
        ("I started with the budget.", ""),
        ("I'm staying in Galway.", "stays_in"),
        ("My niece goes to Alder School.", "studies_at"),
        ("My niece goes to Oakridge.", "studies_at"),
        ("Ida starts at Leeds University in September.", "studies_at"),
        ("We're going to Riga on 3 June.", "travels_to"),
        ("I go to Bergen every summer.", "travels_to"),
        ("My aunt will go to Japan.", "travels_to"),
        ("I'm going to Halden College tomorrow for a fair.", "travels_to"),
        ("Rosa goes to Bergen with her sister.", "travels_to"),
    ],
)
def test_words_that_may_mean_anything_mean_a_family_of_its_own_kind_of_thing(text: str, family: str) -> None:
    """ "Started" is of a medicine where a medicine was started, and of nothing in particular where a blog was."""
    read_as = {claim.family for claim in read(text, "Ana", said_at=SAID).claims}
    assert read_as == {family} if family else not any(read_as)


@pytest.mark.parametrize(
    ("text", "slot", "effect"),
    [
        ("Lena stepped down as head of the orchestra.", "headed_by", "ends"),
        ("Milo was let go by Brandt & Co.", "works_at", "ends"),
        ("Nadia wrote off the van.", "drives", "ends"),
        ("My sister doesn't work there any more.", "works_at", "ends"),
        ("Uncle Raf came home from hospital.", "stays_in", "ends"),
        ("The kettle is back from the repair shop.", "located_in", "ends"),
        ("Ines got promoted! She's head baker at the Corner Mill.", "works_as", "holds"),
        ("Rosa started seeing Miguel.", "partner", "begins"),
        ("We replaced Slack with Teams.", "owns", "begins"),
        ("Hugo replaced Lena as treasurer of the rowing club.", "treasurer", "begins"),
        ("The members elected Idris captain of the rowing club.", "captain", "begins"),
        ("I take 20 mg of citalopram.", "takes_medication:citalopram", "holds"),
    ],
)
def test_a_wording_of_several_words_falls_into_its_family(text: str, slot: str, effect: str) -> None:
    """Particles, nouns that are no role and chains of verbs are part of a wording, as the table of families has it."""
    assert (slot, effect) in {(c.key, c.effect) for c in read(text, "Ana", said_at=SAID).claims}


@pytest.mark.parametrize(
    "text",
    [
        "Dogs like bones.",
        "I can host Fortnite evenings.",
        "Here's a picture of Bo.",
        "I will try the 3 of them.",
        "PlumJam22 won't work any more.",
    ],
)
def test_what_anybody_might_say_is_not_kept_word_for_word(text: str) -> None:
    """What is so of all of a kind, might be, or is shown is nothing that holds."""
    assert read(text, "Ana", said_at=SAID).claims == ()


@pytest.mark.parametrize(("text", "wanted"), table(FACTS), ids=lambda v: v if isinstance(v, str) else "")
def test_sentence(text: str, wanted: list[str]) -> None:
    """A sentence gives its facts, as English sentences, and no others."""
    assert sorted(facts(read(text, "Ana", said_at=SAID))) == sorted(wanted)


@pytest.mark.parametrize(("text", "wanted"), table(RECORDS), ids=lambda v: v if isinstance(v, str) else "")
def test_record(text: str, wanted: list[str]) -> None:
    """Labels and values speak of the thing that the record names."""
    assert facts(read(text, "Ana", said_at=SAID)) == wanted


@pytest.mark.parametrize("bar", [" / ", " | ", "; "])
def test_what_stands_between_fields(bar: str) -> None:
    """Bars and strokes part the fields of a record."""
    said = bar.join(["Order 88", "Client: Kim Lund", "3 lamps"])
    assert facts(read(said, "Ana", said_at=SAID)) == ["Order 88 has 3 lamps", "Order 88's client is Kim Lund"]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Server: falcon-7. Admin: Lena Voss since May 2023.", "2023-05-01", ""),
        ("Sample 9: pH 7.1 (measured 3 April).", "2024-04-03", ""),
        ("Contract: Blue Fern Ltd, from 1 May 2023 to 30 April 2025", "2023-05-01", "2025-05-01"),
        ("Result 4 May: Hawks Lund beat Torpedo Riga.", "2024-05-04", ""),
        ("[2024-02-11] – Lena repaired the pump.", "2024-02-11", ""),
        ("2024-04-29: Jonas read the gas meter.", "2024-04-29", ""),
        ("Owner of the mail gateway changed: Ana -> Ben, effective 1 June.", "2024-06-01", ""),
        ("Bike B7. Key 4411. Due 3 May.", "2025-05-03", ""),
        ("Ticket #31 | Owner: Kim | Opened: 3 June", "2023-06-03", ""),
        ("Alarm installed 2015.", "2015-01-01", ""),
    ],
)
def test_when_a_record_holds(text: str, start: str, end: str) -> None:
    """The dates of a field are its own, and the day in front of a line that of all it says."""
    claim = read(text, "Ana", said_at=SAID).claims[-1]
    assert claim.valid_from is not None
    assert show(claim.valid_from)[:10] == start
    assert (show(claim.valid_to)[:10] if claim.valid_to is not None else "") == end


@pytest.mark.parametrize("text", NOTHING.strip().splitlines())
def test_nothing_to_keep(text: str) -> None:
    """Questions, wishes, orders, quotes, small talk and pronouns without a name give no fact."""
    assert facts(read(text, "Ana", said_at=SAID)) == []


@pytest.mark.parametrize(
    ("speaker", "text", "wanted"),
    [
        (
            "Ops log",
            "Pump 3 tripped at 02:10. Restarted by Kim.",
            ["Pump 3 has tripped", "Pump 3 restarted by Kim"],
        ),
        ("Sales notes", "Left voicemail, will try again next week.", []),
        ("Ana", "Sold the tandem.", ["Ana sold tandem"]),
    ],
)
def test_a_desk_is_nobody(speaker: str, text: str, wanted: list[str]) -> None:
    """A note that nobody signs speaks of what it named, and never of the log that it stands in."""
    assert facts(read(text, speaker, said_at=SAID)) == wanted


# Who is meant ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Olga is a pilot. She lives in Riga.", "Olga lives in Riga"),
        ("Olga called. Her brother Anton is a chef.", "Olga's brother is Anton"),
        ("My boss Helga is from Linz, and her husband Otto is a baker.", "Helga's husband is Otto"),
        ("Your sister lives in Oslo.", "Tom's sister lives in Oslo"),
        ("You are my best friend.", "Tom is Ana's best friend"),
    ],
)
def test_pronouns_mean_whom_the_message_spoke_of(text: str, wanted: str) -> None:
    """He, she, her, you and my are resolved within the message and by who speaks to whom."""
    assert wanted in facts(read(text, "Ana", "Tom", SAID))


def test_nobody_is_addressed() -> None:
    """Without somebody spoken to, "you" is nobody and makes no fact."""
    assert facts(read("Your sister lives in Oslo.", "Ana", "", SAID)) == []


def test_the_bound_user_is_i() -> None:
    """In a scope, "I" means its user, whatever the speaker is called, and "I" may be asked for."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        ana = memory.scoped(user="ana")
        ana.remember("I live in Porto.", speaker="user")

        assert [n.content for n in ana.list("Fact").items] == ["ana lives in Porto"]
        assert ana.recall("Where do I live?").answer == "Porto"


def test_an_assistant_states_nothing() -> None:
    """What the assistant says is no evidence about the world."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        memory.remember("Rosa lives in Lisbon.", speaker="assistant")

        assert memory.list("Fact").items == ()


# Whether and when it holds ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("I don't eat pork.", "Ana does not eat pork"),
        ("Milo doesn't like mushrooms.", "Milo does not like mushrooms"),
        ("Ravi never drinks alcohol.", "Ravi does not drink alcohol"),
        ("Elif is not allergic to nuts.", "Elif is not allergic to nuts"),
        ("Elif isn't married.", "Elif is not married"),
    ],
)
def test_denials_are_negative(text: str, reads: str) -> None:
    """What is denied is read as denied, and reads so."""
    claim = the_claim(text)

    assert claim.negated
    assert sentence(claim.subject, claim.predicate, claim.object) == reads


@pytest.mark.parametrize(
    ("text", "family", "value"),
    [
        ("I no longer work at Acme.", "works_at", "Acme"),
        ("I don't live in Porto anymore.", "lives_in", "Porto"),
        ("Elif left Acme in 2022.", "works_at", "Acme"),
        ("Elif moved out of Izmir.", "lives_in", "Izmir"),
        ("I used to live in Vienna.", "lives_in", "Vienna"),
    ],
)
def test_ends_are_ends(text: str, family: str, value: str) -> None:
    """ "No longer", "used to" and leaving say that something is over, of a family and a value."""
    claim = the_claim(text)
    over = claim.effect == "ends" or claim.key == f"was {family}"

    assert (over, claim.family, claim.object) == (True, family, value)


@pytest.mark.parametrize(
    ("text", "began", "precision"),
    [
        ("Piet moved to Leeds in 2021.", "2021-01-01", "year"),
        ("Clara joined Northwind in March.", "2024-03-01", "month"),
        ("I bought a kayak yesterday.", "2024-05-14", "day"),
        ("Elif left Acme in 2022.", "2022-01-01", "year"),
        ("We are moving to Tallinn in October.", "2024-10-01", "month"),
        ("Kasper will join Novo Labs in September.", "2024-09-01", "month"),
        ("Wanda has been vegan since 2019.", "2019-01-01", "year"),
        ("The launch is planned for 15 June.", "2024-06-15", "day"),
        ("I was born in 1988.", "1988-01-01", "year"),
        ("Our anniversary is 12 September.", "2024-09-12", "day"),
        ("Version 3.2 was released on 4 May.", "2024-05-04", "day"),
        ("I start at Larkfield on Monday.", "2024-05-20", "day"),
        ("I tore a ligament two weeks ago.", "2024-05-01", "week"),
        ("We have lived in Malmo for ten years.", "2014-01-01", "year"),
        ("We sold the canoe yesterday, my paddle is still there.", "2024-05-14", "day"),
    ],
)
def test_dates_follow_the_tense(text: str, began: str, precision: str) -> None:
    """A bare month or day lies in the past of what happened and in the future of what is to come."""
    claim = the_claim(text)

    assert claim.valid_from is not None
    assert to_datetime(claim.valid_from, 0).date().isoformat() == began
    assert claim.precision == precision


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("The lift is out of order this week.", ["2024-05-13 2024-05-20"]),
        ("The office is in the annex this month.", ["2024-05-01 2024-06-01"]),
        ("Ruben is working from home today.", ["2024-05-15 2024-05-16"]),
        ("I bought a kayak this week.", ["2024-05-13 –"]),
        ("We moved to Graz this month.", ["2024-05-01 –"]),
        ("The bridge is shut until 2027.", ["– 2028-01-01"]),
        ("The road is closed between 5 and 9 June.", ["2024-06-05 2024-06-10"]),
        ("Our holiday is from 4 to 18 July.", ["2024-07-04 2024-07-19"]),
        ("Ida is in Rome from 3 to 20 May.", ["2024-05-03 2024-05-21"]),
        ("I have lunch with Rik on Friday at 3pm.", ["2024-05-17 –"]),
        ("I worked at Alpha until 2020, then at Beta.", ["– 2021-01-01", "2020-01-01 –"]),
        ("I drove a Fiat until 2018, and then a Skoda.", ["– 2019-01-01", "2018-01-01 –"]),
        ("Our supplier was Hansa until March, then Borg.", ["– 2024-04-01", "2024-03-01 –"]),
    ],
)
def test_how_long_something_holds(text: str, held: list[str]) -> None:
    """What is told of a stretch of time holds so long, and what came "then" holds from its end."""
    claims = read(text, "Ana", said_at=SAID).claims

    ends = [(show(at)[:10] if at is not None else "–") for c in claims for at in (c.valid_from, c.valid_to)]
    assert [" ".join(pair) for pair in zip(ends[::2], ends[1::2], strict=True)] == held


@pytest.mark.parametrize(
    ("text", "family", "holds"),
    [
        ("I live in Porto.", "lives_in", "one"),
        ("Jonas Weber is my husband.", "married_to", "one"),
        ("Tom speaks Dutch.", "speaks", "many"),
        ("I'm allergic to walnuts.", "allergic_to", "many"),
        ("I weigh 71 kilos.", "weight", "series"),
        ("My shoes are size 42.", "", "one"),
    ],
)
def test_families_say_how_many_values_hold(text: str, family: str, holds: str) -> None:
    """What is read falls into a family, with as many values at a time as the family has."""
    claim = the_claim(text)

    assert (claim.family, claim.holds) == (family, holds)


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("My parents are Hans and Greta.", "has_parent"),
        ("My hobbies are chess and climbing.", "hobby"),
        ("Ida's best friends are Tom and Lisa.", "best_friend"),
        ("Our offices are in Berlin and Munich.", "be|where"),
        ("The organisers are Rosa and Tim.", "|be"),
        ("My favourite colours are green and blue.", "colour"),
        ("My dentists are Dr Ito and Dr Kaya.", "has_dentist"),
    ],
)
def test_a_list_behind_a_plural_is_several_values(text: str, slot: str) -> None:
    """What is said of several things at once holds of them beside each other, each in the slot of one of them."""
    claims = read(text, "Ana", said_at=SAID).claims

    assert [(claim.key, claim.holds) for claim in claims] == [(slot, "many")] * 2


@pytest.mark.parametrize(
    "text", ["I live in Porto and Lagos.", "My car is red and black.", "I work at Acme and Dart."]
)
def test_the_second_of_a_list_stands_beside_the_first(text: str) -> None:
    """Where one value holds at a time the first of a list may take the place of another, and the rest come on top."""
    first, second = read(text, "Ana", said_at=SAID).claims

    assert (first.holds, first.cue, second.cue) == ("one", "", "adds")


def test_what_cannot_change_is_fixed() -> None:
    """A birthplace is one that never changes; a home is not."""
    assert the_claim("Karim was born in Tunis.").fixed
    assert not the_claim("Karim lives in Tunis.").fixed


# Change, correction, place in the text ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Sorry, I meant 17:40.", "17:40"),
        ("*D12, sorry", "D12"),
        ("Oops, it's TP210, not TP120.", "TP210"),
        ("Error in my list: it was handed in by K. Brandt.", "K. Brandt"),
        ("I read the sign wrong, the ferry takes 1,020, my mistake.", "1,020"),
    ],
)
def test_a_bare_correction_carries_its_value(text: str, value: str) -> None:
    """A correction without a sentence keeps the value that may take the place of another."""
    reading = read(text, "Ana", said_at=SAID)

    assert reading.corrects
    assert value in reading.values or value in [c.object for c in reading.claims]


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("We switched from Jenkins to Drone.", "change"),
        ("Uninstalled Drone yesterday.", "ends"),
        ("Mila has flown the nest.", "ends"),
        ("The sale of the barn fell through.", "stays"),
        ("I bake for Bo alongside my job.", "adds"),
        ("Bo drives the van this weekend only.", "passing"),
        ("I also work at Globex.", "adds"),
        ("I still live in Porto.", "stays"),
        ("I'm staying in Graz for two weeks.", "passing"),
    ],
)
def test_signs_of_change(text: str, sign: str) -> None:
    """A message says whether it speaks of a change, of an addition, of the same, or of a while."""
    assert getattr(read(text, "Ana", said_at=SAID).cues, sign)


def test_questions_speak_of_no_change() -> None:
    """What is only asked or imagined is no sign of change."""
    for text in ("Did you quit your job?", "What if we switched to Drone?"):
        assert not read(text, "Ana", said_at=SAID).cues.change


def test_spans_are_where_the_words_stand() -> None:
    """The characters of a claim hold its object, also behind other sentences and lines."""
    text = "Good news!\n- My sister Rosa lives in Lisbon. Tom works at Bosch; Edda has asthma."
    claims = read(text, "Ana", said_at=SAID).claims

    assert len(claims) == 4
    for claim in claims:
        begin, end = claim.chars
        assert claim.object in text[begin:end]


def test_curly_quotes_and_hard_spaces_read_alike() -> None:
    """Typographic apostrophes and spaces change nothing, and spans stay in place."""
    plain, curly = "I don't eat pork.", "I don’t eat\u00a0pork."

    assert read(plain, "Ana", said_at=SAID).claims == read(curly, "Ana", said_at=SAID).claims


def test_text_beyond_the_limit_is_not_read() -> None:
    """Only the first characters of a very long message are read."""
    filler = "Nothing to see here. " * (MAX_TEXT // 21 + 1)

    assert "Ana lives in Porto" in facts(read(f"I live in Porto. {filler}", "Ana", said_at=SAID))
    assert "Ana lives in Porto" not in facts(read(f"{filler} I live in Porto.", "Ana", said_at=SAID))


def test_facts_read_as_sentences() -> None:
    """A phrase stands between, behind an owner, or has two gaps; its label is its name."""
    assert sentence("Ana", "lives in", "Rome") == "Ana lives in Rome"
    assert sentence("Ana", "'s sister is", "Rosa") == "Ana's sister is Rosa"
    assert sentence("bakery", "{O} runs {S}", "Dora") == "Dora runs bakery"
    assert [label(p) for p in ("lives in", "'s sister is", "{O} runs {S}")] == ["lives in", "sister", "runs"]


def test_a_reading_is_kept_without_what_it_does_not_say():
    """What a message leaves open takes no room, and what was written in full before is read the same."""
    said = read("I moved to Porto last week.", "Ana", said_at=datetime(2026, 3, 5, tzinfo=UTC))
    packed = ENCODER.encode(said)
    assert DECODER.decode(packed) == said
    in_full = msgspec.structs.asdict(said) | {
        "claims": [msgspec.structs.asdict(claim) for claim in said.claims],
        "cues": msgspec.structs.asdict(said.cues),
    }
    assert DECODER.decode(msgspec.msgpack.encode(in_full)) == said
    assert len(packed) < 0.75 * len(msgspec.msgpack.encode(in_full))


def test_what_is_over_in_one_clause_goes_on_in_the_other() -> None:
    """ "No longer" belongs to its own verb, a colour to its thing, and "team lead" is one role."""
    told = [
        "I eat fish again, so I'm no longer strictly vegetarian.",
        "I drive a grey Skoda Octavia.",
        "My team lead is Tom.",
    ]
    assert [facts(read(text, "Ana", said_at=SAID)) for text in told] == [
        ["Ana eats fish", "Ana is no longer vegetarian"],
        ["Ana drives grey Skoda Octavia"],
        ["Ana's team lead is Tom"],
    ]


def test_code_that_is_shown_states_nothing() -> None:
    """What stands between fences is nobody's talk; what is said around it is."""
    text = "I use Flask.\n```css\nmargin: 0\nimage: project2.jpg\n```\nI live in Porto."
    assert facts(read(text, "Ana", said_at=SAID)) == ["Ana uses Flask", "Ana lives in Porto"]
    assert facts(read("```\nname: 'Ana'\nport: 8080", "Ana", said_at=SAID)) == []
