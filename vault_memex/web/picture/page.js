"use strict";
// The page of `vault-memex graph show`. Texts of notes reach the page only through textContent and the canvas.
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const LARGE = 1500; // notes; more are laid out while the picture is shown, not before
  const TICKS = 120; // steps in which they are laid out
  const MOST_RESULTS = 30;
  const MOST_NAMES = 90; // drawn at once
  const FEW_NAMES = 24; // the same while a large vault is seen from afar
  const MOST_IN_WAY = 300; // notes that names keep clear of
  const PATH_LINKS = 200; // lines in one path
  const LAYERS = ["past", "state", "rule"]; // each keeps its colour
  const COLOURS = 8; // beside the neutral one

  // --- the picture's data

  const notes = data.notes.map(([path, title, layer, type, tags], id) => ({
    id, path, title, layer, type, tags: tags.map((tag) => data.tags[tag]), out: [], in: [], shown: true,
    folder: path.includes("/") ? path.slice(0, path.indexOf("/")) : "",
  }));
  const links = data.links.map(([source, target, ...types]) => ({
    source: notes[source], target: notes[target], types: types.map((type) => data.relations[type]),
  }));
  for (const link of links) {
    link.source.out.push(link);
    link.target.in.push(link);
  }
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const during = (time) => (calm ? 0 : time); // milliseconds of a movement
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  for (const note of notes) {
    note.key = fold([note.title, note.path, ...note.tags.map((tag) => `#${tag}`)].join("\n"));
    note.titleKey = fold(note.title);
    note.links = note.out.length + note.in.length;
    note.radius = Math.min(3 + 1.5 * Math.sqrt(note.links), 22);
  }
  const byWeight = [...notes].sort((a, b) => b.links - a.links || a.id - b.id);
  const count = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;

  const spell = (type) => type.replaceAll("_", " ");
  const shorten = (type) => spell(type.replace(/ \((from|until) [^()]*\)$/, "")); // without the time it holds for

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  // --- what is shown, found, picked

  const filter = { tag: "", layer: "", type: "" };
  let found = null; // a Set of notes while something is searched for
  let picked = null;
  let hovered = null;
  let arranging = true; // until the notes have their places
  const isBusy = () => arranging && notes.length > LARGE;
  let near = null; // the picked or hovered note and its neighbours

  const NONE = "\u0000"; // stands for "no layer" and "no type": no value of a note
  const hasTag = (note, tag) => note.tags.some((own) => fold(own) === tag || fold(own).startsWith(`${tag}/`));

  function passes(note) {
    if (filter.tag && !hasTag(note, filter.tag)) return false;
    if (filter.layer && note.layer !== (filter.layer === NONE ? "" : filter.layer)) return false;
    return !filter.type || note.type === (filter.type === NONE ? "" : filter.type);
  }

  function applyFilter() {
    for (const note of notes) note.shown = passes(note);
    showCounts();
    search();
    redraw();
  }

  function showCounts() {
    const shown = notes.filter((note) => note.shown).length;
    const lines = links.filter((link) => link.source.shown && link.target.shown).length;
    const part = (some, all, one) => (some === all ? count(all, one) : `${some.toLocaleString("en")} of ${count(all, one)}`);
    const limits = data.filters.length
      ? ` This page holds only ${data.filters.join(", ")}; the vault has ${count(data.notesTotal, "note")}.` : "";
    $("counts").textContent = `Shows ${part(shown, notes.length, "note")} and ${part(lines, links.length, "link")}.${limits}`;
  }

  function look() {
    const middle = picked || hovered;
    near = middle && new Set([middle, ...middle.out.map((l) => l.target), ...middle.in.map((l) => l.source)]);
    redraw();
  }

  const isFaded = (note) => (near && !near.has(note)) || (found && !found.has(note) && !(near && near.has(note)));
  const isNear = (link) => {
    const middle = picked || hovered;
    return middle && (link.source === middle || link.target === middle);
  };

  // --- colours

  const modes = {
    layer: { of: (note) => note.layer, none: "no layer" },
    type: { of: (note) => note.type, none: "no type" },
    folder: { of: (note) => note.folder, none: "top of the vault" },
  };
  let mode = "layer";
  let palette = new Map();
  let theme = {};

  function countBy(of) {
    const counts = new Map();
    for (const note of notes) counts.set(of(note), (counts.get(of(note)) || 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  }

  function readTheme() {
    const style = getComputedStyle(document.documentElement);
    const names = ["ground", "text", "quiet", "line", "line-typed", "line-picked", "faded", "halo"];
    theme = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    theme.colours = Array.from({ length: COLOURS + 1 }, (_, i) => style.getPropertyValue(`--c${i}`).trim());
  }

  function paintLegend() {
    const counts = countBy(modes[mode].of);
    const named = counts.filter(([value]) => value).slice(0, COLOURS);
    if (mode === "layer") named.sort((a, b) => LAYERS.indexOf(a[0]) - LAYERS.indexOf(b[0]));
    palette = new Map(named.map(([value], place) => [value, (mode === "layer" ? LAYERS.indexOf(value) : place) + 1]));
    const others = counts.filter(([value]) => value && !palette.has(value));
    const rows = named.map(([value, some]) => [palette.get(value), value, some]);
    const rest = others.reduce((sum, [, some]) => sum + some, 0);
    if (rest) rows.push([0, `${others.length} more`, rest]);
    const none = counts.find(([value]) => !value);
    if (none) rows.push([0, modes[mode].none, none[1]]);
    $("legend").replaceChildren(...rows.map(([colour, name, some]) => {
      const row = element("li");
      row.append(element("i", "", { style: `background: var(--c${colour})` }), `${name} ${some.toLocaleString("en")}`);
      return row;
    }));
    for (const [kind, text, there] of [
      ["entity", "entity", notes.some((note) => note.type)],
      ["typed", "named relation", links.some((link) => link.types.length)],
    ]) {
      if (!there) continue;
      const row = element("li");
      row.append(element("i", "", { class: kind }), text);
      $("legend").append(row);
    }
    redraw();
  }

  const colourOf = (note) => theme.colours[palette.get(modes[mode].of(note)) || 0];

  // --- drawing

  let graph = null;
  let aspect = { x: 1, y: 1 };
  let moved = false; // once the person has moved the view, it is theirs
  const redraw = () => graph && graph.nodeColor(colourOf);

  function paintNote(note, ctx, scale) {
    if (calm && isBusy()) return;
    ctx.fillStyle = isFaded(note) ? theme.faded : colourOf(note);
    if (note.radius * scale < 2 && note !== picked) { // so small that nobody sees the corners
      const side = 1.8 * Math.max(note.radius, 0.8 / scale);
      ctx.fillRect(note.x - side / 2, note.y - side / 2, side, side);
      return;
    }
    ctx.beginPath();
    ctx.arc(note.x, note.y, note.radius, 0, 2 * Math.PI);
    ctx.fill();
    ctx.lineWidth = 1;
    ctx.strokeStyle = theme.halo;
    ctx.stroke();
    if (note.type && !isFaded(note)) {
      ctx.beginPath();
      ctx.arc(note.x, note.y, note.radius + 2.2, 0, 2 * Math.PI);
      ctx.lineWidth = 1.2;
      ctx.strokeStyle = colourOf(note);
      ctx.stroke();
    }
    if (note === picked) {
      ctx.beginPath();
      ctx.arc(note.x, note.y, note.radius + 5, 0, 2 * Math.PI);
      ctx.lineWidth = 2.5;
      ctx.strokeStyle = theme["line-picked"];
      ctx.stroke();
    }
  }

  // The lines are drawn here and not by the library, which puts all of one style into one path: with 30,000 links
  // a browser without a graphics card takes seconds for that.
  function paintLinks(ctx, scale) {
    if (isBusy()) return;
    const quiet = near || found;
    const styles = [[theme.line, 1, []], [theme["line-typed"], 1.2, []], [theme.faded, 1, []], [theme["line-picked"], 1.8, []]];
    for (const link of links) {
      if (!link.source.shown || !link.target.shown) continue;
      styles[isNear(link) ? 3 : quiet ? 2 : link.types.length ? 1 : 0][2].push(link);
    }
    const thin = Math.min(1, Math.max(0.25, (9 * LARGE * scale) / links.length)); // or a crowd of lines is a blot
    for (const [colour, width, some] of styles) {
      ctx.globalAlpha = colour === theme["line-picked"] ? 1 : thin;
      ctx.strokeStyle = colour;
      ctx.lineWidth = width / scale;
      for (let from = 0; from < some.length; from += PATH_LINKS) {
        ctx.beginPath();
        for (const link of some.slice(from, from + PATH_LINKS)) {
          ctx.moveTo(link.source.x, link.source.y);
          ctx.lineTo(link.target.x, link.target.y);
        }
        ctx.stroke();
      }
    }
    ctx.globalAlpha = 1;
    ctx.fillStyle = theme["line-picked"];
    for (const link of styles[3][2]) paintArrow(link, ctx, scale);
  }

  function paintArrow({ source, target }, ctx, scale) {
    const angle = Math.atan2(target.y - source.y, target.x - source.x);
    const size = 9 / scale;
    const tip = target.radius + 2 / scale;
    ctx.beginPath();
    for (const [back, turn] of [[tip, 0], [tip + size, 0.4 * size], [tip + size, -0.4 * size]]) {
      ctx.lineTo(
        target.x - back * Math.cos(angle) - turn * Math.sin(angle),
        target.y - back * Math.sin(angle) + turn * Math.cos(angle),
      );
    }
    ctx.fill();
  }

  // Names are drawn last, the best linked first, each where no other stands.
  function paintNames(ctx, scale) {
    if (isBusy()) return;
    const taken = [];
    const size = 12 / scale;
    const corner = graph.screen2GraphCoords(0, 0);
    const far = graph.screen2GraphCoords(graph.width(), graph.height());
    ctx.font = `${size}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    ctx.lineJoin = "round";
    let left = notes.length > LARGE && scale < 0.5 ? FEW_NAMES : MOST_NAMES;
    let tries = 6 * left;
    const first = near ? [...near].filter((note) => note.shown) : [];
    const middle = picked || hovered;
    const isIn = (note) => note.x > corner.x && note.x < far.x && note.y > corner.y && note.y < far.y;
    const seen = notes.filter((note) => note.shown && isIn(note));
    if (seen.length <= MOST_IN_WAY) for (const { x, y, radius: r } of seen) taken.push([x - r, y - r, x + r, y + r]);
    first.sort((a, b) => (b === middle) - (a === middle) || b.links - a.links || a.id - b.id);
    for (const note of new Set([...first, ...byWeight])) {
      if (!left || !tries) break;
      if (!note.shown || (isFaded(note) && note !== hovered)) continue;
      if (!isIn(note)) continue;
      tries -= 1;
      left -= paintName(note, ctx, size, taken);
    }
    if (near) for (const link of links) if (link.types.length && isNear(link)) paintType(link, ctx, size, taken);
  }

  // Below the note, else above or beside it; not at all where everything is taken. Returns how many were drawn.
  function paintName(note, ctx, size, taken) {
    const text = note.title.length > 40 ? `${note.title.slice(0, 39)}…` : note.title;
    const { x, y, radius } = note;
    const ring = note === picked ? 6.5 : note.type ? 3 : 0;
    const [gap, half] = [radius + ring + size / 4, ctx.measureText(text).width / 2];
    const places = [[x, y + gap], [x, y - gap - size * 1.2], [x + gap + half, y - size * 0.6], [x - gap - half, y - size * 0.6]];
    const place = places.find(([left, top]) => claim(left, top, half, size, taken));
    if (place) paintText(text, ...place, ctx, size, theme.text);
    return place ? 1 : 0;
  }

  function paintType(link, ctx, size, taken) {
    const [a, b] = [link.source, link.target];
    if (!a.shown || !b.shown) return;
    const text = link.types.map(shorten).join(", ");
    const half = ctx.measureText(text).width / 2;
    const places = [0.5, 0.62, 0.38, 0.74].map((part) => [a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part - size / 2]);
    const place = places.find(([x, y]) => claim(x, y, half, size, taken));
    if (place) paintText(text, ...place, ctx, size, theme["line-picked"]);
  }

  function claim(x, y, half, size, taken) {
    const box = [x - half - size / 4, y, x + half + size / 4, y + size * 1.2];
    if (taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1])) return false;
    taken.push(box);
    return true;
  }

  function paintText(text, x, y, ctx, size, colour) {
    ctx.lineWidth = size / 4;
    ctx.strokeStyle = theme.halo;
    ctx.strokeText(text, x, y);
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
  }

  // Pulls everything a little towards the middle, or what is not linked would drift out of sight; less along the
  // longer side of the stage.
  function gravity(alpha) {
    for (const note of notes) {
      const pull = (note.links ? 0.06 : 0.11) * alpha;
      note.vx -= note.x * pull * aspect.x;
      note.vy -= note.y * pull * aspect.y;
    }
  }

  // Notes of a folder begin side by side, so that little is left to arrange. The same page gives the same picture.
  function placeNotes() {
    const folders = new Map();
    for (const note of notes) {
      const folder = note.path.slice(0, note.path.lastIndexOf("/") + 1);
      if (!folders.has(folder)) folders.set(folder, []);
      folders.get(folder).push(note);
    }
    const golden = Math.PI * (3 - Math.sqrt(5));
    const spread = 22;
    let before = 0;
    [...folders.values()].sort((a, b) => b.length - a.length).forEach((some, turn) => {
      const away = spread * Math.sqrt(before + (before ? some.length / 2 : 0));
      before += some.length;
      some.forEach((note, place) => {
        const out = spread * Math.sqrt(place + 0.5);
        note.x = away * Math.cos(turn * golden) + out * Math.cos(place * golden);
        note.y = away * Math.sin(turn * golden) + out * Math.sin(place * golden);
      });
    });
  }

  function draw() {
    placeNotes();
    const area = freeArea();
    const wide = Math.sqrt((area.right - area.left) / (area.bottom - area.top));
    aspect = { x: 1 / wide, y: wide };
    const large = notes.length > LARGE;
    graph = new ForceGraph($("stage"))
      .nodeLabel((note) => (large ? element("span", note.title) : "")) // an element: texts would be read as HTML
      .nodeCanvasObject(paintNote)
      .nodePointerAreaPaint((note, colour, ctx) => {
        ctx.fillStyle = colour;
        ctx.beginPath();
        ctx.arc(note.x, note.y, note.radius + 4, 0, 2 * Math.PI);
        ctx.fill();
      })
      .nodeVisibility((note) => note.shown)
      .linkVisibility(false)
      .onRenderFramePre(paintLinks)
      .onRenderFramePost(paintNames)
      .onNodeClick((_, event) => pick(findNote(event)))
      .onBackgroundClick((event) => pick(findNote(event)))
      .onNodeHover((note) => { if (!large) { hovered = note; if (!picked) look(); } })
      .enableNodeDrag(!large)
      .minZoom(0.02)
      .maxZoom(12)
      .warmupTicks(large ? 0 : 200)
      .cooldownTicks(large ? TICKS : 0)
      .d3AlphaDecay(large ? 0.04 : 0.0228)
      .cooldownTime(120000);
    graph.d3Force("charge").strength(large ? -40 : -220).theta(large ? 1.3 : 0.9);
    graph.d3Force("link").distance((link) => 34 + link.source.radius + link.target.radius);
    graph.d3Force("gravity", gravity);
    graph.onEngineStop(() => {
      arranging = false;
      graph.cooldownTicks(60);
      $("busy").hidden = true;
      if (!moved) fit(0);
      redraw();
    });
    let ticks = 0;
    graph.onEngineTick(() => {
      if (!moved && ticks % 10 === 0) fit(0);
      ticks += 1;
      if (isBusy()) $("busy").textContent = `Arranging them, ${Math.floor((100 * ticks) / TICKS)} %. Lines follow.`;
    });
    $("busy").hidden = !isBusy();
    graph.graphData({ nodes: notes, links });
    resize();
    for (const event of ["wheel", "pointerdown"]) {
      $("stage").addEventListener(event, () => { moved = true; }, { passive: true });
    }
  }

  function resize() {
    graph.width($("stage").clientWidth).height($("stage").clientHeight);
  }

  const isNarrow = () => matchMedia("(max-width: 720px)").matches;

  // The part of the stage that no panel covers, in pixels.
  function freeArea() {
    const [controls, panel] = [$("controls").getBoundingClientRect(), $("note").getBoundingClientRect()];
    const open = !$("note").hidden;
    return isNarrow()
      ? { left: 0, right: innerWidth, top: controls.bottom, bottom: open ? panel.top : innerHeight }
      : { left: controls.right, right: open ? panel.left : innerWidth, top: 0, bottom: innerHeight };
  }

  // Puts a place of the graph in the middle of the free area.
  function centre(x, y, zoom, time) {
    const area = freeArea();
    const aside = ((area.left + area.right - innerWidth) / 2) / zoom;
    const down = ((area.top + area.bottom - innerHeight) / 2) / zoom;
    graph.zoom(zoom, time).centerAt(x - aside, y - down, time);
  }

  function fit(time) {
    const box = graph.getGraphBbox((note) => note.shown);
    if (!box) return;
    const area = freeArea();
    const edge = isNarrow() ? 24 : 48;
    const across = (area.right - area.left - 2 * edge) / (box.x[1] - box.x[0]);
    const down = (area.bottom - area.top - 2 * edge) / (box.y[1] - box.y[0]);
    centre((box.x[0] + box.x[1]) / 2, (box.y[0] + box.y[1]) / 2, Math.min(across, down, 4), time);
  }

  // --- search

  let active = -1;

  function search() {
    const words = fold($("search").value).split(/\s+/).filter(Boolean);
    found = null;
    active = -1;
    if (words.length) {
      const rank = (note) => (note.titleKey.startsWith(words[0]) ? 0 : note.titleKey.includes(words[0]) ? 1 : 2);
      const hits = byWeight.filter((note) => note.shown && words.every((word) => note.key.includes(word)));
      found = new Set(hits);
      hits.sort((a, b) => rank(a) - rank(b));
      showResults(hits);
    } else {
      showResults(null);
    }
    redraw();
  }

  function showResults(hits) {
    const open = Boolean(hits && hits.length);
    $("results").hidden = !open;
    $("found").hidden = !hits;
    $("search").setAttribute("aria-expanded", String(open));
    $("search").removeAttribute("aria-activedescendant");
    if (!hits) return;
    $("results").replaceChildren(...hits.slice(0, MOST_RESULTS).map((note, place) => {
      const row = element("li", note.title, { role: "option", id: `hit-${place}`, "aria-selected": "false" });
      row.append(element("small", note.path));
      row.addEventListener("click", () => choose(note));
      row.note = note;
      return row;
    }));
    const more = hits.length > MOST_RESULTS ? `, the first ${MOST_RESULTS} listed` : "";
    $("found").textContent = hits.length ? `${count(hits.length, "note")} found${more}.` : "No note found.";
  }

  function choose(note) {
    if (isNarrow()) {
      $("search").value = ""; // the list would cover the picture
      search();
    }
    pick(note);
    show(note);
  }

  function activate(step) {
    const rows = $("results").children;
    if (!rows.length || $("results").hidden) return;
    if (active >= 0) rows[active].setAttribute("aria-selected", "false");
    active = (active + step + rows.length + (active < 0 && step < 0 ? 1 : 0)) % rows.length;
    rows[active].setAttribute("aria-selected", "true");
    rows[active].scrollIntoView({ block: "nearest" });
    $("search").setAttribute("aria-activedescendant", rows[active].id);
  }

  function onSearchKey(event) {
    if (event.key === "ArrowDown") activate(1);
    else if (event.key === "ArrowUp") activate(-1);
    else if (event.key === "Enter") {
      const row = $("results").children[Math.max(active, 0)];
      if (!row || $("results").hidden) return;
      choose(row.note);
      $("note").focus();
    } else if (event.key === "Escape" && $("search").value) {
      $("search").value = "";
      search();
      event.stopPropagation();
    } else return;
    event.preventDefault();
  }

  // The note at a place on the screen, or null. The library's own answer is up to a second old after a movement.
  function findNote({ clientX, clientY, pointerType }) {
    const { x, y } = graph.screen2GraphCoords(clientX, clientY);
    const slack = (pointerType === "touch" ? 14 : 4) / graph.zoom();
    let [best, nearest] = [null, Infinity];
    for (const note of notes) {
      const away = Math.hypot(note.x - x, note.y - y) - note.radius;
      if (note.shown && away < slack && away < nearest) [best, nearest] = [note, away];
    }
    return best;
  }

  // --- one note

  function pick(note) {
    if (note && !note.shown) reset();
    picked = note;
    $("note").hidden = !note;
    if (note) showNote(note);
    look();
  }

  // Brings a note into the middle, so near that its neighbours are still in sight where that can be.
  function show(note) {
    moved = true;
    const area = freeArea();
    const [across, down] = [(area.right - area.left) / 2 - 70, (area.bottom - area.top) / 2 - 50];
    const reach = [...near].filter((other) => other.shown).map((other) => Math.min(
      across / Math.max(Math.abs(other.x - note.x), 1), down / Math.max(Math.abs(other.y - note.y), 1),
    ));
    centre(note.x, note.y, Math.max(0.7, Math.min(2.2, ...reach)), during(400));
  }

  function showNote(note) {
    $("title").textContent = note.title;
    $("path").textContent = note.path;
    $("facts").textContent = [
      note.layer ? `layer ${note.layer}` : "no layer", note.type ? `type ${note.type}` : "",
    ].filter(Boolean).join(" · ");
    $("tags").replaceChildren(...note.tags.map((tag) => {
      const row = element("li");
      const button = element("button", `#${tag}`, { type: "button", title: "Show only this tag" });
      button.addEventListener("click", () => {
        filter.tag = fold(tag);
        $("tag").value = filter.tag;
        applyFilter();
      });
      row.append(button);
      return row;
    }));
    $("open").hidden = !data.notesUrl;
    if (data.notesUrl) $("open").href = data.notesUrl + note.path.split("/").map(encodeURIComponent).join("/");
    $("obsidian").href =
      `obsidian://open?vault=${encodeURIComponent(data.vault)}&file=${encodeURIComponent(note.path.replace(/\.md$/i, ""))}`;
    listLinks("out", count(note.out.length, "link"), note.out, "target");
    listLinks("in", count(note.in.length, "backlink"), note.in, "source");
    $("note").scrollTop = 0;
  }

  function listLinks(id, head, some, end) {
    $(`${id}-head`).textContent = head;
    const byTitle = (a, b) => (a[end].titleKey < b[end].titleKey ? -1 : 1);
    $(id).replaceChildren(...[...some].sort(byTitle).map((link) => {
      const other = link[end];
      const row = element("li");
      const button = element("button", "", { type: "button", title: other.path });
      const place = palette.get(modes[mode].of(other)) || 0;
      button.append(element("i", "", { style: `background: var(--c${place})` }));
      button.append(other.title);
      if (!other.shown) button.append(element("small", " (filtered out)"));
      if (link.types.length) button.append(element("small", link.types.map(spell).join(", "), { class: "relation" }));
      button.addEventListener("click", () => { pick(other); show(other); $("note").focus(); });
      row.append(button);
      return row;
    }));
  }

  // --- filters

  function fillSelect(id, all, options) {
    $(id).replaceChildren(element("option", all, { value: "" }), ...options.map(([value, text]) => element("option", text, { value })));
    $(id).addEventListener("change", () => { filter[id] = $(id).value; applyFilter(); });
  }

  function countTags() {
    const tags = new Map(); // by folded name: spelling, notes
    for (const note of notes) {
      const own = new Map();
      for (const tag of note.tags) {
        const parts = tag.split("/");
        for (let depth = 1; depth <= parts.length; depth++) {
          const name = parts.slice(0, depth).join("/");
          own.set(fold(name), name);
        }
      }
      for (const [key, name] of own) {
        const known = tags.get(key) || [name, 0];
        tags.set(key, [known[0], known[1] + 1]);
      }
    }
    return [...tags].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  }

  function fillFilters() {
    fillSelect("tag", "all", countTags().map(([key, [name, some]]) => [key, `#${name} (${some})`]));
    for (const id of ["layer", "type"]) {
      const options = countBy(modes[id].of).map(([value, some]) => [value || NONE, `${value || modes[id].none} (${some})`]);
      fillSelect(id, "all", options);
    }
    const useful = Object.keys(modes).filter((name) => countBy(modes[name].of).length > 1);
    mode = useful[0] || "layer";
    $("colour").replaceChildren(...Object.keys(modes).map((name) => element("option", name, { value: name })));
    $("colour").value = mode;
    $("colour").addEventListener("change", () => {
      mode = $("colour").value;
      paintLegend();
      if (picked) showNote(picked);
    });
  }

  function reset() {
    for (const id of ["tag", "layer", "type"]) filter[id] = $(id).value = "";
    $("search").value = "";
    applyFilter();
  }

  // --- keyboard and start

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape") { pick(null); $("stage").focus(); return; }
    if (typing) return;
    const step = 80 / graph.zoom();
    const { x, y } = graph.centerAt();
    const keys = {
      "/": () => $("search").focus(),
      "+": () => graph.zoom(graph.zoom() * 1.4, during(150)),
      "=": () => graph.zoom(graph.zoom() * 1.4, during(150)),
      "-": () => graph.zoom(graph.zoom() / 1.4, during(150)),
      0: () => fit(during(300)),
    };
    if (event.target === $("stage")) {
      Object.assign(keys, {
        ArrowLeft: () => graph.centerAt(x - step, y, during(100)), ArrowRight: () => graph.centerAt(x + step, y, during(100)),
        ArrowUp: () => graph.centerAt(x, y - step, during(100)), ArrowDown: () => graph.centerAt(x, y + step, during(100)),
      });
    }
    if (!keys[event.key]) return;
    moved = true;
    keys[event.key]();
    event.preventDefault();
  }

  $("vault").textContent = data.vault;
  $("filters").open = !isNarrow();
  fillFilters();
  readTheme();
  paintLegend();
  showCounts();
  draw();
  $("search").addEventListener("input", search);
  $("search").addEventListener("keydown", onSearchKey);
  $("close").addEventListener("click", () => { pick(null); $("stage").focus(); });
  $("reset").addEventListener("click", () => { reset(); fit(during(300)); });
  $("nearer").addEventListener("click", () => graph.zoom(graph.zoom() * 1.4, during(150)));
  $("farther").addEventListener("click", () => graph.zoom(graph.zoom() / 1.4, during(150)));
  $("fit").addEventListener("click", () => fit(during(300)));
  addEventListener("keydown", onKey);
  addEventListener("resize", resize);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); redraw(); });
})();
