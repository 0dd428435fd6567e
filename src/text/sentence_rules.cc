#include "text/sentence_rules.h"

#include <unicode/locid.h>
#include <unicode/udata.h>
#include <unicode/unistr.h>
#include <unicode/ures.h>

#include <algorithm>
#include <map>

#include "text/ascii.h"

namespace attend {
namespace {

// Words divided by spaces.
struct RuleText {
  const char *titles, *numbered, *endings, *starters, *months;
  bool ordinals;
  const char* counted = "";
};

// Of every language.
constexpr RuleText kCommon = {
    "Mr Mrs Ms Mx Dr Prof St vs Mme Mlle Gen Col Capt Lt Sgt Maj Cmdr Adm Rev Hon cf viz ca Messrs "
    "prof dr st Drs",
    "No Nos nr no vol fig p pp art ch sec eq tab ed kl str tel",
    "Inc Ltd Corp Co Bros Jr Sr etc al Ph.D M.D",
    "",
    "",
    false};

struct LanguageText {
  const char* code;
  RuleText text;
};

struct LanguageWords {
  const char *code, *words;
};

constexpr LanguageText kLanguages[] = {
    {"en",
     {"Sen Rep Gov Pres Fr Ven Amb Supt Det Insp Hr Mt Ft Cpl Pvt Pfc Brig Cdr Esq e.g i.e "
      "approx "
      "est incl resp Asst Assoc Dept Natl Mfg Atty Intl Univ Ave Blvd Rd",
      "Nos Fig Figs Sec Sect Apt Ste Bldg Rm Ch Chap Vol pp Eq Eqs Ref Refs Art Arts Par para pt "
      "Pt Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec app App ver v c ft in",
      "Inc Ltd Corp Co Bros Jr Sr etc al a.m p.m A.M P.M Ph.D M.D B.A M.A LLC Ave Blvd Rd "
      "lbs dept U.S U.K Govt Mgr Calif Ariz Colo Conn Fla Ga Ill Ind Kans Ky Mich Minn Nebr "
      "Nev Okla Ore Pa Tenn Tex Va Vt Wis Wyo",
      "The A An He She It We They You I This That These Those There Then But And So In On At As "
      "If When While Where What Who Why How His Her Its Our Their My Your After Before However "
      "For From With Now No Not Yes One Some Many Most All Both Each It's He's She's They're "
      "We're I'm I've I'll Let Please Did Do Does Is Are Was Were Can Could Would Will Should "
      "Since Although Because By To Or Nobody Everyone Nothing Still Also Later Today Yesterday",
      "January February March April May June July August September October November December",
      false}},
    {"de",
     {"Dipl.-Ing Dr.-Ing Dipl.-Kfm Hr Fr Frau Hrn Frl Dipl Ing Mag z.B d.h u.a z.T u.U i.d.R o.ä "
      "s.o s.u v.a bzw ggf evtl "
      "inkl exkl zzgl gem lt sog vgl z d u Mio Mrd Tsd ca ing phil med jur rer nat habil hl Hl "
      "geb verh gest Ges St Sankt resp einschl Stud allg insb insbes bes näml dt engl frz österr "
      "vorm nachm zB dh ehem i Jh jhd röm o.g bzgl Fam Fa Gebr",
      "Nr Nrn Abb Bd Bde S Kap Abs Art Tab Anm Ziff Aufl Tel Str Hrsg Jg Lfg Pos Bl Rdnr Rn vgl",
      "usw etc Co Str Jh v.Chr n.Chr Chr Std Min Sek Uhr u.a Bhf Hbf Abt",
      "Der Die Das Ein Eine Einer Er Sie Es Wir Ich Ihr Du Man In Im Am An Auf Bei Mit Nach Und "
      "Aber Doch Dann Danach Auch Wenn Als Dies Diese Dieser Dieses Dort Da Hier Heute Morgen "
      "Gestern So Nun Jetzt Sein Seine Mein Meine Unser Unsere Den Dem Des Von Vor Zu Zum Zur "
      "Aus Für Über Unter Durch Nur Was Wer Wie Wo Warum Später Kein Keine Alle Viele Jeder Ob "
      "Um Bis Seit Ohne Gegen Weil Obwohl Während Trotzdem Deshalb Ja Nein Bitte Beide Manche "
      "Einige",
      "Januar Februar März April Mai Juni Juli August September Oktober November Dezember Jänner",
      true,
      "Platz Rang Kapitel Teil Seite Nummer Band Zimmer Raum Saal Halle Gleis Linie Artikel Punkt "
      "Schritt Stufe Version Phase Gruppe Tabelle Abbildung Folge Staffel Lektion Anlage"}},
    {"fr",
     {"M MM Me Mgr Pr Ste Sts Vve p.ex c.-à-d cad env av apr J.-C bd boul adj dir éd hab tél ex "
      "resp chap cf MMes Mmes Mlles Gal Cdt Cne Cel Adj Lieut",
      "n no nº p pp fig vol chap art t tome éd ch § al ill pl", "etc Cie J.-C s.v.p S.A",
      "Le La Les L'Un Un Une Des Il Elle Ils Elles On Je Tu Nous Vous Ce Cette Ces Cet C'est "
      "Mais "
      "Et Puis Alors Dans En Au Aux Avec Pour Par Sur Si Quand Où Que Qui Son Sa Ses Leur Mon Ma "
      "Mes Notre Votre Après Avant Ensuite Depuis Ici Là Aujourd'hui Hier Demain Plus Tout Tous "
      "Comme Pourquoi Comment Selon Car Donc Cependant J'ai Aucun Chaque Merci",
      "", false}},
    {"es",
     {"Sr Sra Srta Sres Sras D Dª Dña Dra Dres Ud Uds Vd Vds Lic Ing Arq Excmo Ilmo p.ej ej EE "
      "a.C d.C aprox Avda Av Gral Cnel Cap Tte Sto Sta prof Profa Mons Hnos admón izq dcha Fdo",
      "núm núms n pág págs p pp fig vol cap art tel ed t c",
      "etc S.A S.L Cía EE.UU UU a.m p.m a.C d.C Ud Uds",
      "El La Los Las Lo Un Una Unos Él Ella Ellos Ellas Yo Tú Nosotros Usted Ustedes Esto Este "
      "Esta Eso Ese Esa Pero Y Entonces En Con Por Para Si Cuando Donde Que Qué Quién Cómo Su "
      "Sus "
      "Mi Mis Nuestro Después Antes Luego Hoy Ayer Mañana Ahora Aquí Allí Al Del De A No Sí Se "
      "Es "
      "Son Era Fue Hay Había Ha Más Todo Todos También Según Aunque Porque Cada Nadie Gracias",
      "", false}},
    {"pt",
     {"Sr Sra Srs Sras Srta Dra Drs Prof Profa Eng Arq Exmo Exma Ilmo D Av R Sto Sta p.ex "
      "ex aprox Gen Cel Cap Ten Pe Des Min Dep Sen V.Exa",
      "n núm nº pág págs p pp fig vol cap art tel ed t séc inc",
      "etc S.A Ltda Cia a.C d.C a.m p.m EUA",
      "O A Os As Um Uma Ele Ela Eles Elas Eu Tu Nós Você Vocês Isto Este Esta Isso Esse Essa Mas "
      "E "
      "Então Em No Na Nos Nas Com Por Para Se Quando Onde Que Quem Como Seu Sua Seus Meu Minha "
      "Depois Antes Hoje Ontem Amanhã Agora Aqui Ali Ao De Do Da Não Sim É São Era Foi Há Mais "
      "Todo Todos Também Segundo Embora Porque Cada Ninguém Obrigado",
      "", false}},
    {"it",
     {"sig avv ing Sig Sigg Sig.ra Sig.na Dott Dott.ssa Prof.ssa Ing Avv Arch Geom Rag On Egr "
      "Spett Gent "
      "p.es "
      "es S SS Mons Card Gen Col Cap Ten a.C d.C ca avv",
      "n nn num pag pagg p pp fig vol cap art tel sez", "ecc S.p.A S.r.l a.C d.C etc",
      "Il Lo La I Gli Le Un Una Uno Lui Lei Loro Egli Ella Essi Io Tu Noi Voi Questo Questa "
      "Quello "
      "Ma E Poi Allora In Con Per Se Quando Dove Che Chi Come Suo Sua Mio Dopo Prima Oggi Ieri "
      "Domani Ora Qui Nel Nella Al Del Della Di Da Non Sì È Sono Era Fu C'è Più Tutto Tutti "
      "Anche "
      "Secondo Perché Ogni Nessuno Grazie",
      "", false}},
    {"nl",
     {"dhr mevr mw drs ir ing mr bijv bv o.a d.w.z t.a.v m.b.t i.v.m a.u.b t.g.v z.g.n vgl "
      "resp incl excl ca jl zgn zog jhr jkvr ds prof",
      "nr nrs blz p pp fig afb art hfst tel jg dl", "enz etc N.V B.V v.Chr n.Chr",
      "De Het Een Hij Zij Ze Wij We Ik Jij Je U Dit Dat Deze Die Maar En Dan Toen Daar Hier In "
      "Op "
      "Met Voor Bij Van Als Wanneer Waar Wat Wie Hoe Zijn Haar Mijn Ons Onze Daarna Vandaag "
      "Gisteren Morgen Nu Er Niet Ja Nee Ook Volgens Omdat Elke Niemand Bedankt",
      "", false}},
    {"pl",
     {"p pan mgr inż dr prof hab gen płk kpt ks św bp abp im ul al pl os np tzn tzw tj m.in ds "
      "wg ok por red ob lek adw doc hr o",
      "nr s str rys tab t art ust rozdz poz tel pkt zob w", "itd itp r w godz n.e p.n.e in",
      "To Ten Ta On Ona Oni One My Wy Ja Ty Ale I A W Na Z Po Do Od Potem Wtedy Dziś Dzisiaj "
      "Wczoraj Jutro Teraz Tam Tu Jego Jej Ich Mój Moja Nasz Kiedy Gdy Gdzie Co Kto Jak Jeśli "
      "Nie Tak Jest Są Był Była Było Wszyscy Każdy Nikt Także Jednak Dlatego Według Ponieważ",
      "", true}},
    {"cs",
     {"p pí sl ing mgr bc mudr judr phdr rndr doc csc gen plk kpt por sv tzv tj např resp mj "
      "popř "
      "event cca zejm srov vl roz nar zemř t ul nám tř prof dr vč tis mil mld ThDr PaedDr MUDr "
      "JUDr PhDr RNDr MVDr MgA Bc CSc",
      "č čís str s obr tab sv kap odst čl tel př roč ř",
      "atd apod aj př.n.l n.l r o s.r.o a.s hod "
      "min Kč",
      "To Ten Ta On Ona Oni My Vy Já Ty Ale A V Na Z Po Do Od Pak Potom Dnes Včera Zítra Teď Tam "
      "Tady Jeho Její Jejich Můj Moje Náš Když Kde Co Kdo Jak Jestli Ne Ano Je Jsou Byl Byla "
      "Bylo "
      "Všichni Každý Nikdo Také Však Proto Podle Protože Tento Tato Toto",
      "", true}},
    {"fi",
     {"esim ks vrt nk ns toim tri prof dos maist huom ao em",
      "s ss nro n kpl art luku kuva taul puh", "jne ym yms tms jms eaa eKr jKr mrd milj klo mm",
      "Hän He Se Ne Minä Sinä Me Te Tämä Nämä Tuo Mutta Ja Jos Kun Kuitenkin Myös Sitten Nyt "
      "Siellä Täällä Mitä Kuka Miksi Miten Missä Ei Oli Ovat Kaikki Lisäksi Koska Vaikka",
      "", true}},
    {"hi", {"डॉ श्री पं प्रो सु कु मो", "नं", "", "", "", false}},
    {"ru",
     {"г-н г-жа гр им ул пр пл д наб пер просп проф акад доц инж т.е т.к т.н т.о напр см ср св о "
      "ок рис кн ген полк кап обл бул пос зам зав",
      "№ с стр рис табл гл п ст т тел кв корп ч",
      "т.д т.п др пр г гг в вв н.э руб коп тыс млн "
      "млрд кг м км мин сек час ул им",
      "Он Она Оно Они Мы Вы Я Ты Это Этот Эта Эти Тот Но И А В На С По До От Из Потом Затем "
      "Сегодня Вчера Завтра Теперь Там Здесь Его Её Их Мой Моя Наш Когда Где Что Кто Как Если Не "
      "Нет Да Был Была Было Были Все Каждый Никто Также Однако Поэтому Согласно Хотя Тогда",
      "", false}},
};

// Words of ICU's lists that often end sentences; small, for any case.
constexpr LanguageWords kCommonWords[] = {
    {"en",
     "act all alt as by cap card def diff do ed ex gb go hat hz id in is jam job joe kb lev "
     "link long mart mb no ok on or pro so to up"},
    {"de", "akt alt am art ben best chin gem port so test"},
    {"fr", "all cam jeu mart mer quart sam"},
    {"es", "all bien da em kit korn mar rol sol"},
    {"pt", "com dez mar set"},
};

void AddWords(std::string_view text, SentenceRules::Words* words) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words->emplace(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

// PIN, RAM: more often a word than an abbreviation.
bool IsAcronym(const icu::UnicodeString& word) {
  return word.indexOf(u'.') < 0 && icu::UnicodeString(word).toUpper("") == word;
}

// ICU's list of what no sentence ends in: "Abt.", "i.V.", "n. Chr.". Without it none are added.
void AddSuppressions(const char* code, SentenceRules::Words* words) {
  SentenceRules::Words common;
  for (const auto& [language, text] : kCommonWords) {
    if (std::string_view(language) == code) AddWords(text, &common);
  }
  UErrorCode status = U_ZERO_ERROR;
  const icu::LocalUResourceBundlePointer bundle(
      ures_openDirect(U_ICUDATA_NAME "-brkitr", code, &status));
  const icu::LocalUResourceBundlePointer exceptions(
      ures_getByKey(bundle.getAlias(), "exceptions", nullptr, &status));
  const icu::LocalUResourceBundlePointer list(
      ures_getByKey(exceptions.getAlias(), "SentenceBreak", nullptr, &status));
  const int32_t size = U_SUCCESS(status) ? ures_getSize(list.getAlias()) : 0;
  for (int32_t i = 0; i < size; ++i) {
    icu::UnicodeString word = icu::ures_getUnicodeStringByIndex(list.getAlias(), i, &status);
    word.remove(0, word.lastIndexOf(u' ') + 1);
    if (word.endsWith(u'.')) word.truncate(word.length() - 1);
    if (U_FAILURE(status) || word.countChar32() < 2 || IsAcronym(word)) continue;
    std::string text, lower;
    icu::UnicodeString(word).toLower("").toUTF8String(lower);
    if (!common.contains(lower)) words->insert(word.toUTF8String(text));
  }
}

void Add(const RuleText& text, SentenceRules* rules) {
  AddWords(text.titles, &rules->titles);
  AddWords(text.numbered, &rules->numbered);
  AddWords(text.endings, &rules->endings);
  AddWords(text.starters, &rules->starters);
  AddWords(text.months, &rules->months);
  AddWords(text.counted, &rules->counted);
  rules->ordinals = rules->ordinals || text.ordinals;
}

// Languages that write as one of the table does.
std::string_view Alike(std::string_view code) {
  static const std::map<std::string_view, std::string_view> alike = {
      {"sk", "cs"},  {"uk", "ru"},  {"be", "ru"},  {"bg", "ru"},  {"gl", "pt"},  {"ca", "es"},
      {"af", "nl"},  {"lb", "de"},  {"gsw", "de"}, {"", "en"},    {"deu", "de"}, {"eng", "en"},
      {"fra", "fr"}, {"spa", "es"}, {"por", "pt"}, {"ita", "it"}, {"nld", "nl"}, {"pol", "pl"},
      {"ces", "cs"}, {"slk", "cs"}, {"rus", "ru"}, {"ukr", "ru"}};
  const auto found = alike.find(code);
  return found == alike.end() ? code : found->second;
}

// Whose numbers with a period are ordinals, beside those of the table.
bool HasOrdinals(std::string_view code) {
  static const std::unordered_set<std::string_view> codes = {"da", "no", "nb",  "nn", "fi", "et",
                                                             "lv", "hu", "sl",  "hr", "sr", "bs",
                                                             "is", "tr", "hsb", "dsb"};
  return codes.contains(code);
}

std::map<std::string, SentenceRules, std::less<>> MakeAll() {
  std::map<std::string, SentenceRules, std::less<>> all;
  for (const auto& [code, text] : kLanguages) {
    Add(kCommon, &all[code]);
    Add(text, &all[code]);
    AddSuppressions(code, &all[code].suppressed);
  }
  Add(kCommon, &all["other"]);
  Add(kCommon, &all["ordinals"]);
  all["ordinals"].ordinals = true;
  return all;
}

}  // namespace

const SentenceRules& SentenceRulesOf(std::string_view language) {
  static const std::map<std::string, SentenceRules, std::less<>> all = MakeAll();
  const std::string tag = LowerCase(language.substr(0, language.find_first_of("-_@.")));
  const std::string_view code = Alike(tag);
  const auto found = all.find(code);
  if (found != all.end()) return found->second;
  return all.find(HasOrdinals(code) ? "ordinals" : "other")->second;
}

}  // namespace attend
