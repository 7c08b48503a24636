// What the page can do beyond being read: theme, tips, downloads, sorting, the table of stimuli.
// Users' texts enter the page through textContent only.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";

  // Theme: system, light, dark.
  const themes = ["system", "light", "dark"];
  const themeButton = $("theme");
  let theme = "system";
  const remember = (value) => { try { localStorage.setItem("mohs-theme", value); } catch { /* file: without storage */ } };
  const recall = () => { try { return localStorage.getItem("mohs-theme"); } catch { return null; } };
  const setTheme = (value) => {
    theme = themes.includes(value) ? value : "system";
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    themeButton.textContent = `Theme: ${theme}`;
  };
  setTheme(recall());
  themeButton.hidden = false;
  themeButton.addEventListener("click", () => {
    setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]);
    remember(theme);
  });

  // Tips: one box for all marks; arrow keys walk through the marks of a chart.
  const tip = $("tip");
  for (const title of document.querySelectorAll(".chart .mark > title")) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
  const hideTip = () => {
    tip.hidden = true;
    document.querySelector(".mark.on")?.classList.remove("on");
  };
  const showTip = (mark, x, y) => {
    document.querySelector(".mark.on")?.classList.remove("on");
    mark.classList.add("on");
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const room = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(x + 14, room - tip.offsetWidth - 8));
    const above = y - tip.offsetHeight - 12;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above < 4 ? y + 18 : above) + scrollY}px`;
  };
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest?.(".mark");
    if (mark) showTip(mark, event.clientX, event.clientY);
    else if (event.pointerType === "mouse" && !document.activeElement?.matches?.("svg.chart")) hideTip();
  });
  document.addEventListener("pointerdown", (event) => {
    const mark = event.target.closest?.(".mark");
    if (mark) showTip(mark, event.clientX, event.clientY); else hideTip();
  });
  for (const chart of document.querySelectorAll("svg.chart")) {
    const marks = [...chart.querySelectorAll(".mark")];
    if (!marks.length) continue;
    let at = -1;
    chart.setAttribute("tabindex", "0");
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") return hideTip();
      if (!step) return;
      event.preventDefault();
      at = (at + step + marks.length) % marks.length;
      if (at < 0) at = 0;
      const box = marks[at].getBoundingClientRect();
      showTip(marks[at], box.left + box.width / 2, box.top + Math.min(box.height / 2, 40));
    });
    chart.addEventListener("blur", () => { at = -1; hideTip(); });
  }

  // Downloads.
  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity",
    "stroke-linejoin", "paint-order", "opacity", "font-size", "font-weight", "font-family"];
  // A chart alone has no style sheet: each element takes its computed style along, in the light theme.
  const standalone = (chart) => {
    const root = document.documentElement;
    const chosen = root.dataset.theme;
    root.dataset.theme = "light";
    const copy = chart.cloneNode(true);
    copy.setAttribute("xmlns", SVG);
    for (const name of ["tabindex", "class"]) copy.removeAttribute(name);
    const [sources, copies] = [chart, copy].map((node) => [...node.querySelectorAll("*")]);
    sources.forEach((source, idx) => {
      const style = getComputedStyle(source);
      copies[idx].removeAttribute("style");
      copies[idx].removeAttribute("class");
      if (source.tagName === "g") return;
      for (const name of STYLES) {
        const value = style.getPropertyValue(name);
        if (value && value !== "none" || name === "fill") copies[idx].setAttribute(name, value);
      }
    });
    for (const mark of copy.querySelectorAll("[data-tip]")) {
      const title = document.createElementNS(SVG, "title");
      title.textContent = mark.dataset.tip;
      mark.prepend(title);
      mark.removeAttribute("data-tip");
    }
    const paper = document.createElementNS(SVG, "rect");
    const [, , width, height] = chart.getAttribute("viewBox").split(" ").map(Number);
    const margin = 16;
    copy.setAttribute("viewBox", `${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`);
    copy.setAttribute("width", width + 2 * margin);
    copy.setAttribute("height", height + 2 * margin);
    const sheet = { x: -margin, y: -margin, width: width + 2 * margin, height: height + 2 * margin, fill: "#fff" };
    for (const [name, value] of Object.entries(sheet)) paper.setAttribute(name, value);
    copy.prepend(paper);
    if (chosen) root.dataset.theme = chosen; else delete root.dataset.theme;
    return new XMLSerializer().serializeToString(copy);
  };
  for (const button of document.querySelectorAll("[data-download]")) {
    const figure = button.closest("figure");
    button.hidden = false;
    button.addEventListener("click", () => {
      if (button.dataset.download === "csv") save(`${figure.id}.csv`, "text/csv", figure.dataset.csv);
      else save(`${figure.id}.svg`, "image/svg+xml", standalone(figure.querySelector(".wide svg.chart")));
    });
  }

  // Sorting: headings become buttons.
  const heading = (th, onSort) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...th.childNodes);
    th.append(button);
    button.addEventListener("click", () => {
      const down = th.getAttribute("aria-sort") === "ascending";
      for (const other of th.parentNode.children) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      onSort(down ? -1 : 1);
    });
  };
  const words = new Intl.Collator("en", { numeric: true });
  const compare = (a, b, sign) => {
    // What is missing stands last in either direction.
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "number" && typeof b === "number" ? a - b : words.compare(a, b));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((th, idx) => heading(th, (sign) => {
      const key = (row) => {
        const { sort } = row.cells[idx].dataset;
        return sort === undefined ? row.cells[idx].textContent : sort === "" ? null : Number(sort);
      };
      const keyed = [...body.rows].map((row) => [key(row), row]);
      keyed.sort((a, b) => compare(a[0], b[0], sign));
      body.append(...keyed.map(([, row]) => row));
    }));
  }

  // The same forms as `number.rs`.
  const group = (text) => (text.length < 5 ? text : text.replace(/\B(?=(\d{3})+$)/g, "\u202f"));
  const fixed = (value, digits) => {
    const [whole, rest] = Math.abs(value).toFixed(digits).split(".");
    return (value < 0 && Number(value.toFixed(digits)) !== 0 ? "−" : "") + group(whole) + (rest ? `.${rest}` : "");
  };
  const timeScale = (ms) => (ms < 9.95 ? [1, "ms", 1] : ms < 999.5 ? [1, "ms", 0] : ms < 9950 ? [1000, "s", 2] : [1000, "s", 1]);
  const make = (tag, className, ...children) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...children);
    return node;
  };

  // Long tables: all rows are in the page as numbers, one page of them is drawn.
  const FORMS = { share: [0.01, " %", 1, ""], points: [0.01, "", 1, "+"], plain: [1, "", 2, ""] };
  const epsilonDigits = (size) => (size < 0.00995 ? 5 : size < 0.0995 ? 4 : size < 0.995 ? 3 : 2);
  const inForm = (kind, value) => {
    const [divisor, unit, digits, sign] = kind === "epsilon" ? [1, "", epsilonDigits(Math.abs(value)), ""] : kind === "time" ? [...timeScale(Math.abs(value)).map((part, idx) => (idx === 1 ? ` ${part}` : part)), ""] : FORMS[kind];
    const text = fixed(value / divisor, digits);
    return { text: (sign && value > 0 && Number(text) !== 0 ? sign : "") + text + unit, end: (number) => fixed(number / divisor, digits) };
  };
  const longCell = (value, kind, isFirst, hasN) => {
    if (kind === "text") return make(isFirst ? "th" : "td", "", Array.isArray(value) ? value[0] : value ?? "–");
    if (kind === "number") return make("td", "num", value === null ? "–" : value[0]);
    if (kind === "count") return make("td", "num", value === null ? "–" : group(String(value)));
    if (value === null) return make("td", "num", make("span", "n", "–"));
    const [middle, low, high, n] = value;
    const form = inForm(kind, middle);
    return make("td", "num", make("span", "est", make("b", "", form.text), " ",
      make("span", "ci", low === null ? "no interval" : `[${form.end(low)}, ${form.end(high)}]`),
      ...(hasN ? [" ", make("span", "n", `n\u00a0=\u00a0${group(String(n))}`)] : [])));
  };
  for (const box of document.querySelectorAll(".long-table")) {
    const data = JSON.parse(box.querySelector("script").textContent);
    const [tools, body, pager] = [box.querySelector(".table-tools"), box.querySelector("tbody"), box.querySelector(".pager")];
    const search = tools.querySelector("input");
    let order = null, page = 0;
    const key = (value, kind) => (Array.isArray(value) ? value[kind === "text" || kind === "number" ? 1 : 0] : value);
    const words = (row) => row.map((value, idx) => (data.columns[idx][2] !== "text" ? "" : Array.isArray(value) ? value[0] : value ?? "")).join(" ").toLowerCase();
    const texts = new Map(data.rows.map((row) => [row, words(row)]));
    const matching = () => {
      const wanted = search.value.trim().toLowerCase().split(/\s+/);
      const rows = data.rows.filter((row) => wanted.every((word) => texts.get(row).includes(word)));
      if (!order) return rows;
      const [idx, sign] = order, kind = data.columns[idx][2];
      return rows.sort((a, b) => compare(key(a[idx], kind), key(b[idx], kind), sign));
    };
    const draw = (fromStart, most = data.page) => {
      const rows = matching();
      const nPages = Math.max(1, Math.ceil(rows.length / most));
      page = fromStart ? 0 : Math.min(Math.max(page, 0), nPages - 1);
      const shown = rows.slice(page * most, (page + 1) * most);
      body.replaceChildren(...shown.map((row) => make("tr", "", ...row.map((value, idx) => longCell(value, data.columns[idx][2], idx === 0, data.has_n)))));
      const turn = (text, step, off) => {
        const button = make("button", "", text);
        button.type = "button";
        button.disabled = off;
        button.addEventListener("click", () => {
          page += step;
          draw(false);
          pager.querySelectorAll("button")[step < 0 ? 0 : 1].focus();
        });
        return button;
      };
      const range = shown.length ? `${page * most + 1}–${page * most + shown.length} of ${rows.length}` : "No row matches";
      const total = rows.length < data.rows.length ? ` (${data.rows.length} in all)` : "";
      const said = make("span", "", range + total);
      said.setAttribute("aria-live", "polite");
      pager.replaceChildren(turn("← Previous", -1, page === 0), turn("Next →", 1, page >= nPages - 1), said);
    };
    [...box.querySelectorAll("thead th")].forEach((th, idx) => heading(th, (sign) => { order = [idx, sign]; draw(true); }));
    search.addEventListener("input", () => draw(true));
    addEventListener("beforeprint", () => draw(true, 100));
    addEventListener("afterprint", () => draw(true));
    tools.hidden = false;
    draw(true);
    tools.querySelector("button").addEventListener("click", () => {
      const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
      const line = (cells) => cells.map((value) => quote(String(value ?? ""))).join(",");
      const isEstimate = (kind) => !["text", "count", "number"].includes(kind);
      const unit = (kind) => (kind === "time" ? "_ms" : "");
      const head = data.columns.flatMap(([, name, kind]) => (isEstimate(kind) ? [`${name}${unit(kind)}`, `${name}_low${unit(kind)}`, `${name}_high${unit(kind)}`, `${name}_n`] : [name]));
      const cells = (row) => row.flatMap((value, idx) => {
        const kind = data.columns[idx][2];
        if (isEstimate(kind)) return value ?? ["", "", "", ""];
        // A text with a number is that number; a text with a place in an order stays a text.
        return [Array.isArray(value) ? value[value.length === 3 ? 0 : 1] : value];
      });
      save(`${box.id}.csv`, "text/csv", `${[line(head), ...matching().map((row) => line(cells(row)))].join("\n")}\n`);
    });
  }
  for (const box of document.querySelectorAll(".short-table")) {
    const button = make("button", "", "CSV");
    button.type = "button";
    button.addEventListener("click", () => save(`${box.id}.csv`, "text/csv", box.dataset.csv));
    box.append(make("p", "pager", button));
  }

  // The table of stimuli.
  const source = $("stimuli-data");
  if (source) {
    const data = JSON.parse(source.textContent);
    const [ID, LABEL, DATASET, LEVEL, BAND, MODEL_BAND, THRESHOLD, DIFFICULTY, N, ERRORS, COUNTS, CODES] = Array(12).keys();
    const table = $("stimuli-table"), body = table.tBodies[0], pager = $("stimuli-pager");
    const keys = {
      stimulus: (row) => row[ID], label: (row) => row[LABEL],
      band: (row) => row[BAND], threshold: (row) => row[THRESHOLD][0], difficulty: (row) => row[DIFFICULTY][0],
      trials: (row) => row[N],
    };
    const datasetOf = (row) => (row[DATASET] === null ? null : data.datasets[row[DATASET]]);
    const levelOf = (row) => (row[LEVEL] === null ? null : data.levels[row[LEVEL]]);
    const heads = [...table.tHead.rows[0].cells];
    const columns = heads.map((th) => th.dataset.key);
    const titles = heads.map((th) => th.textContent);
    for (const th of heads) {
      if (th.dataset.key) heading(th, (sign) => { order = [th.dataset.key, sign]; draw(true); });
    }
    table.querySelector("[data-key=difficulty]").setAttribute("aria-sort", "descending");
    const pictures = new Map([...document.querySelectorAll("img[data-stimulus]")].map((img) => [img.dataset.stimulus, img.src]));
    let order = ["difficulty", -1], page = 0;
    const filters = { search: $("stimuli-search"), dataset: $("stimuli-dataset"), level: $("stimuli-level"), band: $("stimuli-band"), caveat: $("stimuli-caveat") };
    const pick = (select) => (select && select.value !== "" ? Number(select.value) : null);

    const matching = () => {
      const text = filters.search.value.trim().toLowerCase();
      const [set, level, band, code] = [filters.dataset, filters.level, filters.band, filters.caveat].map(pick);
      const rows = data.rows.filter((row) =>
        (!text || row[ID].toLowerCase().includes(text) || (row[LABEL] ?? "").toLowerCase().includes(text)) &&
        (set === null || row[DATASET] === set) && (level === null || row[LEVEL] === level) && (band === null || row[BAND] === band) &&
        (code === null || row[CODES].includes(code)));
      const key = keys[order[0]];
      // Ties keep the order of the file, easiest first, in the direction of the sort.
      const place = new Map(data.rows.map((row, idx) => [row, idx]));
      return rows.sort((a, b) => compare(key(a), key(b), order[1]) || order[1] * (place.get(a) - place.get(b)));
    };

    const estimate = ([value, low, high], divisor, unit, digits) => make("span", "est",
      make("b", "", `${fixed(value / divisor, digits)} ${unit}`), " ",
      make("span", "ci", `[${fixed(low / divisor, digits)}, ${fixed(high / divisor, digits)}]`));
    const spark = (counts) => {
      const svg = document.createElementNS(SVG, "svg");
      const n = counts.length / 2;
      svg.setAttribute("viewBox", `0 0 ${n * 9} 20`);
      svg.setAttribute("width", n * 9);
      svg.setAttribute("role", "img");
      const texts = [];
      for (let idx = 0; idx < n; idx += 1) {
        const [right, all] = counts.slice(2 * idx, 2 * idx + 2);
        texts.push(`${data.exposures[idx]}: ${all ? `${right} of ${all} right` : "no trials"}`);
        for (const [name, share] of [["room", all ? 1 : 0], ["part", all ? right / all : 0]]) {
          const bar = document.createElementNS(SVG, "rect");
          const box = { x: idx * 9, y: 20 - 20 * share, width: 7, height: 20 * share };
          bar.setAttribute("class", name);
          for (const [key, value] of Object.entries(box)) bar.setAttribute(key, value);
          svg.append(bar);
        }
      }
      svg.setAttribute("aria-label", texts.join(", "));
      const title = document.createElementNS(SVG, "title");
      title.textContent = texts.join("\n");
      svg.prepend(title);
      return svg;
    };
    const cell = {
      stimulus: (row) => {
        const code = make("code", "", make("bdi", "", row[ID]));
        code.title = row[ID];
        const th = make("th", "", code);
        th.scope = "row";
        const picture = pictures.get(row[ID]);
        if (picture) {
          const img = make("img", "mini");
          img.src = picture;
          img.alt = "";
          th.prepend(img);
        }
        return th;
      },
      label: (row) => {
        const about = [datasetOf(row), levelOf(row)].filter((name) => name !== null).join(", ");
        const codes = row[CODES].map((code) => data.codes[code]).join(", ");
        const [name, more] = [make("span", "", row[LABEL] ?? "–"), make("small", "", about)];
        name.title = name.textContent;
        more.title = about;
        return make("td", "about", name, more, make("small", "codes", codes));
      },
      band: (row) => {
        const chip = make("span", "chip");
        chip.style.setProperty("--paint", `var(--band-${row[BAND]})`);
        const td = make("td", "num", chip, data.bands[row[BAND]] ?? "–");
        td.title = `by the model: ${data.bands[row[MODEL_BAND]] ?? "–"}`;
        return td;
      },
      threshold: (row) => {
        // Beyond the longest exposure a threshold is an extrapolation: say only that it is beyond.
        if (data.longest_ms !== null && row[THRESHOLD][0] > data.longest_ms) {
          const beyond = make("span", "est", make("b", "", `> ${data.exposures[data.exposures.length - 1]}`), " ",
            make("span", "ci", "not within reach"));
          return make("td", "num", beyond);
        }
        return make("td", "num", estimate(row[THRESHOLD], ...timeScale(row[THRESHOLD][0])));
      },
      difficulty: (row) => make("td", "num", estimate(row[DIFFICULTY], 0.01, "%", 1)),
      trials: (row) => make("td", "num", group(String(row[N]))),
      "": (row) => make("td", "", spark(row[COUNTS])),
    };

    const draw = (fromStart, most = data.page) => {
      const rows = matching();
      const nPages = Math.max(1, Math.ceil(rows.length / most));
      page = fromStart ? 0 : Math.min(Math.max(page, 0), nPages - 1);
      const shown = rows.slice(page * most, (page + 1) * most);
      body.replaceChildren(...shown.map((row) => {
        const tr = document.createElement("tr");
        tr.append(...columns.map((key) => cell[key](row)));
        // On a phone each number follows its heading.
        [...tr.cells].slice(2).forEach((td, idx) => { td.dataset.head = titles[idx + 2]; });
        return tr;
      }));
      const turn = (text, step, off) => {
        const button = make("button", "", text);
        button.type = "button";
        button.disabled = off;
        button.addEventListener("click", () => {
          page += step;
          draw(false);
          pager.querySelectorAll("button")[step < 0 ? 0 : 1].focus();
        });
        return button;
      };
      const range = shown.length ? `${page * most + 1}–${page * most + shown.length} of ${rows.length}` : "No stimulus matches";
      const total = rows.length < data.rows.length ? ` (${data.rows.length} in all)` : "";
      const words = make("span", "", range + total);
      words.setAttribute("aria-live", "polite");
      pager.replaceChildren(turn("← Previous", -1, page === 0), turn("Next →", 1, page >= nPages - 1), words);
    };
    $("stimuli-tools").hidden = false;
    for (const filter of Object.values(filters)) filter?.addEventListener("input", () => draw(true));
    // Paper gets more rows than a screen page, but not thousands.
    const MOST_PRINTED = 100;
    addEventListener("beforeprint", () => draw(true, MOST_PRINTED));
    addEventListener("afterprint", () => draw(true));
    draw(true);

    $("stimuli-csv").addEventListener("click", () => {
      const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
      const line = (cells) => cells.map((value) => quote(String(value ?? ""))).join(",");
      const head = ["stimulus", "label", "dataset", "attribute_level", "band", "model_band", "threshold_ms",
        "threshold_low_ms", "threshold_high_ms", "difficulty", "difficulty_low", "difficulty_high", "n_trials", "n_errors",
        ...data.exposures.flatMap((name) => [`n_correct_at_${name.replace(" ", "_")}`, `n_trials_at_${name.replace(" ", "_")}`]), "caveats"];
      const lines = matching().map((row) => line([row[ID], row[LABEL], datasetOf(row), levelOf(row), data.bands[row[BAND]],
        data.bands[row[MODEL_BAND]], ...row[THRESHOLD], ...row[DIFFICULTY], row[N], row[ERRORS], ...row[COUNTS],
        row[CODES].map((code) => data.codes[code]).join(";")]));
      save("stimuli.csv", "text/csv", `${[line(head), ...lines].join("\n")}\n`);
    });

    for (const button of document.querySelectorAll("[data-show-caveat]")) {
      const idx = data.codes.indexOf(button.dataset.showCaveat);
      if (idx < 0 || !filters.caveat) continue;
      button.hidden = false;
      button.addEventListener("click", () => {
        filters.caveat.value = String(idx);
        draw(true);
        $("stimuli").scrollIntoView();
      });
    }
  }

  // The table of contents shows where one is.
  const links = new Map([...document.querySelectorAll(".toc a")].map((a) => [a.hash.slice(1), a]));
  const list = document.querySelector(".toc ol");
  let current = null;
  const follow = () => {
    let here = null;
    for (const [id, link] of links) if ($(id) && $(id).getBoundingClientRect().top < innerHeight * 0.3) here = link;
    if (scrollY + innerHeight >= document.documentElement.scrollHeight - 2) here = [...links.values()].at(-1) ?? here;
    if (here === current) return;
    current?.removeAttribute("aria-current");
    here?.setAttribute("aria-current", "true");
    current = here;
    if (here && list.scrollWidth > list.clientWidth) list.scrollLeft = here.offsetLeft - list.clientWidth / 2 + here.offsetWidth / 2;
  };
  addEventListener("scroll", follow, { passive: true });
  follow();
})();
