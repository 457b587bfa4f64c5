// The one script of a page; the policy of the page has its hash. It adds to what is there: hover, zoom, sort, filter, copy. Names
// in a trace are those of strangers: text goes in with textContent only.
"use strict";
(() => {
const SVG = "http://www.w3.org/2000/svg";
const LEFT = 66, RIGHT = 14, BELOW = 38, ABOVE = 8, ROW = 18, HEAT_RIGHT = 896;
const block = document.getElementById("data");
const data = block ? JSON.parse(block.textContent) : { runs: [] };
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

const r = (x) => x.toFixed(1);

const maker = (create) => (parent, name, attributes, text) => {
	const element = create(name);
	for (const key in attributes) element.setAttribute(key, attributes[key]);
	if (text !== undefined) element.textContent = text;
	return parent.appendChild(element);
};
const make = maker((name) => document.createElementNS(SVG, name));
const word = (parent, name, anchor, x, y, text) => make(parent, "text", { class: name, "text-anchor": anchor, x, y }, text);
const html = maker((name) => document.createElement(name));

function listen(element, names, listener) {
	for (const name of names.split(" ")) element.addEventListener(name, listener);
}

function toolsBefore(element) {
	return element.parentNode.insertBefore(html(element.parentNode, "div", { class: "tools" }), element);
}

function button(parent, text, click, attributes) {
	const made = html(parent, "button", { type: "button", ...attributes }, text);
	listen(made, "click", click);
	return made;
}

// numbers with units, as the program writes them

function prefix(x, unit) {
	x = Math.abs(x);
	if (unit.startsWith("B") && !data.decimal) {
		const names = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
		let at = 0;
		while (at < 6 && x >= 1024 ** (at + 1) * 0.9995) at++;
		return [1024 ** at, names[at]];
	}
	const names = ["n", "µ", "m", "", "k", "M", "G", "T", "P", "E"];
	const at = x === 0 ? 3 : clamp(Math.floor(Math.log10(x / 0.9995) / 3) + 3, 0, 9);
	return [1000 ** (at - 3), names[at]];
}

function timeUnit(x) {
	x = Math.abs(x);
	if (x >= 345600) return [86400, "d"];
	if (x >= 10800) return [3600, "h"];
	if (x >= 1 || x === 0) return [1, "s"];
	return x >= 1e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
}

const digits = (x) => (x === 0 ? "0" : Number(x.toPrecision(3)).toString());

function quantity(x, unit) {
	if (unit === "") return digits(x);
	if (unit === "%") return digits(x) + " %";
	const [factor, name] = unit === "s" ? timeUnit(x) : prefix(x, unit);
	return digits(x / factor) + " " + name + (unit === "s" ? "" : unit);
}

const clock = (t, span) => t.toFixed(clamp(2 - Math.floor(Math.log10(span || 1)), 0, 6)) + " s";

function roundStep(span, most) {
	const least = span / most, power = 10 ** Math.floor(Math.log10(least));
	return ([1, 2, 5].find((m) => m * power >= least * (1 - 1e-9)) || 10) * power;
}

/** Positions and texts of the marks of an axis, and its title. */
function marks(axis, low, high, most) {
	const largest = Math.max(Math.abs(low), Math.abs(high));
	const [factor, name] = axis.numbers === "time" ? timeUnit(largest) : axis.numbers === "prefixed" ? prefix(largest, axis.unit) : [1, ""];
	const unit = axis.numbers === "time" ? name : name + axis.unit;
	const step = roundStep((high - low) / factor, most);
	const places = clamp(-Math.floor(Math.log10(step * 1.0001)), 0, 12);
	const list = [];
	for (let i = Math.ceil(low / factor / step - 1e-9); i * step <= high / factor * (1 + 1e-9) + 1e-12 && list.length < 100; i++) {
		const value = i * step, shown = axis.unit === "B/s" ? Math.abs(value) : value;
		list.push([value * factor, Math.abs(value) < 1e-6 * step ? "0" : shown.toFixed(places)]);
	}
	return { list, title: unit ? axis.label + " (" + unit + ")" : axis.label };
}

// state, in the fragment of the address: t=10-20&rank=3&find=CODE&sort=files.bytes&run=2&theme=dark

const state = { t: null, find: null, rank: null, sort: null, run: 1, theme: null };

function readState() {
	const fragment = decodeURIComponent(location.hash.slice(1));
	if (fragment && !fragment.includes("=")) {
		const run = document.getElementById(fragment)?.closest(".run");
		if (run) state.run = Number(run.id.slice(4));
		return;
	}
	const given = new URLSearchParams(fragment), range = /^(-?[\d.]+)-(-?[\d.]+)$/.exec(given.get("t"))?.slice(1).map(Number);
	state.t = range && range[0] < range[1] ? range : null;
	for (const key of ["find", "rank", "sort", "theme"]) state[key] = given.get(key);
	state.run = clamp(Number(given.get("run")) || 1, 1, Math.max(1, data.runs.length));
}

function writeState(change) {
	Object.assign(state, change);
	const parts = [];
	if (state.t) parts.push("t=" + state.t.map((x) => Number(x.toFixed(6))).join("-"));
	for (const key of ["find", "rank", "sort", "theme"]) if (state[key]) parts.push(key + "=" + encodeURIComponent(state[key]));
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
	this.rows = Math.max(0, ...plot.layers.map((l) => (l.kind === "spans" && l.row !== null ? l.row + 1 : 0)));
	this.whole = [plot.x.low, plot.x.high];
	this.range = this.whole;
	figure.dataset.live = "1";
}

Frame.prototype = {
	x(v) { return pixel(v, this.range, [LEFT, this.width - RIGHT]); },
	y(v) { return pixel(v, [this.plot.y.low, this.plot.y.high], [this.bottom, this.top]); },
	left: LEFT,
	right() { return this.width - RIGHT; },
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
		for (const layer of this.plot.layers) this[layer.kind](layer);
	},
	across(v) { return "M" + LEFT + " " + this.y(v) + "H" + (this.width - RIGHT); },
	path(name, d) { if (d) make(this.drawn, "path", { class: name, d }); },
	axes() {
		const { plot, drawn, width, bottom, top } = this;
		const across = marks(plot.x, this.range[0], this.range[1], clamp(Math.floor(width / 90), 3, 10));
		const up = marks(plot.y, plot.y.low, plot.y.high, Math.max(2, Math.floor((bottom - top) / 34)));
		let grid = "";
		for (const [v, text] of across.list) {
			const x = this.x(v);
			grid += "M" + x + " " + top + "V" + bottom;
			word(drawn, "tick", "middle", x, bottom + 15, text);
		}
		for (const [v, text] of up.list) {
			grid += this.across(v);
			word(drawn, "tick", "end", LEFT - 6, this.y(v) + 4, text);
		}
		this.path("grid", grid);
		const middle = (top + bottom) / 2;
		word(drawn, "label", "middle", (LEFT + width - RIGHT) / 2, plot.height - 6, across.title);
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
			let far = 0, near = Infinity;
			for (let k = i; k < Math.min(last, i + group); k++) {
				if (Math.abs(values[k]) > Math.abs(far)) far = values[k];
				if (Math.abs(values[k]) < Math.abs(near)) near = values[k];
			}
			d += "H" + this.x(start + step * i) + "V" + this.y(far);
			if (group > 1) d += "H" + this.x(start + step * (i + group / 2)) + "V" + this.y(near);
		}
		this.path("area " + layer.class, d + "H" + this.x(start + step * last) + "V" + this.y(0));
	},
	stroke(layer, d) { this.path("line " + layer.class, d); },
	polyline(layer, points) {
		this.stroke(layer, points.map(([x, y], i) => (i ? "L" : "M") + this.x(x) + " " + this.y(y)).join(""));
	},
	line(layer) {
		this.polyline(layer, layer.points.filter(([x]) => this.has(x, x)));
	},
	has(a, b) { return b >= this.range[0] && a <= this.range[1]; },
	wave(layer) {
		const { mean, amplitude, hertz, phase, sign } = layer;
		if ((this.range[1] - this.range[0]) * hertz > 60) return;
		for (const span of layer.spans) {
			const a = Math.max(span[0], this.range[0]), b = Math.min(span[1], this.range[1]);
			if (b <= a) continue;
			const n = clamp(Math.round(16 * (b - a) * hertz), 24, 600), points = [];
			for (let i = 0; i <= n; i++) {
				const t = a + (b - a) * i / n;
				points.push([t, sign * (mean + amplitude * Math.cos(2 * Math.PI * hertz * t + phase))]);
			}
			this.polyline(layer, points);
		}
	},
	stems(layer) {
		const zero = this.y(0);
		this.stroke(layer, layer.points.map(([x, y]) => "M" + this.x(x) + " " + zero + "V" + this.y(y)).join(""));
	},
	dots(layer) {
		for (const [x, y] of layer.points) make(this.drawn, "circle", { class: "dot " + layer.class, cx: this.x(x), cy: this.y(y), r: 4 });
	},
	rect(name, x0, y0, x1, y1) {
		make(this.drawn, "rect", { class: name, x: r(x0), y: r(y0), width: r(Math.max(1, x1 - x0)), height: r(Math.max(1, y1 - y0)) });
	},
	spans(layer) {
		const top = layer.row === null ? this.top : ABOVE + ROW * layer.row + 2;
		const bottom = layer.row === null ? this.bottom : ABOVE + ROW * (layer.row + 1) - 2;
		for (const [a, b] of layer.spans) if (this.has(a, b)) this.rect("span " + layer.class, this.x(a), top, this.x(b), bottom);
	},
	marks(layer) {
		this.stroke(layer, layer.at.filter((x) => this.has(x, x)).map((x) => "M" + this.x(x) + " " + this.top + "V" + this.bottom).join(""));
	},
	boxes(layer) {
		const chosen = state.rank === null ? null : new RegExp("rank " + Number(state.rank) + "(?!\\d)");
		layer.boxes.forEach((b, i) => {
			if (this.has(b[0], b[2]) && (!chosen || chosen.test(layer.labels[i]))) this.rect("box " + layer.class, this.x(b[0]), this.y(b[3]), this.x(b[2]), this.y(b[1]));
		});
	},
	at(px, py) {
		const { plot } = this, span = this.range[1] - this.range[0];
		const v = this.range[0] + (px - LEFT) / (this.width - LEFT - RIGHT) * span;
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

function pixel(v, [low, high], [from, to]) {
	return Number(r(from + (clamp(v, low, high) - low) / (high - low) * (to - from)));
}

// heat maps

function Heat(heat, figure, run) {
	this.heat = heat;
	this.plot = { time: true };
	this.svg = figure.querySelector("svg:not(.ramp)");
	this.readout = figure.querySelector(".readout");
	this.whole = run.pictures.range;
	this.range = this.whole;
	this.width = 1000;
	this.left = LEFT;
	this.image = this.svg.querySelector("image");
	this.top = this.image.y.baseVal.value;
	this.height = this.image.height.baseVal.value;
	this.order = heat.rows.map((_, i) => i);
	const picture = new Image();
	listen(picture, "load", () => this.loaded(picture));
	picture.src = this.image.getAttribute("href");
}

Heat.prototype = {
	right() { return HEAT_RIGHT; },
	loaded(picture) {
		this.canvas = document.createElement("canvas");
		this.canvas.width = picture.width;
		this.canvas.height = picture.height;
		const context = this.canvas.getContext("2d", { willReadFrequently: true });
		context.drawImage(picture, 0, 0);
		this.pixels = context.getImageData(0, 0, picture.width, picture.height).data;
		const tools = toolsBefore(this.svg);
		html(tools, "span", {}, "Rows by");
		for (const [name, key] of [["rank", 0], ["bytes", 2], ["end", 3]]) {
			button(tools, name, (event) => {
				all("button", tools).forEach((b) => b.setAttribute("aria-pressed", b === event.currentTarget));
				this.sort(key);
			}, { "aria-pressed": key === 0 });
		}
	},
	sort(key) {
		const { heat: { rows }, canvas, order, top, height } = this, sign = key === 0 ? 1 : -1;
		order.sort((a, b) => sign * ((rows[a][key] ?? -1e99) - (rows[b][key] ?? -1e99)) || a - b);
		const sorted = document.createElement("canvas");
		[sorted.width, sorted.height] = [canvas.width, rows.length];
		const context = sorted.getContext("2d");
		order.forEach((row, i) => context.drawImage(canvas, 0, row, canvas.width, 1, 0, i, canvas.width, 1));
		this.image.setAttribute("href", sorted.toDataURL());
		for (const tick of all("g.axes .tick", this.svg)) {
			const i = Math.floor((Number(tick.getAttribute("y")) - 4 - top) / height * rows.length);
			tick.textContent = rows[order[clamp(i, 0, rows.length - 1)]][0];
		}
		const most = Math.max(...rows.map((row) => row[2])) || 1;
		const bar = (row, i) => "H" + r(900 + 84 * rows[row][2] / most) + "V" + r(top + height * (i + 1) / rows.length);
		this.svg.querySelector(".side").setAttribute("d", "M900 " + top + order.map(bar).join("") + "H900Z");
	},
	show(range) {
		this.range = part(this, range);
		const room = HEAT_RIGHT - LEFT, all = this.whole[1] - this.whole[0], span = this.range[1] - this.range[0];
		const scale = all / span, shift = LEFT - (LEFT + (this.range[0] - this.whole[0]) / all * room) * scale;
		this.svg.querySelector("g.zoomed").setAttribute("transform", "matrix(" + scale + " 0 0 1 " + shift + " 0)");
		const times = this.svg.querySelector("g.times"), y = Number(times.dataset.y);
		times.replaceChildren();
		const across = marks({ label: "Time", unit: "s", numbers: "time" }, this.range[0], this.range[1], 9);
		for (const [v, text] of across.list) {
			word(times, "tick", "middle", LEFT + (v - this.range[0]) / span * room, y, text);
		}
		word(times, "label", "middle", (LEFT + HEAT_RIGHT) / 2, y + 17, across.title);
	},
	at(px, py) {
		const { heat } = this, { top: y, height } = this;
		const t = this.range[0] + (px - LEFT) / (HEAT_RIGHT - LEFT) * (this.range[1] - this.range[0]);
		const column = Math.floor((t - heat.start) / heat.step), i = Math.floor((py - y) / height * heat.rows.length);
		if (!this.pixels || column < 0 || column >= heat.columns || i < 0 || i >= heat.rows.length) return clock(t, heat.step);
		const row = this.order[i], at = 4 * (row * heat.columns + column), [first, last, bytes] = heat.rows[row];
		const [red, green, blue, shown] = this.pixels.slice(at, at + 4);
		const level = heat.palette.findIndex((c) => c[0] === red && c[1] === green && c[2] === blue);
		const rate = shown ? "about " + quantity(heat.most * 10 ** ((level / (heat.levels - 1) - 1) * heat.decades), "B/s") : "no bytes";
		const who = first === last ? "rank " + first : "ranks " + first + " to " + last;
		return [clock(heat.start + column * heat.step, heat.step), who, rate, quantity(bytes, "B") + " in all"].join(" · ");
	},
};

// pointer and keys

function interactive(frame) {
	const { svg } = frame;
	const on = (name, listener) => listen(svg, name, listener);
	let from = 0, band = null;
	const place = (event) => {
		const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal, scale = view.width / box.width;
		return [clamp((event.clientX - box.left) * scale, frame.left, frame.right()), (event.clientY - box.top) * scale];
	};
	const time = (x) => frame.range[0] + (x - frame.left) / (frame.right() - frame.left) * (frame.range[1] - frame.range[0]);
	on("pointermove", (event) => {
		const [x, y] = place(event);
		frame.readout.textContent = frame.at(x, y);
		if (!band) return;
		band.setAttribute("x", Math.min(x, from));
		band.setAttribute("width", Math.abs(x - from));
	});
	on("pointerleave", () => { if (!band) frame.readout.textContent = ""; });
	if (!frame.plot.time) return;
	on("pointerdown", (event) => {
		if (event.button !== 0) return;
		[from] = place(event);
		band = make(svg, "rect", { class: "select", x: from, width: 0, y: 0, height: "100%" });
		svg.setPointerCapture(event.pointerId);
	});
	const end = (event) => {
		const to = place(event)[0], drawn = band;
		band?.remove();
		band = null;
		if (event.type === "pointerup" && drawn && Math.abs(to - from) > 5) writeState({ t: [time(Math.min(from, to)), time(Math.max(from, to))] });
	};
	on("pointerup pointercancel", end);
	on("dblclick", () => writeState({ t: null }));
	on("keydown", (event) => {
		// move by, and show, parts of the span
		const keys = { ArrowLeft: [-0.2, 1], ArrowRight: [0.2, 1], "+": [0, 0.5], "-": [0, 2], 0: [0, Infinity], Escape: [0, Infinity] };
		const key = keys[event.key], [a, b] = frame.range, [low, high] = frame.whole;
		if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		const half = (b - a) * key[1] / 2, middle = clamp((a + b) / 2 + key[0] * (b - a), low + half, high - half);
		writeState({ t: 2 * half >= high - low ? null : [middle - half, middle + half] });
		frame.readout.textContent = state.t ? state.t.map((t) => clock(t, b - a)).join(" to ") : "whole run";
	});
}

// tables, cards, graph

function sortTable(table, key, descending) {
	const heads = all("th", table), index = heads.findIndex((th) => th.dataset.key === key);
	if (index < 0) return;
	const body = table.tBodies[0], rows = [...body.rows];
	const value = (row) => row.cells[index].dataset.value ?? row.cells[index].textContent;
	const number = (x) => (x === "" || x === "-" || Number.isNaN(Number(x)) ? -Infinity : Number(x));
	const numeric = heads[index].className === "n";
	rows.sort((a, b) => (descending ? -1 : 1) * (numeric ? number(value(a)) - number(value(b)) || 0 : value(a).localeCompare(value(b))));
	body.append(...rows);
	heads.forEach((th, i) => th.setAttribute("aria-sort", i !== index ? "none" : descending ? "descending" : "ascending"));
}

const tableName = (table) => table.id.replace(/-table$/, "");

function tables() {
	for (const table of all("table[id]")) {
		if (table.tBodies[0].rows.length < 2) continue;
		for (const th of all("th", table)) {
			const text = th.textContent;
			th.replaceChildren();
			button(th, text, () => {
				const now = th.getAttribute("aria-sort"), down = now === "descending" || (th.className !== "n" && now !== "ascending");
				writeState({ sort: tableName(table) + "." + th.dataset.key + (down ? ".up" : "") });
			});
		}
		if (table.tBodies[0].rows.length > 12) filter(table.closest(".scroll"), all("tbody tr", table), "Filter rows");
	}
}

function filter(before, items, label) {
	const tools = toolsBefore(before);
	const input = html(tools, "input", { type: "search", placeholder: label, "aria-label": label });
	listen(input, "input", () => {
		for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(input.value.toLowerCase());
	});
}

function cards() {
	for (const list of all(".cards")) {
		const items = all(".card", list);
		if (items.length > 1) filter(list, items, "Filter: text, severity");
		for (const card of items) {
			if (card.dataset.files) button(html(card, "div", { class: "tools" }), "Show in the page", () => {
				const { code, rank } = card.dataset, on = state.find === code;
				writeState({ find: on ? null : code, rank: on ? null : rank || null });
			});
		}
	}
}

function highlight() {
	all(".lit").forEach((x) => x.classList.remove("lit"));
	all(".card").forEach((card) => {
		const on = state.find === card.dataset.code;
		card.classList.toggle("lit", on);
		const button = card.querySelector(".tools button");
		if (button) button.setAttribute("aria-pressed", on);
		if (!on) return;
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
				const own = id === null || l.dataset.from === id || l.dataset.to === id;
				l.classList.toggle("faded", !own);
				if (own) mine.add(l.dataset.from).add(l.dataset.to);
			}
			for (const n of nodes) n.classList.toggle("faded", id !== null && !mine.has(n.dataset.node));
		};
		for (const node of nodes) {
			const light = (id, text) => () => {
				near(id);
				readout.textContent = text;
			};
			listen(node, "pointerenter focus", light(node.dataset.node, node.querySelector("title")?.textContent ?? ""));
			listen(node, "pointerleave blur", light(null, ""));
		}
		const counts = [...new Set(links.map((l) => Number(l.dataset.count)))].sort((a, b) => a - b);
		if (counts.length < 3) continue;
		const tools = toolsBefore(figure.firstChild);
		const label = html(tools, "label", {}, "Lines that occur at least ");
		const slider = html(label, "input", { type: "range", min: 0, max: counts.length - 1, value: 0 });
		const shown = html(label, "span", {}, " once");
		listen(slider, "input", () => {
			const least = counts[Number(slider.value)];
			shown.textContent = " " + least + " times";
			for (const l of links) l.style.display = Number(l.dataset.count) < least ? "none" : "";
		});
	}
}

function copies() {
	for (const code of all(".copy")) {
		const made = button(code.parentNode, "Copy", () => {
			getSelection().selectAllChildren(code);
			navigator.clipboard?.writeText(code.textContent).then(() => { made.textContent = "Copied"; });
		});
		code.after(" ", made);
	}
}

function navigation() {
	const nav = document.querySelector("nav");
	if (!nav) return;
	button(nav, "Whole run", () => writeState({ t: null }));
	button(nav, "Light or dark", () => {
		const dark = state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
		writeState({ theme: dark ? "light" : "dark" });
	});
}

function apply() {
	const root = document.documentElement;
	root.dataset.theme = state.theme ?? "";
	const hides = (x, i) => { x.hidden = data.runs.length > 1 && i + 1 !== state.run; };
	all(".run").forEach(hides);
	all(".toc").forEach(hides);
	all(".runs a").forEach((a, i) => a.setAttribute("aria-current", i + 1 === state.run));
	for (const frame of frames) if (!frame.svg.closest("[hidden]")) frame.show(state.t);
	if (state.sort) {
		const [name, key, up] = state.sort.split(".");
		for (const table of all("table[id]")) {
			if (tableName(table) !== name) continue;
			const numeric = all("th", table).some((th) => th.dataset.key === key && th.className === "n");
			sortTable(table, key, numeric ? up !== "up" : up === "up");
		}
	}
	highlight();
	root.dataset.width = root.scrollWidth;
}

for (const run of data.runs) {
	for (const plot of run.pictures.plots) {
		const figure = document.getElementById(plot.id);
		if (figure) frames.push(new Frame(plot, figure));
	}
	for (const heat of run.pictures.heats) {
		const figure = document.getElementById(heat.id);
		if (figure) frames.push(new Heat(heat, figure, run));
	}
}
readState();
navigation();
tables();
cards();
graphs();
copies();
frames.forEach(interactive);
apply();
const again = () => { readState(); apply(); };
listen(window, "hashchange popstate", again);
listen(window, "resize", apply);
addEventListener("beforeprint", () => all(".card details").forEach((d) => { d.open = true; }));
document.body.dataset.ready = "1";
})();
