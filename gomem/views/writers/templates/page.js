(() => {
  const FACTORS = {
    KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50,
    ns: 1e-9, "\u00b5s": 1e-6, ms: 1e-3, min: 60, h: 3600, d: 86400,
  };
  const words = (cell) => [...cell.childNodes].filter((node) => node.nodeName !== "SMALL")
    .map((node) => node.textContent).join("").trim();
  const number = (cell) => {
    const text = words(cell).replace(/\u2212/g, "-").replace(/(\d)[\u202f\u00a0,](?=\d)/g, "$1");
    const found = text.match(/^([+-]?\d[\d.]*(?:e[+-]?\d+)?)\s*([^\s/\d]+)?/i);
    return found ? parseFloat(found[1]) * (FACTORS[found[2]] || 1) : -Infinity;
  };
  const sortable = (table) => {
    const body = table.tBodies[0];
    if (!table.tHead || !body || body.rows.length < 3) return;
    // Rows that belong to the one above them cannot be moved alone.
    const inside = (row) => row.className === "inner" || /^(\u00b7|$)/.test(words(row.cells[0]));
    if ([...body.rows].some(inside)) return;
    const rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      if (head.nodeName !== "TH") return;
      const button = document.createElement("button"), numeric = head.className === "number";
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort"), first = numeric ? "descending" : "ascending";
        const next = !now ? first : now === first
          ? (numeric ? "ascending" : "descending") : "";
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        const sign = next === "ascending" ? 1 : -1;
        const compared = (a, b) => numeric
          ? sign * (number(a.cells[place]) - number(b.cells[place]) || 0)
          : sign * words(a.cells[place]).localeCompare(words(b.cells[place]));
        body.append(...(next ? [...rows].sort(compared) : rows));
        if (next) head.setAttribute("aria-sort", next);
      });
    });
  };
  document.querySelectorAll("table").forEach(sortable);

  const unfold = (hash) => {
    let one = hash && document.getElementById(hash.slice(1));
    for (; one; one = one.parentElement) if (one.nodeName === "DETAILS") one.open = true;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) unfold(link.hash);
  });
  unfold(location.hash);

  // A command breaks between its words, not behind the hyphens of an option.
  document.querySelectorAll("pre.command code").forEach((code) => {
    const words = code.textContent.split(" ").flatMap((word, place) => {
      const span = document.createElement("span");
      span.textContent = word;
      return place ? [" ", span] : [span];
    });
    code.replaceChildren(...words);
  });

  // A command to paste, with a button that copies it where the browser lets it.
  if (navigator.clipboard) document.querySelectorAll("pre.command").forEach((line) => {
    const button = document.createElement("button"), code = line.querySelector("code");
    button.type = "button";
    button.textContent = "copy";
    button.setAttribute("aria-label", "copy the command");
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(code.textContent).then(() => {
        button.textContent = "copied";
        setTimeout(() => { button.textContent = "copy"; }, 1500);
      });
    });
    line.append(button);
  });

  // One snapshot everywhere: 0 is what the report chose for each section.
  const when = document.querySelector(".when");
  if (when) {
    const names = JSON.parse(when.dataset.names), slider = when.querySelector("input");
    const panels = [...document.querySelectorAll("[data-of]")].map((panel) => ({
      panel, is: new Set(panel.dataset.of.split(" ").map(Number)),
      first: "first" in panel.dataset,
    }));
    const heads = [...document.querySelectorAll("details.section")].map((section) => ({
      gist: section.querySelector(":scope > summary .gist"), section,
    }));
    heads.forEach((head) => { head.told = head.gist && head.gist.textContent; });
    const show = () => {
      const place = Number(slider.value), name = place ? names[place - 1] : "automatic";
      panels.forEach(({ panel, is, first }) => { panel.hidden = place ? !is.has(place) : !first; });
      heads.forEach(({ gist, section, told }) => {
        const own = section.querySelector("[data-of]:not([hidden]) > h3.of");
        if (gist) gist.textContent = place && own ? own.textContent : told;
      });
      when.querySelector("output").textContent = name;
      slider.setAttribute("aria-valuetext", name);
    };
    slider.addEventListener("input", show);
    when.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => {
      const next = Number(slider.value) + Number(button.dataset.step);
      slider.value = Math.max(0, Math.min(names.length, next));
      show();
    }));
    show();
  }

  const tools = document.querySelector(".tools");
  if (tools) {
    const all = document.createElement("button");
    const sections = [...document.querySelectorAll("details.section")];
    const name = () => {
      all.textContent = sections.every((one) => one.open) ? "fold all" : "unfold all";
    };
    all.type = "button";
    all.addEventListener("click", () => {
      const open = !sections.every((one) => one.open);
      sections.forEach((one) => { one.open = open; });
    });
    sections.forEach((one) => one.addEventListener("toggle", name));
    name();
    tools.append(all);
  }
})();
