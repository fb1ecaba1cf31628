"""The script of a flame graph: zoom, search and keys. Without it nothing is missing but these."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256

# It takes every graph on the page that it has not taken yet, so that it may stand there more than
# once, and makes what only it can serve: without it there is no dead button.
SCRIPT = r"""
(() => {
  const KEYS = "Arrows go through the calls, Enter zooms, Escape shows all, / searches.";
  const start = (root) => {
    root.dataset.ready = "1";
    const svg = root.querySelector("svg"), W = svg.viewBox.baseVal.width;
    const frames = [...svg.querySelectorAll("g[data-w]")].map((g, i) => ({
      g, i, parent: +g.dataset.p, x: +g.dataset.x, w: +g.dataset.w,
      rects: g.querySelectorAll("rect"), text: g.querySelector("text"),
      words: g.querySelector("title").textContent,
    }));
    frames.forEach((f) => {
      f.name = f.words.split("\n", 1)[0];
      f.short = f.name.replace(/^[^[(]*\//, "");
      f.calls = [];
      if (f.parent >= 0) frames[f.parent].calls.push(f);
      f.g.setAttribute("role", "treeitem");
      f.g.setAttribute("aria-label", f.words.replaceAll("\n", "; "));
      f.g.tabIndex = -1;
      f.g.style.cursor = "pointer";
    });
    frames[0].g.setAttribute("tabindex", "0");
    svg.setAttribute("role", "tree");

    const bar = document.createElement("p"), search = document.createElement("input");
    const found = document.createElement("span"), words = document.createElement("pre");
    search.type = "search";
    search.placeholder = "search functions";
    search.setAttribute("aria-label", "Search functions");
    bar.style.cssText = "font:13px system-ui,sans-serif;max-width:none;margin:.4em 0";
    found.style.marginLeft = "1em";
    found.setAttribute("role", "status");
    found.textContent = KEYS;
    words.setAttribute("aria-live", "polite");
    words.textContent = frames[0].words;
    words.style.cssText = "min-height:8em;margin:.4em 0;white-space:pre-wrap";
    bar.append(search, found);
    svg.before(bar);
    svg.after(words);

    const fitted = (f, width) => {
      const room = Math.floor((width - 4) / 6.7);
      if (f.short.length <= room) return f.short;
      return room >= 3 ? f.short.slice(0, room - 1) + "\u2026" : "";
    };
    const inside = (f, z) => {
      for (; f; f = frames[f.parent]) if (f === z) return true;
      return false;
    };
    let zoomed = frames[0], current = frames[0];
    const zoom = (z) => {
      zoomed = z;
      frames.forEach((f) => {
        const above = f !== z && inside(z, f), shown = above || inside(f, z);
        f.g.style.display = shown ? "" : "none";
        if (!shown) return;
        const x = above ? 0 : (f.x - z.x) / (z.w || 1) * W, w = above ? W : f.w / (z.w || 1) * W;
        f.rects.forEach((r) => {
          r.setAttribute("x", x);
          r.setAttribute("width", w > 3.2 ? w - 0.8 : w);
        });
        f.text.setAttribute("x", x + 3);
        f.text.textContent = fitted(f, w);
        f.g.style.opacity = above ? ".55" : "";
      });
    };
    const go = (f) => {
      if (!f) return;
      current.g.setAttribute("tabindex", "-1");
      current = f;
      f.g.setAttribute("tabindex", "0");
      f.g.focus();
    };
    const beside = (f, step) => {
      const calls = f.parent < 0 ? [f] : frames[f.parent].calls;
      return calls[calls.indexOf(f) + step];
    };
    const look = () => {
      const term = search.value.toLowerCase();
      let width = 0, number = 0, end = -1;
      frames.forEach((f) => {
        const hit = term && f.parent >= 0 && f.name.toLowerCase().includes(term);
        f.rects[0].style.stroke = hit ? "currentColor" : "";
        f.rects[0].style.strokeWidth = hit ? "2" : "";
        if (!hit) return;
        number += 1;
        if (f.x >= end - 1e-9) { width += f.w; end = f.x + f.w; }
      });
      found.textContent = term ? `${number} frames, ${(100 * width).toFixed(1)} %` : KEYS;
    };
    const bySvg = (event) => frames.find((f) => f.g === event.target.closest("g[data-w]"));
    svg.addEventListener("click", (event) => {
      const f = bySvg(event);
      if (f) { zoom(f === zoomed ? frames[0] : f); go(f); }
    });
    svg.addEventListener("pointerover", (event) => {
      const f = bySvg(event);
      if (f) words.textContent = f.words;
    });
    svg.addEventListener("focusin", (event) => {
      const f = bySvg(event);
      if (!f) return;
      current = f;
      words.textContent = f.words;
    });
    svg.addEventListener("keydown", (event) => {
      const moves = {
        ArrowDown: () => go(current.calls[0]), ArrowUp: () => go(frames[current.parent]),
        ArrowLeft: () => go(beside(current, -1)), ArrowRight: () => go(beside(current, 1)),
        Home: () => go(frames[0]), Enter: () => zoom(current),
        Escape: () => zoom(frames[0]), "/": () => search.focus(),
      };
      if (!moves[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      moves[event.key]();
    });
    search.addEventListener("input", look);
    search.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") { search.value = ""; look(); frames[0].g.focus(); }
    });
  };
  document.querySelectorAll(".gomem-flame:not([data-ready])").forEach(start);
})();
"""


@cache
def script_source() -> str:
    """The script as a Content-Security-Policy names it: a page that allows it allows no other."""
    return f"'sha256-{b64encode(sha256(SCRIPT.encode()).digest()).decode()}'"
