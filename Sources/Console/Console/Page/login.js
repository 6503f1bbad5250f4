// The form that asks for the console's token, which the console then keeps in a cookie that no script can read.

import { logIn } from "./api.js";
import { setText } from "./dom.js";
import { startPreferences } from "./preferences.js";
import { t } from "./text.js";

startPreferences();
const texts = { 401: "login.wrong", 403: "login.wrong", 429: "login.wait" };
const field = document.getElementById("token");

document.getElementById("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await logIn(field.value);
    // The form stands in the place of the page that was asked for, or has an address of its own.
    if (location.pathname === "/login") location.replace("/");
    else location.reload();
  } catch (error) {
    setText(document.getElementById("problem"), t(texts[error.status] ?? "login.failed"));
    field.select();
  }
});
field.focus();
