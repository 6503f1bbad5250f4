// The field by which the map goes to a town.

import { el } from "./dom.js";
import { locate, towns } from "./places.js";
import { language, onLanguage, t } from "./text.js";

/** A zoom at which a town's centre is seen, and a search of some 500 m fits in. */
const ZOOM = 15;

/** `onJump({center, zoom})` is called with where to go. */
export function startJump(onJump) {
  const form = document.getElementById("jump");
  const field = form.elements.town;

  const names = () => {
    const options = towns.map((town) => el("option", { value: town[language()] }));
    document.getElementById("towns").replaceChildren(...options);
  };
  onLanguage(names);
  names();

  const go = () => {
    const found = locate(field.value);
    if (!found) return;
    field.value = "";
    field.blur();
    onJump({ center: { latitude: found.latitude, longitude: found.longitude }, zoom: ZOOM });
  };
  field.addEventListener("input", (event) => {
    field.setCustomValidity("");
    // A name that was chosen from the list is no typing: there is nothing left to do for who chose it.
    if (event.inputType === undefined || event.inputType === "insertReplacementText") go();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() === "") return;
    if (locate(field.value)) return go();
    field.setCustomValidity(t("jump.unknown"));
    field.reportValidity();
  });
}
