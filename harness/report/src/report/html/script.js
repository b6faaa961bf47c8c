"use strict";
const search = document.querySelector("#search");
const theme = document.querySelector("#theme");
search?.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of document.querySelectorAll("[data-words]")) {
    const has = words.every((word) => item.dataset.words.includes(word));
    item.hidden = !has;
  }
});
theme?.addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
});
