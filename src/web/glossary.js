// The reader's terms: what they must become in translations, kept where the browser allows it.
const kPause = 600;  // ms after the last key
const byId = id => document.getElementById(id);
const escaped = text => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

// "house = Haus": several lines of one source are alternatives; a line without = stays as it is.
function termsOf(text, endings) {
  const flags = ["ignore-case", ...(endings ? ["inflect-source", "inflect"] : [])].join(", ");
  return text.split("\n").filter(line => /[\p{L}\p{N}]/u.test(line.split("=")[0])).map(line => {
    const [source, ...rest] = line.split("="), target = rest.join("=").trim();
    return {source: source.trim(), target, flags: target ? flags : "ignore-case, keep"};
  });
}

// Places [begin, end] of words of a text in which a term's target stands, as the server finds it.
function placesOf(text, {source, target, flags}) {
  const ending = flags.includes("inflect") ? "[\\p{L}\\p{N}\\p{M}]{0,3}" : "";
  const wanted = target || source, first = escaped(wanted[0]), capital = escaped(wanted[0].toUpperCase());
  const word = `(?<![\\p{L}\\p{N}\\p{M}])(?:${first}|${capital})${escaped(wanted.slice(1))}${ending}(?![\\p{L}\\p{N}\\p{M}])`;
  return [...text.matchAll(new RegExp(word, target ? "gu" : "giu"))].map(({index, 0: found}) => [index, index + found.length]);
}

export class GlossaryField {
  // `changed` is called when the terms are others.
  constructor(changed) {
    const typed = byId("glossary-terms"), endings = byId("glossary-endings");
    typed.value = settings.get("glossary") ?? "";
    endings.checked = settings.get("glossary-endings") === "true";
    const later = pause => {
      settings.set("glossary", typed.value);
      settings.set("glossary-endings", String(endings.checked));
      this.asked();
      this.typing = setTimeout(changed, pause);
    };
    typed.addEventListener("input", () => later(kPause));
    endings.addEventListener("change", () => later(0));
  }

  // The terms as they stand are under way: nothing to tell of later.
  asked() { clearTimeout(this.typing); }

  get terms() { return termsOf(byId("glossary-terms").value, byId("glossary-endings").checked); }

  // Marks the words of kept terms, and says how many there are. `words`: the translation's white-space words.
  show(translation, words) {
    const chosen = translation?.sentences.map(({hypotheses, rank}) => hypotheses[rank]) ?? [];
    const [asked, kept] = ["terms", "terms_kept"].map(name => chosen.reduce((sum, each) => sum + (each[name] ?? 0), 0));
    byId("glossary-state").textContent = asked ? `${kept} of ${asked} kept` : "";
    if (!kept) return;
    let at = 0;
    const begins = words.map(({textContent: word}) => {
      const begin = translation.text.indexOf(word, at);
      at = begin + word.length;
      return [begin, at];
    });
    for (const [begin, end] of this.terms.flatMap(term => placesOf(translation.text, term)))
      words.forEach((word, i) => { if (begins[i][0] < end && begin < begins[i][1]) word.classList.add("term"); });
  }
}
