/* An excerpt under each result of the search, from passages.js, which the build writes: [anchor, text] of each page.
   A browser that opens the site from files refuses to fetch pages, but loads scripts. */
"use strict";

(() => {
  const AROUND = 90, LENGTH = 220; // letters before the first match, and in all
  const words = (new URLSearchParams(window.location.search).get("q") || "").match(/[\p{L}\p{N}_]+/gu) || [];
  const stems = words.map((word) => word.replace(/^(.{3,}?)(es|s|ing|ed|e)$/, "$1")); // Sphinx searches for stems, too
  const pattern = stems.length ? new RegExp(`(?:${stems.join("|")})[\\p{L}\\p{N}_]*`, "giu") : null;

  /* The text to show: at the anchor if the result has one, else the passage with most of the words. */
  const chosen = (passages, anchor) => {
    const has = (text) => stems.filter((stem) => text.toLowerCase().includes(stem.toLowerCase())).length;
    const at = passages.filter(([id]) => anchor && id === anchor);
    const ranked = (at.length ? at : passages).map(([, text]) => [has(text), text]);
    return ranked.reduce((best, next) => (next[0] > best[0] ? next : best), [-1, ""])[1];
  };

  const cut = (text) => {
    const match = pattern ? text.search(pattern) : -1;
    let from = Math.max(match - AROUND, 0);
    if (from > 0) from = text.indexOf(" ", from) + 1;
    let to = from + LENGTH;
    if (to < text.length) to = Math.max(text.lastIndexOf(" ", to), from + AROUND);
    return (from > 0 ? "... " : "") + text.slice(from, to) + (to < text.length ? " ..." : "");
  };

  const show = (item) => {
    const link = item.querySelector("a");
    if (!window.PASSAGES || !link || item.querySelector("p.excerpt")) return;
    const [path, anchor] = link.getAttribute("href").split("#");
    const passages = window.PASSAGES[path.replace(/\.html$/, "")];
    if (!passages) return;
    const text = cut(chosen(passages, anchor));
    if (!text) return;
    const line = item.appendChild(document.createElement("p"));
    line.className = "excerpt";
    let done = 0;
    for (const match of pattern ? text.matchAll(pattern) : []) {
      line.append(text.slice(done, match.index));
      const word = line.appendChild(document.createElement("span"));
      word.className = "highlighted";
      word.textContent = match[0];
      done = match.index + match[0].length;
    }
    line.append(text.slice(done));
  };

  const showAll = () => document.querySelectorAll("#search-results ul.search > li").forEach(show);

  document.addEventListener("DOMContentLoaded", () => {
    const results = document.getElementById("search-results");
    if (!results) return;
    new MutationObserver(showAll).observe(results, { childList: true, subtree: true });
    const script = document.createElement("script");
    script.src = "_static/passages.js";
    script.onload = showAll;
    document.body.appendChild(script);
  });
})();
