// The one script of a page, whose policy has its hash: hover, zoom, sort, filter, copy. Text goes in with textContent only.
"use strict";
(() => {
const SVG = "http://www.w3.org/2000/svg";
const LEFT = 66, RIGHT = 14, BELOW = 38, ABOVE = 8, ROW = 18, HEAT_RIGHT = 850;
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

const word = (parent, name, anchor, x, y, text) => make(parent, "text", { class: name, "text-anchor": anchor, x, y }, text);

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

/** Positions and texts of the marks of an axis, and its title. */
function marks(axis, low, high, most) {
	const largest = Math.max(Math.abs(low), Math.abs(high));
	const [factor, name] = axis.numbers === "time" ? timeUnit(largest) : axis.numbers === "prefixed" ? prefix(largest, axis.unit) : [1, ""];
	const unit = axis.numbers === "time" ? name : name + axis.unit;
	const least = (high - low) / factor / most, power = 10 ** Math.floor(Math.log10(least));
	const step = ([1, 2, 5].find((m) => m * power >= least * (1 - 1e-9)) || 10) * power;
	const places = clamp(-Math.floor(Math.log10(step * 1.0001)), 0, 12);
	const list = [];
	for (let i = Math.ceil(low / factor / step - 1e-9); i * step <= high / factor * (1 + 1e-9) + 1e-12 && list.length < 100; i++) {
		const value = i * step, shown = axis.unit === "B/s" ? Math.abs(value) : value;
		list.push([value * factor, Math.abs(value) < 1e-6 * step ? "0" : shown.toFixed(places)]);
	}
	return { list, title: unit ? axis.label + " (" + unit + ")" : axis.label };
}

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

function Frame(plot, figure) {
	this.plot = plot;
	this.svg = figure.querySelector("svg");
	this.drawn = this.svg.querySelector("g.drawn");
	this.readout = figure.querySelector(".readout");
	this.rows = Math.max(0, ...plot.layers.map((l) => (l.row ?? -1) + 1));
	this.range = this.whole = [plot.x.low, plot.x.high];
	figure.dataset.live = "1";
}

Frame.prototype = {
	x(v) { return pixel(v, this.range, [LEFT, this.width - RIGHT]); },
	y(v) { return pixel(v, [this.plot.y.low, this.plot.y.high], [this.bottom, this.top]); },
	show(range) {
		this.range = part(this, this.plot.time && range);
		this.width = Math.max(300, this.svg.clientWidth || 1000);
		this.top = ABOVE + ROW * this.rows;
		this.bottom = this.plot.height - BELOW;
		this.svg.setAttribute("viewBox", "0 0 " + this.width + " " + this.plot.height);
		this.svg.dataset.from = this.range[0];
		this.svg.dataset.to = this.range[1];
		this.drawn.replaceChildren();
		this.axes();
		if (this.plot.time) this.spans({ class: "found", row: null, spans: found });
		for (const layer of this.plot.layers) this[layer.kind](layer);
	},
	across(v) { return "M" + LEFT + " " + this.y(v) + "H" + (this.width - RIGHT); },
	path(name, d) { if (d) make(this.drawn, "path", { class: name, d }); },
	axes() {
		const { plot, drawn, width, bottom, top } = this;
		const across = marks(plot.x, this.range[0], this.range[1], clamp(Math.floor(width / 90), 3, 10));
		const up = marks(plot.y, plot.y.low, plot.y.high, Math.max(2, Math.floor((bottom - top) / 34)));
		let grid = "";
		for (const [v] of across.list) grid += "M" + this.x(v) + " " + top + "V" + bottom;
		for (const [v, text] of up.list) {
			grid += this.across(v);
			word(drawn, "tick", "end", LEFT - 6, this.y(v) + 4, text);
		}
		this.path("grid", grid);
		const middle = (top + bottom) / 2;
		axisBelow(this, drawn, across, bottom + 15);
		word(drawn, "label", "middle", 13, middle, up.title).setAttribute("transform", "rotate(-90 13 " + middle + ")");
		if (plot.y.low < 0) this.path("zero", this.across(0));
	},
	area(layer) {
		const { start, step, values } = layer;
		const first = clamp(Math.floor((this.range[0] - start) / step), 0, values.length);
		const last = clamp(Math.ceil((this.range[1] - start) / step), first, values.length);
		const group = Math.max(1, Math.ceil((last - first) / 1000));
		let d = "M" + this.x(start + step * first) + " " + this.y(0);
		for (let i = first; i < last; i += group) {
			const part = values.slice(i, Math.min(last, i + group)).sort((a, b) => Math.abs(b) - Math.abs(a));
			d += "H" + this.x(start + step * i) + "V" + this.y(part[0]);
			if (group > 1) d += "H" + this.x(start + step * (i + group / 2)) + "V" + this.y(part.at(-1));
		}
		this.path("area " + layer.class, d + "H" + this.x(start + step * last) + "V" + this.y(0));
	},
	stroke(layer, parts) { this.path("line " + layer.class, parts.join("")); },
	line(layer, points = layer.points.filter(([x]) => this.has(x, x))) {
		this.stroke(layer, points.map(([x, y], i) => (i ? "L" : "M") + this.x(x) + " " + this.y(y)));
	},
	has(a, b) { return b >= this.range[0] && a <= this.range[1]; },
	wave(layer) {
		const { mean, amplitude, hertz, phase, sign } = layer;
		if ((this.range[1] - this.range[0]) * hertz > 60) return;
		for (const span of layer.spans) {
			const a = Math.max(span[0], this.range[0]), b = Math.min(span[1], this.range[1]);
			if (b <= a) continue;
			const n = clamp(Math.round(16 * (b - a) * hertz), 24, 600);
			this.line(layer, Array.from({ length: n + 1 }, (_, i) => {
				const t = a + (b - a) * i / n;
				return [t, sign * (mean + amplitude * Math.cos(2 * Math.PI * hertz * t + phase))];
			}));
		}
	},
	stems(layer) {
		const zero = this.y(0);
		this.stroke(layer, layer.points.map(([x, y]) => "M" + this.x(x) + " " + zero + "V" + this.y(y)));
	},
	dots(layer) {
		for (const [x, y] of layer.points) make(this.drawn, "circle", { class: "dot " + layer.class, cx: this.x(x), cy: this.y(y), r: 4 });
	},
	rect(name, x0, y0, x1, y1) {
		make(this.drawn, "rect", { class: name, x: r(x0), y: r(y0), width: r(Math.max(1, x1 - x0)), height: r(Math.max(1, y1 - y0)) });
	},
	spans(layer) {
		const at = ABOVE + ROW * layer.row, [top, bottom] = layer.row === null ? [this.top, this.bottom] : [at + 2, at + ROW - 2];
		for (const [a, b] of layer.spans) if (this.has(a, b)) this.rect("span " + layer.class, this.x(a), top, this.x(b), bottom);
	},
	levels(layer) {
		const n = Math.min(32, Math.floor(this.plot.y.high / layer.step));
		this.stroke(layer, Array.from({ length: n }, (_, i) => this.across((i + 1) * layer.step)));
	},
	marks(layer) {
		this.stroke(layer, layer.at.filter((x) => this.has(x, x)).map((x) => "M" + this.x(x) + " " + this.top + "V" + this.bottom));
	},
	boxes(layer) {
		const chosen = rank && new RegExp("rank " + Number(rank) + "(?!\\d)");
		layer.boxes.forEach(([a, low, b, high], i) => {
			if (this.has(a, b) && (!chosen || chosen.test(layer.labels[i]))) this.rect("box " + layer.class, this.x(a), this.y(high), this.x(b), this.y(low));
		});
	},
	at(px, py) {
		const { plot } = this, span = this.range[1] - this.range[0];
		const v = place(this, px);
		const y = plot.y.low + (this.bottom - py) / (this.bottom - this.top) * (plot.y.high - plot.y.low);
		const parts = [plot.x.numbers === "time" ? clock(v, span) : quantity(v, plot.x.unit)];
		for (const l of plot.layers) {
			if (l.kind === "area") {
				const value = l.values[Math.floor((v - l.start) / l.step)];
				if (value) parts.push(l.name + " " + quantity(Math.abs(value), plot.y.unit));
			} else if (l.kind === "spans") {
				if (l.spans.some(([a, b]) => v >= a && v <= b)) parts.push(l.name);
			} else if (l.kind === "boxes") {
				const reach = span / 300, i = l.boxes.findIndex((b) => v >= b[0] - reach && v <= b[2] + reach && y >= b[1] && y <= b[3]);
				if (i >= 0) {
					const b = l.boxes[i];
					parts.push(l.labels[i], "offset " + quantity(b[1], "B"), quantity(b[3] - b[1], "B"), clock(b[0], span), quantity(b[2] - b[0], "s"));
				}
			} else if (l.points) {
				const best = l.points.reduce((a, b) => (Math.abs(b[0] - v) < Math.abs(a[0] - v) ? b : a), [Infinity]);
				if (Math.abs(best[0] - v) <= span / 60) parts.push(l.name + " " + quantity(best[1], plot.y.unit));
			}
		}
		return parts.join(" · ");
	},
};

/** The value of the axis to the right at a place of the picture. */
const place = ({ range: [low, high], width }, px) => low + (px - LEFT) / (width - RIGHT - LEFT) * (high - low);

function axisBelow(frame, parent, { list, title }, y) {
	for (const [v, text] of list) word(parent, "tick", "middle", frame.x(v), y, text);
	word(parent, "label", "middle", (LEFT + frame.width - RIGHT) / 2, y + 17, title);
}

function pixel(v, [low, high], [from, to]) {
	return Number(r(from + (clamp(v, low, high) - low) / (high - low) * (to - from)));
}

// heat maps: one figure with switches for layer and direction

const canvas = (width, height) => Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });

function Heat(heat, figure, run) {
	const { palette, columns, rows } = heat;
	this.heat = heat;
	this.plot = { time: true };
	this.svg = figure.querySelector("svg:not(.ramp)");
	this.readout = figure.querySelector(".readout");
	this.range = this.whole = run.pictures.range;
	this.width = HEAT_RIGHT + RIGHT;
	this.image = this.svg.querySelector("image");
	this.top = this.image.y.baseVal.value;
	this.height = this.image.height.baseVal.value;
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
	x(v) { return pixel(v, this.range, [LEFT, HEAT_RIGHT]); },
	/** The chosen scale and order of rows. */
	paint() {
		const { heat, order, top, height, svg, cells } = this, { columns, rows, decades, most } = heat, n = rows.length;
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
		for (const tick of all("g.axes .tick", svg)) {
			tick.textContent = rows[order[clamp(Math.floor((tick.getAttribute("y") - 4 - top) / height * n), 0, n - 1)]][0];
		}
		const widest = Math.max(...rows.map((row) => row[2])) || 1, bar = (row, i) => "H" + r(854 + 40 * rows[row][2] / widest) + "V" + r(top + height * (i + 1) / n);
		svg.querySelector(".side").setAttribute("d", "M854 " + top + order.map(bar).join("") + "H854Z");
		let free = 0;
		const tags = all(".tag", svg).map((tag) => [order.indexOf(Number(tag.dataset.row)), tag]);
		for (const [i, tag] of tags.sort((a, b) => a[0] - b[0])) {
			free = Math.max(top + (i + 0.5) / n * height + 4, free + 13);
			tag.setAttribute("y", r(free));
		}
	},
	show(range) {
		this.range = part(this, range);
		this.paint();
		const scale = (this.whole[1] - this.whole[0]) / (this.range[1] - this.range[0]), zoomed = this.svg.querySelector("g.zoomed");
		const x = (t) => LEFT + (t - this.whole[0]) / (this.whole[1] - this.whole[0]) * (HEAT_RIGHT - LEFT);
		zoomed.setAttribute("transform", "matrix(" + scale + " 0 0 1 " + (LEFT - x(this.range[0]) * scale) + " 0)");
		all(".found", zoomed).forEach((rect) => rect.remove());
		for (const [a, b] of found) make(zoomed, "rect", { class: "found", x: x(a), y: this.top, width: Math.max(1 / scale, x(b) - x(a)), height: this.height });
		const times = this.svg.querySelector("g.times");
		times.replaceChildren();
		axisBelow(this, times, marks({ label: "Time", unit: "s", numbers: "time" }, ...this.range, 9), Number(times.dataset.y));
	},
	at(px, py) {
		const { start, step, columns, rows } = this.heat, t = place(this, px), column = Math.floor((t - start) / step);
		const row = this.order[Math.floor((py - this.top) / this.height * rows.length)];
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
		return [clamp((event.clientX - box.left) * scale, LEFT, frame.width - RIGHT), (event.clientY - box.top) * scale];
	};
	on("pointermove", (event) => {
		const [x, y] = pointed(event);
		frame.readout.textContent = frame.at(x, y);
		if (!band) return;
		band.setAttribute("x", Math.min(x, from));
		band.setAttribute("width", Math.abs(x - from));
	});
	on("pointerleave", () => { if (!band) frame.readout.textContent = ""; });
	if (!frame.plot.time) return;
	on("pointerdown", (event) => {
		if (event.button !== 0) return;
		[from] = pointed(event);
		band = make(svg, "rect", { class: "select", x: from, width: 0, y: 0, height: "100%" });
		svg.setPointerCapture(event.pointerId);
	});
	on("pointerup pointercancel", (event) => {
		const to = pointed(event)[0], drawn = band;
		band?.remove();
		band = null;
		if (event.type === "pointerup" && drawn && Math.abs(to - from) > 5) writeState({ t: [Math.min(from, to), Math.max(from, to)].map((x) => place(frame, x)) });
	});
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
	for (const plot of run.pictures.plots) frames.push(new Frame(plot, byId(plot.id)));
	for (const heat of run.pictures.heats) frames.push(new Heat(heat, byId(heat.id), run));
}
root.dataset.live = "1";
readState();
sortable();
graphs();
frames.forEach(interactive);
apply();
listen(window, "popstate", () => { readState(); apply(); });
listen(window, "resize", apply);
addEventListener("beforeprint", () => all(".card details").forEach((d) => { d.open = true; }));
document.body.dataset.ready = "1";
})();
