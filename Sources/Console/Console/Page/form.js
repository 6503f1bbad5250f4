// The search form. Its values belong to the page; the search itself is part of the server's state.

import { setAttribute, setText } from "./dom.js";
import { distance } from "./text.js";

/** The radii to choose from, in metres, including those that the providers support directly. */
const RADII = [100, 200, 300, 500, 800, 1000, 1500, 2000, 3000, 5000, 10_000];
const RADIUS_AT_START = 500;

const nearest = (meters) => RADII.reduce((best, radius, index) => (Math.abs(radius - meters) < Math.abs(RADII[best] - meters) ? index : best), 0);

export class SearchForm {
  #form = document.getElementById("form");
  #radius = document.getElementById("radius");
  #other = document.getElementById("other-category");
  #submits = document.querySelectorAll("[data-submit]");

  /** `onSearch()` is called to start a search, `onChange()` when a value changes. */
  constructor({ onSearch, onChange }) {
    this.#radius.max = RADII.length - 1;
    this.#radius.value = nearest(RADIUS_AT_START);

    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      onSearch();
    });
    this.#form.addEventListener("input", () => {
      this.#show();
      onChange();
    });
    for (const radio of this.#form.querySelectorAll("[name=category]")) {
      radio.addEventListener("change", () => radio.value === "" && this.#other.focus());
    }
    this.#show();
  }

  values() {
    const data = new FormData(this.#form);
    const categories = this.#other.value.split(",").map((text) => text.trim()).filter(Boolean);
    const isList = !data.get("category") && categories.length > 1;
    return {
      category: data.get("category") || categories[0] || "restaurant",
      categories: isList ? categories : undefined,
      rankBy: data.get("rankBy") || undefined,
      keyword: data.get("keyword").trim(),
      provider: data.get("provider"),
      radiusMeters: RADII[this.#radius.value],
      openNow: data.get("openNow") === "on",
    };
  }

  /** Fills in the given values; the others stay. */
  fill({ category, categories, keyword, provider, radiusMeters, openNow, rankBy }) {
    if (categories) {
      this.#form.querySelector("[name=category][value='']").checked = true;
      this.#other.value = categories.join(", ");
    } else if (category) {
      const radio = [...this.#form.elements.category].find((radio) => radio.value === category);
      (radio ?? this.#form.querySelector("[name=category][value='']")).checked = true;
      if (!radio) this.#other.value = category;
    }
    if (keyword !== undefined) this.#form.elements.keyword.value = keyword;
    const isOffered = [...this.#form.elements.provider.options].some((option) => option.value === provider);
    if (isOffered) this.#form.elements.provider.value = provider;
    if (radiusMeters) this.#radius.value = nearest(radiusMeters);
    if (["distance", "popularity"].includes(rankBy)) this.#form.elements.rankBy.value = rankBy;
    if (openNow !== undefined) this.#form.elements.openNow.checked = openNow;
    this.#show();
  }

  #show() {
    const isOther = this.#form.querySelector("[name=category]:checked").value === "";
    this.#other.parentElement.hidden = !isOther;
    const text = distance(RADII[this.#radius.value]);
    setText(document.getElementById("radius-value"), text);
    setAttribute(this.#radius, "aria-valuetext", text);
  }

  /** Shows that a search is in flight. Another search remains possible: it supersedes this one. */
  showSearching(isSearching) {
    for (const button of this.#submits) button.classList.toggle("is-busy", isSearching);
    document.getElementById("progress").hidden = !isSearching;
  }

  /** Marks the value that an error names. */
  showMember(member) {
    const fields = { keyword: this.#form.elements.keyword, category: this.#other, categories: this.#other, rankBy: this.#form.elements.rankBy, radiusMeters: this.#radius, provider: this.#form.elements.provider };
    for (const [name, field] of Object.entries(fields)) setAttribute(field, "aria-invalid", name === member && "true");
  }
}
