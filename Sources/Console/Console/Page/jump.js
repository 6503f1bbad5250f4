// The field that moves the map to a town.

import { el } from "./dom.js";
import { locate, towns } from "./places.js";
import { language, onLanguage, t } from "./text.js";

/** A zoom that shows a town's centre, with room for a search of some 500 m. */
const ZOOM = 15;

/** `onJump({center, zoom})` is called with the target. */
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
    // A name selected from the list needs no further confirmation.
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
