(() => {
  const KEYS = "Arrows go through the calls, Enter zooms, Escape shows all, / searches.";
  const SVG = "http://www.w3.org/2000/svg", ROW = 18, NARROW = 0.001;
  const element = (parent, name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };

  // One drawing: its frames, and what can be done with them.
  const control = (svg, tell, focusSearch) => {
    const W = svg.viewBox.baseVal.width;
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
      f.g.tabIndex = -1;
      f.g.style.cursor = "pointer";
    });
    frames[0].g.setAttribute("tabindex", "0");
    svg.setAttribute("role", "tree");

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
    const search = (term) => {
      let width = 0, number = 0, end = -1;
      frames.forEach((f) => {
        const hit = term && f.parent >= 0 && f.name.toLowerCase().includes(term);
        f.rects[0].style.stroke = hit ? "currentColor" : "";
        f.rects[0].style.strokeWidth = hit ? "2" : "";
        f.rects[0].style.opacity = term && !hit ? ".3" : "";
        if (!hit) return;
        number += 1;
        if (f.x >= end - 1e-9) { width += f.w; end = f.x + f.w; }
      });
      return term ? `${number} frames, ${(100 * width).toFixed(1)} %` : KEYS;
    };
    const bySvg = (event) => frames.find((f) => f.g === event.target.closest("g[data-w]"));
    const look = (f) => { if (f) { current = f; tell(f); } };
    svg.addEventListener("click", (event) => {
      const f = bySvg(event);
      if (f) { zoom(f === zoomed ? frames[0] : f); go(f); }
    });
    svg.addEventListener("pointerover", (event) => {
      const f = bySvg(event);
      if (f) tell(f);
    });
    svg.addEventListener("focusin", (event) => look(bySvg(event)));
    svg.addEventListener("keydown", (event) => {
      const moves = {
        ArrowDown: () => go(current.calls[0]), ArrowUp: () => go(frames[current.parent]),
        ArrowLeft: () => go(beside(current, -1)), ArrowRight: () => go(beside(current, 1)),
        Home: () => go(frames[0]), Enter: () => zoom(current),
        Escape: () => zoom(frames[0]), "/": focusSearch,
      };
      if (!moves[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      moves[event.key]();
    });
    return { svg, frames, search, now: () => current, reset: () => zoom(frames[0]) };
  };

  // The same weights, put together along other paths.
  const part = (f) => (
    { name: f.name, fill: f.rects[0].getAttribute("fill"), w: 0, calls: new Map() }
  );
  const below = (into, f) => {
    if (!into.calls.has(f.name)) into.calls.set(f.name, part(f));
    return into.calls.get(f.name);
  };
  const own = (f) => Math.max(0, f.calls.reduce((rest, call) => rest - call.w, f.w));
  const upwards = (frames, into, f, weight) => {
    for (; f && f.parent >= 0; f = frames[f.parent]) {
      into = below(into, f);
      into.w += weight;
    }
  };
  const inverted = (frames) => {
    const top = { ...part(frames[0]), w: frames[0].w };
    frames.slice(1).forEach((f) => {
      const weight = own(f);
      if (weight > NARROW / 10) upwards(frames, top, f, weight);
    });
    return top;
  };
  const centred = (frames, name) => {
    const named = frames.filter((f) => f.name === name), callers = part(named[0]);
    const called = part(named[0]);
    const add = (into, f) => f.calls.forEach((call) => {
      const next = below(into, call);
      next.w += call.w;
      add(next, call);
    });
    const outermost = (f) => {
      let up = frames[f.parent];
      while (up && up.name !== name) up = frames[up.parent];
      return !up;
    };
    named.filter(outermost).forEach((f) => {
      callers.w += f.w;
      called.w += f.w;
      upwards(frames, callers, frames[f.parent], f.w);
      add(called, f);
    });
    return { callers, called };
  };
  const depth = (top, whole) => {
    const wide = [...top.calls.values()].filter((one) => one.w / whole > NARROW);
    return 1 + Math.max(0, ...wide.map((one) => depth(one, whole)));
  };

  const start = (root) => {
    root.dataset.ready = "1";
    const original = root.querySelector("svg"), bar = document.createElement("p");
    const search = document.createElement("input"), found = document.createElement("span");
    const words = document.createElement("pre");
    let view, first;
    const tell = (f) => { words.textContent = f.words; };
    const look = () => { found.textContent = view.search(search.value.toLowerCase()); };
    search.type = "search";
    search.placeholder = "search functions";
    search.setAttribute("aria-label", "Search functions");
    bar.style.cssText = "font:13px system-ui,sans-serif;max-width:none;margin:.4em 0;"
      + "display:flex;flex-wrap:wrap;gap:.2em 1em;align-items:baseline";
    found.setAttribute("role", "status");
    found.textContent = KEYS;
    words.setAttribute("aria-live", "polite");
    words.style.cssText = "min-height:8em;margin:.4em 0;white-space:pre-wrap";
    view = first = control(original, tell, () => search.focus());
    words.textContent = first.frames[0].words;

    const total = +original.dataset.total, unit = original.dataset.unit;
    const number = (share) => {
      let value = share * total;
      const three = (one) => one >= 100 ? Math.round(one) : one.toPrecision(3);
      if (unit === "nanoseconds") return `${three(value / 1e9)} s`;
      if (unit !== "bytes") return Math.round(value).toLocaleString("en");
      const prefixes = ["B", "KiB", "MiB", "GiB", "TiB"];
      let place = 0;
      for (; value >= 1024 && place < 4; place += 1) value /= 1024;
      return `${place ? three(value) : Math.round(value)} ${prefixes[place]}`;
    };
    const drawing = (rows, label) => {
      const svg = element(root, "svg", {
        class: "figure flame", viewBox: `0 0 960 ${rows * ROW}`, "aria-label": label,
        style: original.getAttribute("style"),
      });
      original.after(svg);
      return svg;
    };
    const draw = (svg, top, whole, step, middle, parent) => {
      let count = svg.querySelectorAll("g").length;
      const place = (one, x, row, above) => {
        const w = one.w / whole;
        const g = element(svg, "g", { "data-p": above, "data-x": x, "data-w": w });
        const index = count, y = row * ROW, width = w * 960;
        count += 1;
        const share = `${number(one.w)} (${(100 * one.w).toFixed(1)} %)`;
        element(g, "title", {}, `${one.name}\n${share}\nno interval in this view`);
        element(g, "rect", {
          x: x * 960, y, width: width > 3.2 ? width - 0.8 : width, height: ROW - 1, fill: one.fill,
        });
        element(g, "text", { x: x * 960 + 3, y: y + 12, fill: "#17191c" });
        inner(one, x, row + step, index);
      };
      const inner = (one, x, row, index) => {
        [...one.calls.values()].sort((a, b) => b.w - a.w).forEach((call) => {
          if (call.w / whole > NARROW) place(call, x, row, index);
          x += call.w / whole;
        });
      };
      if (parent === undefined) place(top, 0, middle, -1);
      else inner(top, 0, middle + step, parent);
    };
    const show = (made) => {
      if (view !== first) view.svg.remove();
      original.style.display = made ? "none" : "";
      view = made || first;
      view.reset();
      look();
    };
    const turned = () => {
      const top = inverted(first.frames);
      const svg = drawing(depth(top, top.w), "Who allocates, by callers");
      draw(svg, top, top.w, 1, 0);
      show(control(svg, tell, () => search.focus()));
    };
    const around = () => {
      const name = view.now().name;
      if (!first.frames.slice(1).some((f) => f.name === name)) {
        found.textContent = "Choose a function first: click it, or go there with the arrows.";
        return;
      }
      const { callers, called } = centred(first.frames, name), whole = called.w;
      const above = depth(callers, whole) - 1;
      const svg = drawing(above + depth(called, whole), `Callers and calls of ${name}`);
      draw(svg, called, whole, 1, above);
      draw(svg, callers, whole, -1, above, 0);
      show(control(svg, tell, () => search.focus()));
    };
    const button = (text, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.addEventListener("click", act);
      bar.append(made);
    };
    bar.append(search);
    button("all calls", () => { search.value = ""; show(null); });
    if (total) {
      button("by who allocates", turned);
      button("around this function", around);
    }
    bar.append(found);
    original.before(bar);
    root.append(words);
    search.addEventListener("input", look);
    search.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") { search.value = ""; look(); view.frames[0].g.focus(); }
    });
  };
  document.querySelectorAll(".gomem-flame:not([data-ready])").forEach(start);
})();
