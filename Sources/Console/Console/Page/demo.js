// The panel of a demo: switches for faults, each with its visible effects and where to find them. Other consoles have none.

import { getConfig, getDemo, setDemo, clearDemo } from "./api.js";
import { el, icon, setAttribute, setText, syncChildren } from "./dom.js";
import { number, t, withStorage } from "./text.js";

/** How often the state of the switches is read: another window may have changed them. */
const BETWEEN_LOOKS = 2000;
/** The links of each control: addresses and the names of their texts. */
const LOOKS = {
  traffic: [["traffic#rate-heading", "rate"]],
  flood: [["traffic#fleet-heading", "fleet"], ["./#provider=hotpepper&go", "demo.look.hotpepper"]],
  "slow-provider": [["traffic#latency-heading", "latency"], ["./#provider=hotpepper&go", "demo.look.hotpepper"]],
  "failing-provider": [["traffic#workers-heading", "workers"], ["./#provider=hotpepper&go", "demo.look.hotpepper"]],
  "refused-key": [["traffic#workers-heading", "workers"], ["./#category=hospital&radius=1000&go", "demo.look.hospital"]],
  "used-up-quota": [["traffic#workers-heading", "workers"], ["./#category=hospital&radius=1000&go", "demo.look.hospital"]],
  "broker-away": [["traffic#fleet-heading", "fleet"], ["./#go", "demo.look.search"]],
  "worker-killed": [["traffic#workers-heading", "workers"], ["traffic#fleet-heading", "fleet"]],
};
/** Controls that are a button: `demo.NAME.do` is its text, `demo.NAME.undo` its text while the control is on. */
const BUTTONS = new Set(["flood", "worker-killed"]);
const KEPT = "demo";

const isNarrow = matchMedia("(max-width: 999px)");

class DemoPanel {
  #controls = [];
  #problem;
  #open = el("button", { type: "button", class: "demo-open", "aria-controls": "demo", "aria-expanded": "false", onclick: () => this.#toggle() }, icon("bolt"), el("span", {}), el("strong", {}));
  #title = el("h2", { id: "demo-title", tabindex: "-1" }, t("demo.title"));
  #note = el("p", { class: "demo-note", role: "alert", hidden: true });
  #list = el("ul", { class: "demo-controls" });
  #clear = el("button", { type: "button", class: "small", onclick: () => this.#do(this.#clear, clearDemo) }, t("demo.clear"));
  #panel = el("aside", { class: "demo", id: "demo", "aria-labelledby": "demo-title", hidden: true },
    el("div", { class: "demo-head" }, this.#title, el("button", { type: "button", class: "close", "aria-label": t("close"), onclick: () => this.#show(false) }, icon("close"))),
    el("div", { class: "demo-body", tabindex: "0", role: "group", "aria-labelledby": "demo-title" }, el("p", { class: "demo-about" }, t("demo.about")), this.#note, this.#list, this.#clear));

  constructor() {
    document.querySelector(".switches").before(this.#open);
    document.querySelector(".head").after(this.#panel);
    this.#panel.addEventListener("keydown", (event) => event.key === "Escape" && this.#show(false));

    this.#draw();
    if (withStorage(() => sessionStorage.getItem(KEPT)) && !isNarrow.matches) this.#show(true, { takesFocus: false });
    this.#look();
  }

  async #look() {
    if (!document.hidden) {
      try {
        this.#take(await getDemo());
      } catch {
        // The page's header reports that the console is unreachable, and the next read follows soon.
      }
    }
    setTimeout(() => this.#look(), BETWEEN_LOOKS);
  }

  /** Runs an action of the demo, with `element` marked as busy until it has ended. */
  async #do(element, action) {
    if (element.ariaBusy === "true") return;
    element.ariaBusy = "true";
    this.#problem = undefined;
    try {
      this.#take(await action());
    } catch (error) {
      this.#problem = error;
    }
    element.ariaBusy = "false";
    this.#draw();
  }

  #take({ controls }) {
    this.#controls = controls;
    this.#draw();
  }

  #toggle() {
    this.#show(this.#panel.hidden);
  }

  #show(isShown, { takesFocus = true } = {}) {
    this.#panel.hidden = !isShown;
    this.#open.setAttribute("aria-expanded", String(isShown));
    document.body.classList.toggle("shows-demo", isShown);
    // Without storage, the panel is closed again on the next page.
    withStorage(() => (isShown ? sessionStorage.setItem(KEPT, "open") : sessionStorage.removeItem(KEPT)));
    if (takesFocus) (isShown ? this.#title : this.#open).focus();
  }

  #draw() {
    const faults = this.#controls.filter(({ isFault, isOn }) => isFault && isOn).length;
    const [, name, count] = this.#open.children;
    setText(name, faults > 0 ? t("demo.faults", { count: number(faults) }) : t("demo"));
    setText(count, faults > 0 ? number(faults) : "");
    setAttribute(this.#open, "aria-label", name.textContent);
    this.#open.classList.toggle("has-faults", faults > 0);
    setAttribute(this.#clear, "aria-disabled", String(faults === 0));
    this.#note.hidden = !this.#problem;
    if (this.#problem) setText(this.#note, t("demo.failed", { reason: this.#problem.message || t(`code.${this.#problem.code}`) }));

    syncChildren(this.#list, {
      items: this.#controls, key: ({ name }) => name, make: (control) => this.#make(control),
      update: (item, control) => this.#update(item, control),
    });
  }

  #make({ name }) {
    const [id, see] = [`demo-${name}`, `demo-${name}-see`];
    const isButton = BUTTONS.has(name);
    const control = isButton
      ? el("button", { type: "button", class: "small", id, "aria-describedby": see })
      : el("input", { type: "checkbox", role: "switch", id, "aria-describedby": see });
    control.addEventListener("click", (event) => {
      event.preventDefault();
      this.#do(control, () => setDemo(name, !this.#controls.find((each) => each.name === name).isOn));
    });
    return el("li", { class: "demo-control" },
      el(isButton ? "span" : "label", { class: "demo-name", for: !isButton && id }, t(`demo.${name}`)), control, el("p", { class: "demo-see", id: see }, t(`demo.${name}.see`)),
      el("p", { class: "demo-looks" }, ...LOOKS[name].map(([address, text]) => el("a", { href: address, onclick: () => isNarrow.matches && this.#show(false) }, t(text)))));
  }

  #update(item, { name, isOn, isFault }) {
    const control = item.children[1];
    item.classList.toggle("is-on", isOn);
    item.classList.toggle("is-fault", isFault);
    if (BUTTONS.has(name)) setText(control, t(`demo.${name}.${isOn ? "undo" : "do"}`));
    // Must run after the click's default action, which resets the box.
    else setTimeout(() => (control.checked = isOn));
  }
}

// If the console does not answer now, the page itself retries, and is then loaded again.
const config = await getConfig().catch(() => ({}));
if (config.isDemo) new DemoPanel();
