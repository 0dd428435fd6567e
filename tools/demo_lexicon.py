"""The words of the demo's grammar: English, and what German needs to know to inflect its own."""

# English singular and plural; German gender, singular, plural; a fourth German form where the singular
# has another one in accusative and dative.
PERSONS = """
man men m Mann Männer|woman women f Frau Frauen|child children n Kind Kinder|boy boys m Junge Jungen Jungen
girl girls n Mädchen Mädchen|teacher teachers m Lehrer Lehrer|doctor doctors m Arzt Ärzte|friend friends m Freund Freunde
nurse nurses f Krankenschwester Krankenschwestern|gardener gardeners m Gärtner Gärtner|sister sisters f Schwester Schwestern
brother brothers m Bruder Brüder|mother mothers f Mutter Mütter|father fathers m Vater Väter|son sons m Sohn Söhne
daughter daughters f Tochter Töchter|aunt aunts f Tante Tanten|uncle uncles m Onkel Onkel|king kings m König Könige
queen queens f Königin Königinnen|baker bakers m Bäcker Bäcker|singer singers f Sängerin Sängerinnen
painter painters m Maler Maler|guest guests m Gast Gäste|thief thieves m Dieb Diebe|judge judges m Richter Richter
cook cooks m Koch Köche|baby babies n Baby Babys|lady ladies f Dame Damen|driver drivers m Fahrer Fahrer
"""
ANIMALS = """
dog dogs m Hund Hunde|cat cats f Katze Katzen|horse horses n Pferd Pferde|cow cows f Kuh Kühe|pig pigs n Schwein Schweine
bird birds m Vogel Vögel|mouse mice f Maus Mäuse|goat goats f Ziege Ziegen|duck ducks f Ente Enten|wolf wolves m Wolf Wölfe
fox foxes m Fuchs Füchse|tiger tigers m Tiger Tiger|frog frogs m Frosch Frösche
"""
THINGS = """
book books n Buch Bücher|letter letters m Brief Briefe|car cars n Auto Autos|table tables m Tisch Tische
chair chairs m Stuhl Stühle|lamp lamps f Lampe Lampen|door doors f Tür Türen|window windows n Fenster Fenster
picture pictures n Bild Bilder|bottle bottles f Flasche Flaschen|glass glasses n Glas Gläser|cup cups f Tasse Tassen
plate plates m Teller Teller|knife knives n Messer Messer|spoon spoons m Löffel Löffel|fork forks f Gabel Gabeln
coat coats m Mantel Mäntel|hat hats m Hut Hüte|shirt shirts n Hemd Hemden|shoe shoes m Schuh Schuhe
key keys m Schlüssel Schlüssel|bag bags f Tasche Taschen|box boxes f Kiste Kisten|ring rings m Ring Ringe
flower flowers f Blume Blumen|tree trees m Baum Bäume|apple apples m Apfel Äpfel|egg eggs n Ei Eier
cake cakes m Kuchen Kuchen|newspaper newspapers f Zeitung Zeitungen|ticket tickets f Fahrkarte Fahrkarten
map maps f Landkarte Landkarten|clock clocks f Uhr Uhren|ball balls m Ball Bälle|boat boats n Boot Boote
bicycle bicycles n Fahrrad Fahrräder|train trains m Zug Züge|basket baskets m Korb Körbe|stone stones m Stein Steine
coin coins f Münze Münzen|song songs n Lied Lieder
"""
PLACES = """
garden gardens m Garten Gärten|street streets f Straße Straßen|bridge bridges f Brücke Brücken|church churches f Kirche Kirchen
school schools f Schule Schulen|market markets m Markt Märkte|forest forests m Wald Wälder|river rivers m Fluss Flüsse
kitchen kitchens f Küche Küchen|station stations m Bahnhof Bahnhöfe|hotel hotels n Hotel Hotels|house houses n Haus Häuser
museum museums n Museum Museen|wall walls f Mauer Mauern|tower towers m Turm Türme|castle castles n Schloss Schlösser
village villages n Dorf Dörfer|hill hills m Hügel Hügel
"""
# English; German as a predicate; German stem before an ending.
ADJECTIVES = """
old alt alt|young jung jung|big groß groß|small klein klein|new neu neu|beautiful schön schön|red rot rot|green grün grün
blue blau blau|white weiß weiß|black schwarz schwarz|brown braun braun|yellow gelb gelb|strong stark stark|poor arm arm
rich reich reich|tired müde müd|happy glücklich glücklich|sad traurig traurig|heavy schwer schwer|cheap billig billig
expensive teuer teur|clean sauber sauber|dirty schmutzig schmutzig|strange seltsam seltsam|famous berühmt berühmt
friendly freundlich freundlich|quiet ruhig ruhig|clever klug klug|lazy faul faul|round rund rund|soft weich weich
warm warm warm|cold kalt kalt|long lang lang|short kurz kurz|thin dünn dünn|dark dunkel dunkl
"""
# English base, third person, participle; German infinitive, ich, er, participle; then options: a case of the
# object other than accusative (dat), the auxiliary of the perfect (sein), a prefix that parts (ein-), what
# the object may be (p: persons only).
TRANSITIVE = """
see sees seen sehen sehe sieht gesehen|hear hears heard hören höre hört gehört|find finds found finden finde findet gefunden
buy buys bought kaufen kaufe kauft gekauft|sell sells sold verkaufen verkaufe verkauft verkauft
paint paints painted malen male malt gemalt|carry carries carried tragen trage trägt getragen
wash washes washed waschen wasche wäscht gewaschen|love loves loved lieben liebe liebt geliebt
know knows known kennen kenne kennt gekannt|forget forgets forgotten vergessen vergesse vergisst vergessen
lose loses lost verlieren verliere verliert verloren|take takes taken nehmen nehme nimmt genommen
need needs needed brauchen brauche braucht gebraucht|repair repairs repaired reparieren repariere repariert repariert
draw draws drawn zeichnen zeichne zeichnet gezeichnet|watch watches watched beobachten beobachte beobachtet beobachtet
steal steals stolen stehlen stehle stiehlt gestohlen|hide hides hidden verstecken verstecke versteckt versteckt
throw throws thrown werfen werfe wirft geworfen|catch catches caught fangen fange fängt gefangen
bring brings brought bringen bringe bringt gebracht|hold holds held halten halte hält gehalten
describe describes described beschreiben beschreibe beschreibt beschrieben|push pushes pushed schieben schiebe schiebt geschoben
pull pulls pulled ziehen ziehe zieht gezogen|visit visits visited besuchen besuche besucht besucht p
greet greets greeted grüßen grüße grüßt gegrüßt p|help helps helped helfen helfe hilft geholfen dat p
thank thanks thanked danken danke dankt gedankt dat p|trust trusts trusted vertrauen vertraue vertraut vertraut dat p
follow follows followed folgen folge folgt gefolgt dat sein p|invite invites invited einladen lade lädt eingeladen ein- p
call calls called anrufen rufe ruft angerufen an- p|collect collects collected einsammeln sammle sammelt eingesammelt ein-
"""
DITRANSITIVE = """
give gives given geben gebe gibt gegeben|show shows shown zeigen zeige zeigt gezeigt
send sends sent schicken schicke schickt geschickt|lend lends lent leihen leihe leiht geliehen
"""
INTRANSITIVE = """
sleep sleeps slept schlafen schlafe schläft geschlafen|work works worked arbeiten arbeite arbeitet gearbeitet
dance dances danced tanzen tanze tanzt getanzt|wait waits waited warten warte wartet gewartet
laugh laughs laughed lachen lache lacht gelacht|sit sits sat sitzen sitze sitzt gesessen
stand stands stood stehen stehe steht gestanden|live lives lived wohnen wohne wohnt gewohnt
play plays played spielen spiele spielt gespielt|dream dreams dreamed träumen träume träumt geträumt
"""
# Verbs that take a clause with "that".
SPEECH = """
say says said sagen sage sagt gesagt|think thinks thought denken denke denkt gedacht
believe believes believed glauben glaube glaubt geglaubt|hope hopes hoped hoffen hoffe hofft gehofft
"""
# English for third person and for others; German infinitive, ich, er.
MODALS = """
can can können kann kann|must must müssen muss muss|should should sollen soll soll|may may dürfen darf darf
will will werden werde wird
"""
CONJUNCTIONS = "because weil|when wenn|although obwohl|while während|if falls|before bevor"
ADVERBS = "often oft|always immer|never nie|sometimes manchmal|rarely selten"
TIMES = ("today=heute|now=jetzt|at night=nachts|in summer=im Sommer|in winter=im Winter|in the evening=am Abend|"
         "in the morning=am Morgen|every day=jeden Tag|on Monday=am Montag|on Tuesday=am Dienstag|"
         "on Wednesday=am Mittwoch|on Thursday=am Donnerstag|on Friday=am Freitag|on Saturday=am Samstag|"
         "on Sunday=am Sonntag")
PLACE_PREPOSITIONS = "in=in|behind=hinter|in front of=vor|next to=neben|under=unter"
OTHER_PREPOSITIONS = "with=mit=dat|for=für=acc|without=ohne=acc"
# English; German stem; endings of the following adjective; numbers of the noun it may stand with.
DETERMINERS = """
the d weak sp|this dies weak s|these dies weak p|every jed weak s|all all weak p|a ein mixed s|my mein mixed sp
his sein mixed sp|her ihr mixed sp|our unser mixed sp|their ihr mixed sp|no kein mixed sp|some einig strong p|many viel strong p
"""
# English as subject and object; German in nominative, accusative and dative; person and number.
PRONOUNS = "I me ich mich mir 1s|he him er ihn ihm 3s|we us wir uns uns p|they them sie sie ihnen p"

UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " \
        "eighteen nineteen".split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
EINER = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn " \
        "achtzehn neunzehn".split()
ZEHNER = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def rows(table):
    """The entries of a table above, each a list of its fields."""
    entries = table.replace("\n", "|").split("|")
    return [entry.split("=") if "=" in entry else entry.split() for entry in entries if entry]


class Noun:
    def __init__(self, fields, person):
        self.singular, self.plural, self.gender, self.de_singular, self.de_plural = fields[:5]
        self.de_oblique = fields[5] if len(fields) > 5 else self.de_singular
        self.person = person

    def german(self, plural, case):
        if not plural:
            return self.de_singular if case == "nom" else self.de_oblique
        needs_n = case == "dat" and self.de_plural[-1] not in "ns"
        return self.de_plural + ("n" if needs_n else "")


class Verb:
    def __init__(self, fields):
        self.base, self.third, self.participle, self.infinitive, self.ich, self.er, self.partizip = fields[:7]
        options = fields[7:]
        self.case = "dat" if "dat" in options else "acc"
        self.auxiliary = "sein" if "sein" in options else "haben"
        self.prefix = next((option[:-1] for option in options if option.endswith("-")), "")
        self.persons_only = "p" in options

    def english(self, person):
        return self.third if person == "3s" else self.base

    def german(self, person):
        """The finite form without its prefix."""
        plural = self.infinitive[len(self.prefix):]
        return {"1s": self.ich, "3s": self.er, "p": plural}[person]


def english_number(number):
    if number < 20:
        return UNITS[number]
    return TENS[number // 10] + ("-" + UNITS[number % 10] if number % 10 else "")


def german_number(number):
    if number < 20:
        return EINER[number]
    return (EINER[number % 10] + "und" if number % 10 else "") + ZEHNER[number // 10]
