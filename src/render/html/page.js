// The one script of a page, whose policy has its hash: hover, zoom, sort, filter, copy. Text goes in with textContent only.
"use strict";
(() => {
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const block = byId("data"), root = document.documentElement;
const data = block ? JSON.parse(block.textContent) : { runs: [] };
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

const r = (x) => x.toFixed(1);

function make(parent, name, attributes, text) {
	const element = document.createElementNS(SVG, name);
	for (const key in attributes) element.setAttribute(key, attributes[key]);
	if (text) element.textContent = text;
	return parent.appendChild(element);
}

function listen(element, names, listener) {
	for (const name of names.split(" ")) element.addEventListener(name, listener);
}

// numbers with units, as in the text

function prefix(x, unit) {
	const binary = unit.startsWith("B") && !data.decimal, base = binary ? 1024 : 1000;
	const at = x === 0 ? 0 : clamp(Math.floor(Math.log(Math.abs(x) / 0.9995) / Math.log(base)), binary ? 0 : -3, 6);
	return [base ** at, at && binary ? "KMGTPE"[at - 1] + "i" : "nµm kMGTPE"[at + 3].trim()];
}

function timeUnit(x) {
	x = Math.abs(x);
	const units = [[345600, 86400, "d"], [10800, 3600, "h"], [1, 1, "s"], [1e-3, 1e-3, "ms"], [0, 1e-6, "µs"]];
	return units.find(([least]) => (x || 1) >= least).slice(1);
}

const digits = (x) => (x === 0 ? "0" : Number(x.toPrecision(3)).toString());

function quantity(x, unit) {
	if (!unit || unit === "%") return (digits(x) + " " + unit).trim();
	const [factor, name] = unit === "s" ? timeUnit(x) : prefix(x, unit);
	return digits(x / factor) + " " + name + (unit === "s" ? "" : unit);
}

const clock = (t, span) => t.toFixed(clamp(2 - Math.floor(Math.log10(span || 1)), 0, 6)) + " s";

// state, in the fragment of the address: t=10-20&rank=3&find=CODE&sort=files.time&heat=both&scale=linear&rows=node&hide=size&run=2

const KEYS = ["find", "rank", "sort", "heat", "scale", "rows", "hide", "theme"];
const state = { t: null, run: 1 };
/** Times and rank of the finding that is shown. */
let found = [], rank;

function readState() {
	const fragment = decodeURIComponent(location.hash.slice(1));
	if (fragment && !fragment.includes("=")) {
		state.run = Number(byId(fragment)?.closest(".run")?.id.slice(4) || state.run);
		return;
	}
	const given = new URLSearchParams(fragment), range = /^(-?[\d.]+)-(-?[\d.]+)$/.exec(given.get("t"))?.slice(1).map(Number);
	state.t = range && range[0] < range[1] ? range : null;
	for (const key of KEYS) state[key] = given.get(key);
	state.run = clamp(Number(given.get("run")) || 1, 1, Math.max(1, data.runs.length));
}

function writeState(change) {
	Object.assign(state, change);
	const parts = [];
	if (state.t) parts.push("t=" + state.t.map((x) => Number(x.toFixed(6))).join("-"));
	for (const key of KEYS) if (state[key]) parts.push(key + "=" + encodeURIComponent(state[key]));
	if (state.run > 1) parts.push("run=" + state.run);
	history.pushState(null, "", "#" + parts.join("&"));
	apply();
}

// pictures

const frames = [];

function part({ whole }, range) {
	const both = range && [Math.max(range[0], whole[0]), Math.min(range[1], whole[1])];
	return both && both[0] < both[1] ? both : whole;
}

/** A panel of a figure: what lies over its data moves with the axis to the right. */
function Frame(panel, figure, i, above = 0) {
	Object.assign(this, panel, { i, above, range: panel.x.range, whole: panel.x.range });
	this.svg = figure.querySelector("svg");
	this.readout = figure.querySelector(".readout");
	this.zoomed = all("g.zoomed", this.svg)[i];
	[this.lines, this.texts] = ["line", "text"].map((name) => all(name, all("g.x", this.svg)[i]));
	this.boxes = all("g.boxes", this.zoomed);
	this.waves = all("g.wave polyline", this.zoomed);
	this.named = this.layers.filter((l) => l.text);
	this.tags = all("text", all("g.rows", this.svg)[i]).map((tag) => [tag, tag.getAttribute("x")]);
	this.first = this.lines.map((line, k) => [line.getAttribute("x1"), this.texts[k]?.textContent]);
}

const span = ([low, high]) => high - low;

Frame.prototype = {
	at(v, [low, high] = this.range) { return this.box[0] + (v - low) / (high - low) * (this.box[2] - this.box[0]); },
	/** The value of the axis to the right at a place of the picture. */
	place(px) { return this.range[0] + (px - this.box[0]) / (this.box[2] - this.box[0]) * span(this.range); },
	has(y) { return y > (this.above + this.box[1]) / 2 && y <= this.box[3] + 12; },
	show(range) {
		this.range = part(this, this.time && range);
		if (this.time) [this.svg.dataset.from, this.svg.dataset.to] = this.range;
		const scale = span(this.whole) / span(this.range);
		this.zoomed.setAttribute("transform", "matrix(" + scale + " 0 0 1 " + (this.box[0] - this.at(this.range[0], this.whole) * scale) + " 0)");
		if (this.time) {
			this.mark();
			this.wave();
			this.tags.forEach(([tag, first], k) => {
				const x = this.range === this.whole ? first : Math.max(this.box[0], this.at(this.named[k].spans[0][0]));
				tag.style.display = x > this.box[2] ? "none" : "";
				tag.setAttribute("x", x);
			});
		}
		all(".found", this.zoomed).forEach((rect) => rect.remove());
		for (const [a, b] of this.time ? found : []) {
			const x = this.at(a, this.whole), width = Math.max(1 / scale, this.at(b, this.whole) - x);
			make(this.zoomed, "rect", { class: "span found", x, width, y: this.box[1], height: this.box[3] - this.box[1] });
		}
		const chosen = rank && new RegExp("rank " + Number(rank) + "(?!\\d)");
		this.layers.filter((l) => l.kind === "boxes").forEach((l, k) => l.labels.forEach((label, i) => {
			this.boxes[k].children[i].style.display = chosen && !chosen.test(label) ? "none" : "";
		}));
	},
	/** Moves the marks of the axis to round values of what is shown. */
	mark() {
		const { lines, texts, per, range, whole, first } = this, n = lines.length;
		const least = span(range) / per / n, power = 10 ** Math.floor(Math.log10(least));
		const step = ([1, 2, 5].find((m) => m * power >= least * (1 - 1e-9)) || 10) * power, places = clamp(-Math.floor(Math.log10(step * 1.0001)), 0, 12);
		const start = Math.ceil(range[0] / per / step);
		lines.forEach((line, i) => {
			const v = (start + i) * step, [x, text] = range === whole ? first[i] : [this.at(v * per), v.toFixed(places)];
			line.style.display = x > this.box[2] + 1 ? "none" : "";
			for (const key of ["x1", "x2"]) line.setAttribute(key, x);
			if (!texts[i]) return;
			texts[i].style.display = line.style.display;
			texts[i].setAttribute("x", x);
			texts[i].textContent = text;
		});
	},
	/** Draws cosines as finely as they are seen. */
	wave() {
		const { box, range, whole, y } = this, waves = this.layers.filter((l) => l.kind === "wave");
		const { a, e, f } = this.zoomed.firstElementChild.transform.baseVal.consolidate().matrix;
		waves.forEach((w, k) => {
			const from = Math.max(w.span[0], range[0]), to = Math.min(w.span[1], range[1]), points = [];
			const n = from < to && span(range) * w.frequency <= 80 ? Math.ceil(24 * (to - from) * w.frequency) + 24 : -1;
			for (let i = 0; i <= n; i++) {
				const t = from + (to - from) * i / n, v = w.mean + w.amplitude * Math.cos(2 * Math.PI * w.frequency * t + w.phase);
				points.push(((this.at(t, whole) - e) / a).toFixed(3) + "," + r((box[3] - (v - y.range[0]) / span(y.range) * (box[3] - box[1]) - f) / a));
			}
			this.waves[k].setAttribute("points", points.join(" "));
		});
	},
	/** What is at a place. */
	read(px, py) {
		const { x, y, box } = this, width = span(this.range), v = this.place(px);
		const h = y.range[0] + (box[3] - py) / (box[3] - box[1]) * span(y.range);
		const parts = [x.numbers === "time" ? clock(v, width) : quantity(v, x.unit)];
		for (const l of this.layers) {
			if (l.values) {
				const value = l.values[Math.floor((v - l.start) / l.step)];
				if (value) parts.push(l.name + " " + quantity(value, y.unit));
			} else if (l.kind === "spans") {
				if (l.name && l.spans.some(([a, b]) => v >= a && v <= b)) parts.push(l.name);
			} else if (l.labels) {
				const reach = width / 300, i = l.boxes.findIndex((b) => v >= b[0] - reach && v <= b[2] + reach && h >= b[1] && h <= b[3]), b = l.boxes[i];
				if (l.labels[i]) parts.push(l.labels[i], "offset " + quantity(b[1], "B"), quantity(b[3] - b[1], "B"), clock(b[0], width), quantity(b[2] - b[0], "s"));
			} else if (l.points) {
				const best = l.points.reduce((a, b) => (Math.abs(b[0] - v) < Math.abs(a[0] - v) ? b : a), [Infinity]);
				if (Math.abs(best[0] - v) <= width / 60) parts.push(l.name + " " + quantity(best[1], y.unit));
			}
		}
		return parts.filter(Boolean).join(" · ");
	},
};

// heat maps: one figure with switches for layer and direction

const canvas = (width, height) => Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });

function Heat(heat, ...frame) {
	Frame.call(this, ...frame);
	const { palette, columns, rows } = this.heat = heat;
	this.image = this.zoomed.querySelector("image");
	this.bars = all("g.side rect", this.svg);
	this.lengths = this.bars.map((bar) => bar.getAttribute("width"));
	this.order = rows.map((_, i) => i);
	this.colours = palette.map(([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0);
	const levels = new Map(this.colours.map((c, i) => [c, i / (heat.levels - 1) - 1])), picture = new Image();
	listen(picture, "load", () => {
		const context = canvas(columns, rows.length);
		context.drawImage(picture, 0, 0);
		const pixels = new Uint32Array(context.getImageData(0, 0, columns, rows.length).data.buffer);
		this.cells = Float64Array.from(pixels, (c) => (levels.has(c) ? heat.most * 10 ** (levels.get(c) * heat.decades) : 0));
		this.show(state.t);
	});
	picture.src = this.image.getAttribute("href");
}

Heat.prototype = {
	...Frame.prototype,
	/** The chosen scale and order of rows. */
	paint() {
		const { heat, order, box: [, top, , bottom], svg, cells } = this, height = bottom - top, { columns, rows, decades, most } = heat, n = rows.length;
		const log = state.scale !== "linear", by = { bytes: 2, end: 3, node: 4 }[state.rows], key = log + "," + by;
		if (this.painted === key || !cells) return;
		this.painted = key;
		const value = (row) => (by ? rows[row][by] ?? -1e99 : 0) * (by === 4 ? -1 : 1);
		order.sort((a, b) => value(b) - value(a) || a - b);
		const context = canvas(columns, n), picture = context.createImageData(columns, n), pixels = new Uint32Array(picture.data.buffer);
		order.forEach((row, i) => {
			for (let k = 0; k < columns; k++) {
				const share = cells[row * columns + k] / most, level = log ? 1 + Math.log10(share) / decades : share;
				if (share > 0) pixels[i * columns + k] = this.colours[Math.round(clamp(level, 0, 1) * (heat.levels - 1))];
			}
		});
		context.putImageData(picture, 0, 0);
		this.image.setAttribute("href", context.canvas.toDataURL());
		const text = svg.parentNode.querySelector(".scale");
		text.textContent = text.dataset[log ? "log" : "linear"];
		for (const tick of all("text:not([transform])", all("g.y", svg)[this.i])) {
			const row = rows[order[Math.floor((tick.getAttribute("y") - top) / height * n)]];
			tick.dataset.own ??= tick.textContent;
			if (row) tick.textContent = by ? row[0] : tick.dataset.own;
		}
		order.forEach((row, i) => this.bars[i].setAttribute("width", this.lengths[row]));
		let free = 0;
		const tags = all("g.beside text", svg).map((tag, k) => [order.indexOf(heat.tags[k]), tag]);
		for (const [i, tag] of tags.sort((a, b) => a[0] - b[0])) {
			free = Math.max(top + (i + 0.5) / n * height, free + 14);
			tag.setAttribute("y", r(free));
		}
	},
	show(range) {
		this.paint();
		Frame.prototype.show.call(this, range);
	},
	read(px, py) {
		const { start, step, columns, rows } = this.heat, t = this.place(px), column = Math.floor((t - start) / step);
		const row = this.order[Math.floor((py - this.box[1]) / (this.box[3] - this.box[1]) * rows.length)];
		if (!this.cells || column < 0 || column >= columns || row === undefined) return clock(t, step);
		const v = this.cells[row * columns + column];
		return [clock(start + column * step, step), rows[row][1], v ? "about " + quantity(v, "B/s") : "no bytes", quantity(rows[row][2], "B") + " in all"].join(" · ");
	},
};

// pointer and keys

function interactive(frame) {
	const { svg } = frame;
	const on = (name, listener) => listen(svg, name, listener);
	let from, band;
	const pointed = (event) => {
		const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal, scale = view.width / box.width;
		return [clamp((event.clientX - box.left) * scale, frame.box[0], frame.box[2]), (event.clientY - box.top) * scale];
	};
	on("pointermove", (event) => {
		const [x, y] = pointed(event);
		if (!band && frame.has(y)) frame.readout.textContent = frame.read(x, y);
		if (!band) return;
		band.setAttribute("x", Math.min(x, from));
		band.setAttribute("width", Math.abs(x - from));
	});
	on("pointerleave", () => { if (!band) frame.readout.textContent = ""; });
	if (!frame.time) return;
	on("pointerdown", (event) => {
		const [x, y] = pointed(event);
		if (event.button !== 0 || !frame.has(y)) return;
		from = x;
		band = make(svg, "rect", { class: "select", x: from, width: 0, y: 0, height: "100%" });
		svg.setPointerCapture(event.pointerId);
	});
	on("pointerup pointercancel", (event) => {
		const to = pointed(event)[0], drawn = band;
		band?.remove();
		band = null;
		if (event.type === "pointerup" && drawn && Math.abs(to - from) > 5) writeState({ t: [Math.min(from, to), Math.max(from, to)].map((x) => frame.place(x)) });
	});
	// one panel is enough for the keys
	if (svg.dataset.keys) return;
	svg.dataset.keys = "1";
	on("dblclick", () => writeState({ t: null }));
	on("keydown", (event) => {
		// move by, and show, parts of the span
		const keys = { ArrowLeft: [-0.2, 1], ArrowRight: [0.2, 1], "+": [0, 0.5], "-": [0, 2], 0: [0, 1e9], Escape: [0, 1e9] };
		const key = keys[event.key], [a, b] = frame.range, [low, high] = frame.whole;
		if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		const half = (b - a) * key[1] / 2, middle = clamp((a + b) / 2 + key[0] * (b - a), low + half, high - half);
		writeState({ t: 2 * half >= high - low ? null : [middle - half, middle + half] });
		frame.readout.textContent = state.t ? state.t.map((t) => clock(t, b - a)).join(" to ") : "whole run";
	});
}

// tables, cards, graph

const tableName = (table) => table.id.replace(/-table$/, "");

/** Numbers from the largest, texts from the first; `other` is the other way. */
function sortTable(table, key, other) {
	const heads = all("th", table), body = table.tBodies[0], index = heads.findIndex((th) => th.dataset.key === key);
	if (index < 0) return;
	const value = ({ cells: { [index]: cell } }) => cell.dataset.value ?? cell.textContent;
	const number = (row) => (value(row) === "" || isNaN(value(row)) ? -Infinity : Number(value(row)));
	const numeric = heads[index].className === "n", descending = numeric !== Boolean(other);
	body.append(...[...body.rows].sort((a, b) => (descending ? -1 : 1) * (numeric ? number(a) - number(b) || 0 : value(a).localeCompare(value(b)))));
	heads.forEach((th, i) => th.setAttribute("aria-sort", i !== index ? "none" : descending ? "descending" : "ascending"));
}

function sortable() {
	for (const table of all("table[id]")) {
		for (const th of table.tBodies[0].rows[1] ? all("th", table) : []) {
			const button = document.createElement("button"), own = tableName(table) + "." + th.dataset.key;
			button.append(...th.childNodes);
			th.append(button);
			listen(button, "click", () => writeState({ sort: state.sort === own ? own + ".up" : own }));
		}
	}
}

/** Shows the chosen columns, and which switches are on. */
function switches() {
	const hidden = (state.hide || "").split(".");
	for (const box of all("input[data-column]")) {
		const table = box.closest("section").querySelector("table"), key = box.dataset.column;
		box.checked = !hidden.includes(key);
		const i = all("th", table).findIndex((th) => th.dataset.key === key);
		for (const row of table.rows) row.cells[i].hidden = !box.checked;
	}
	for (const b of all("button[data-key]")) b.setAttribute("aria-pressed", isOn(b.dataset));
}

const isOn = ({ key, value, first }) => (state[key] ? state[key] === value : first === "1");

listen(document, "click", ({ target }) => {
	const { key, value, first, copy } = target.dataset;
	if (copy) {
		const code = target.previousElementSibling;
		getSelection().selectAllChildren(code);
		navigator.clipboard?.writeText(code.textContent).then(() => { target.textContent = "Copied"; });
	} else if (key === "theme") {
		const dark = state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
		writeState({ theme: dark ? "light" : "dark" });
	} else if (key) {
		writeState({ [key]: first === "1" || (key === "find" && isOn(target.dataset)) ? null : value });
	}
});

listen(document, "input", ({ target }) => {
	const { column, counts } = target.dataset;
	if (column) {
		writeState({ hide: all("input[data-column]").filter((x) => !x.checked).map((x) => x.dataset.column).join(".") });
	} else if (counts) {
		const least = Number(counts.split(" ")[target.value]);
		target.nextElementSibling.textContent = " " + least;
		for (const l of all("g[data-from]", target.closest("figure"))) l.style.display = Number(l.dataset.count) < least ? "none" : "";
	} else {
		const items = all(":scope > .card, :scope > table > tbody > tr", target.closest(".tools").nextElementSibling);
		for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(target.value.toLowerCase());
	}
});

function highlight() {
	found = [];
	rank = state.rank;
	all(".lit").forEach((x) => x.classList.remove("lit"));
	all(".card").forEach((card) => {
		const on = state.find === card.dataset.code;
		card.classList.toggle("lit", on);
		if (!on) return;
		rank ||= card.dataset.rank;
		found = card.dataset.windows.split(" ").filter(Boolean).map((w) => w.split(":").map(Number));
		const names = new Set(card.dataset.files.split("\\u{1}"));
		const run = card.closest(".run");
		for (const cell of all("section[id$=files] td, section[id$=patterns] td", run)) {
			if (names.has(cell.dataset.value)) cell.parentNode.classList.add("lit");
		}
	});
}

function graphs() {
	for (const figure of all("figure.graph")) {
		const links = all("g[data-from]", figure), nodes = all("[data-node]", figure), readout = figure.querySelector(".readout");
		const near = (id) => {
			const mine = new Set([id]);
			for (const l of links) {
				const { from, to } = l.dataset, own = !id || from === id || to === id;
				l.classList.toggle("faded", !own);
				if (own) mine.add(from).add(to);
			}
			for (const n of nodes) n.classList.toggle("faded", id && !mine.has(n.dataset.node));
			readout.textContent = id && nodes.find((n) => n.dataset.node === id).querySelector("title")?.textContent;
		};
		for (const node of nodes) {
			listen(node, "pointerenter focus", () => near(node.dataset.node));
			listen(node, "pointerleave blur", () => near(""));
		}
	}
}

function apply() {
	root.dataset.theme = state.theme ?? "";
	for (const list of [".run", ".toc"]) all(list).forEach((x, i) => { x.hidden = data.runs[1] && i + 1 !== state.run; });
	all(".runs a").forEach((a, i) => a.setAttribute("aria-current", i + 1 === state.run));
	highlight();
	for (const map of all(".heatmap")) {
		const maps = all(".heatmap", map.parentNode);
		map.hidden = map !== (maps.find((x) => x.dataset.name === state.heat) ?? maps[0]);
	}
	for (const frame of frames) if (!frame.svg.closest("[hidden]")) frame.show(state.t);
	switches();
	if (state.sort) {
		const [name, key, other] = state.sort.split(".");
		for (const table of all("table[id]")) if (tableName(table) === name) sortTable(table, key, other);
	}
	root.dataset.width = root.scrollWidth;
}

for (const run of data.runs) {
	for (const { id, panels } of run.pictures.plots) panels.forEach((panel, i) => {
		const heat = i && run.pictures.heats.find((h) => h.id === id), frame = [panel, byId(id), i, panels[i - 1]?.box[3]];
		frames.push(heat ? new Heat(heat, ...frame) : new Frame(...frame));
	});
}
root.dataset.live = "1";
readState();
sortable();
graphs();
frames.forEach(interactive);
apply();
listen(window, "popstate", () => { readState(); apply(); });
addEventListener("beforeprint", () => all(".card details, details:has(.card)").forEach((d) => { d.open = true; }));
document.body.dataset.ready = "1";
})();
