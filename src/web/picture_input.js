// A place that takes a picture: dropped, pasted while it shows, or chosen; and lets it go again.
const kKinds = ["image/png", "image/jpeg"];

export class PictureInput {
  // Inside `place`: an input of files, an img, an element of class "hint" and a button, which takes the picture away. `changed` is called with each new picture.
  constructor(place, changed) {
    Object.assign(this, {place, changed, picture: null, reader: null});  // a data URL
    const input = place.querySelector("input");
    this.kinds = place.querySelector(".hint").textContent;
    this.button = place.querySelector("button");
    this.button.addEventListener("click", () => { this.place.querySelector(".hint").textContent = this.kinds; this.set(null); input.focus(); });
    input.accept = kKinds.join();
    input.addEventListener("change", () => { this.open(input.files); input.value = ""; });
    for (const name of ["dragenter", "dragover"]) place.addEventListener(name, event => { event.preventDefault(); place.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) place.addEventListener(name, () => place.classList.remove("over"));
    place.addEventListener("drop", event => { event.preventDefault(); this.open(event.dataTransfer.files); });
    addEventListener("paste", event => { if (place.offsetParent !== null && event.clipboardData.files.length) this.open(event.clipboardData.files); });
  }

  open(files) {
    const file = [...files].find(each => kKinds.includes(each.type)), hint = this.place.querySelector(".hint");
    hint.textContent = file ? file.name : "That is no PNG or JPEG picture.";
    if (!file) return this.set(null);
    const reader = this.reader = new FileReader();
    reader.addEventListener("load", () => { if (this.reader === reader) this.set(reader.result); });  // no newer file was chosen
    reader.readAsDataURL(file);
  }

  set(picture) {
    this.reader = null;
    this.picture = picture;
    const image = this.place.querySelector("img");
    image.hidden = this.button.hidden = picture === null;
    if (picture === null) image.removeAttribute("src"); else image.src = picture;
    this.changed();
  }
}
