// The form for the console's token. The login is stored in a cookie that scripts cannot read.

import { logIn } from "./api.js";
import { setText } from "./dom.js";
import { t } from "./text.js";

const texts = { 401: "login.wrong", 403: "login.wrong", 429: "login.wait" };
const field = document.getElementById("token");

document.getElementById("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await logIn(field.value);
    // The form is shown instead of the requested page, or at its own address.
    if (location.pathname.endsWith("/login")) location.replace("./");
    else location.reload();
  } catch (error) {
    setText(document.getElementById("problem"), t(texts[error.status] ?? "login.failed"));
    field.select();
  }
});
field.focus();
