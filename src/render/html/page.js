// The one script of a page; its hash is in the policy of the page. It only adds to what is there: hover, zoom, sort, filter, copy.
// Text goes in with textContent and elements are made with createElement(NS) only: names in a trace are those of strangers.
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
const html = maker((name) => document.createElement(name));

function button(parent, text, click, attributes) {
	const made = html(parent, "button", { type: "button", ...attributes }, text);
	made.addEventListener("click", click);
	return made;
}

// ---- numbers with units, as the program writes them

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
	return x >= 1e-3 ? [1e-3, "ms"] : x >= 1e-6 ? [1e-6, "µs"] : [1e-9, "ns"];
}

const digits = (x) => (x === 0 ? "0" : Number(x.toPrecision(3)).toString());

function quantity(x, unit) {
	if (unit === "") return digits(x);
	if (unit === "s") {
		const [factor, name] = timeUnit(x);
		return digits(x / factor) + " " + name;
	}
	if (unit === "%") return digits(x) + " %";
	const [factor, name] = prefix(x, unit);
	return digits(x / factor) + " " + name + unit;
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

// ---- state, kept in the fragment of the address: t=10-20&rank=3&find=CODE&sort=files.bytes&run=2&theme=dark

const state = { t: null, find: null, rank: null, sort: null, run: 1, theme: null };

function readState() {
	const fragment = decodeURIComponent(location.hash.slice(1));
	if (fragment && !fragment.includes("=")) {
		const target = document.getElementById(fragment);
		const run = target?.closest(".run");
		if (run) state.run = Number(run.id.slice(4));
		return;
	}
	const part = new Map(fragment.split("&").map((x) => x.split("=")));
	const range = /^(-?[\d.]+(?:e-?\d+)?)-(-?[\d.]+(?:e-?\d+)?)$/.exec(part.get("t") || "");
	state.t = range && Number(range[1]) < Number(range[2]) ? [Number(range[1]), Number(range[2])] : null;
	for (const key of ["find", "rank", "sort", "theme"]) state[key] = part.get(key) || null;
	state.run = clamp(Number(part.get("run")) || 1, 1, Math.max(1, data.runs.length));
}

function writeState(change) {
	Object.assign(state, change);
	const parts = [];
	if (state.t) parts.push("t=" + state.t.map((x) => Number(x.toPrecision(7))).join("-"));
	for (const key of ["find", "rank", "sort", "theme"]) if (state[key]) parts.push(key + "=" + encodeURIComponent(state[key]));
	if (state.run > 1) parts.push("run=" + state.run);
	history.pushState(null, "", "#" + parts.join("&"));
	apply();
}

// ---- pictures

const frames = [];

/** The part of a time window that a picture has; all of it if that is nothing. */
function part({ whole }, range) {
	const both = range && [Math.max(range[0], whole[0]), Math.min(range[1], whole[1])];
	return both && both[0] < both[1] ? both : whole;
}

function Frame(plot, figure, run) {
	this.plot = plot;
	this.run = run;
	this.svg = figure.querySelector("svg");
	this.drawn = this.svg.querySelector("g.drawn");
	this.readout = figure.querySelector(".readout");
	this.rows = Math.max(0, ...plot.layers.map((l) => (l.kind === "spans" && l.row !== null ? l.row + 1 : 0)));
	this.whole = [plot.x.low, plot.x.high];
	this.range = this.whole;
	figure.dataset.live = "1";
}

Frame.prototype = {
	x(v) { return LEFT + (clamp(v, ...this.range) - this.range[0]) / (this.range[1] - this.range[0]) * (this.width - LEFT - RIGHT); },
	y(v) { return this.bottom - (clamp(v, this.plot.y.low, this.plot.y.high) - this.plot.y.low) / (this.plot.y.high - this.plot.y.low) * (this.bottom - this.top); },
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

	path(name, d) { if (d) make(this.drawn, "path", { class: name, d }); },

	axes() {
		const { plot, drawn, width, bottom, top } = this;
		const across = marks(plot.x, this.range[0], this.range[1], clamp(Math.floor(width / 90), 3, 10));
		const up = marks(plot.y, plot.y.low, plot.y.high, Math.max(2, Math.floor((bottom - top) / 34)));
		let grid = "";
		for (const [v, text] of across.list) {
			const x = r(this.x(v));
			grid += "M" + x + " " + top + "V" + bottom;
			make(drawn, "text", { class: "tick", "text-anchor": "middle", x, y: bottom + 15 }, text);
		}
		for (const [v, text] of up.list) {
			const y = this.y(v);
			grid += "M" + LEFT + " " + r(y) + "H" + (width - RIGHT);
			make(drawn, "text", { class: "tick", "text-anchor": "end", x: LEFT - 6, y: y + 4 }, text);
		}
		this.path("grid", grid);
		const middle = (top + bottom) / 2;
		make(drawn, "text", { class: "label", "text-anchor": "middle", x: (LEFT + width - RIGHT) / 2, y: plot.height - 6 }, across.title);
		make(drawn, "text", { class: "label", "text-anchor": "middle", x: 13, y: middle, transform: "rotate(-90 13 " + middle + ")" }, up.title);
		if (plot.y.low < 0) this.path("zero", "M" + LEFT + " " + r(this.y(0)) + "H" + (width - RIGHT));
	},

	area(layer) {
		const { start, step, values } = layer;
		const first = clamp(Math.floor((this.range[0] - start) / step), 0, values.length);
		const last = clamp(Math.ceil((this.range[1] - start) / step), first, values.length);
		const group = Math.max(1, Math.ceil((last - first) / 1000));
		let d = "M" + r(this.x(start + step * first)) + " " + r(this.y(0));
		for (let i = first; i < last; i += group) {
			let far = 0, near = Infinity;
			for (let k = i; k < Math.min(last, i + group); k++) {
				if (Math.abs(values[k]) > Math.abs(far)) far = values[k];
				if (Math.abs(values[k]) < Math.abs(near)) near = values[k];
			}
			d += "H" + r(this.x(start + step * i)) + "V" + r(this.y(far));
			if (group > 1) d += "H" + r(this.x(start + step * (i + group / 2))) + "V" + r(this.y(near));
		}
		this.path("area " + layer.class, d + "H" + r(this.x(start + step * last)) + "V" + r(this.y(0)));
	},

	polyline(name, points) {
		this.path(name, points.map(([x, y], i) => (i ? "L" : "M") + r(this.x(x)) + " " + r(this.y(y))).join(""));
	},

	line(layer) {
		const inside = layer.points.filter(([x]) => x >= this.range[0] && x <= this.range[1]);
		this.polyline("line " + layer.class, inside);
	},

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
			this.polyline("line " + layer.class, points);
		}
	},

	stems(layer) {
		const zero = r(this.y(0));
		this.path("line " + layer.class, layer.points.map(([x, y]) => "M" + r(this.x(x)) + " " + zero + "V" + r(this.y(y))).join(""));
	},

	dots(layer) {
		for (const [x, y] of layer.points) make(this.drawn, "circle", { class: "dot " + layer.class, cx: r(this.x(x)), cy: r(this.y(y)), r: 4 });
	},

	rect(name, x0, y0, x1, y1) {
		make(this.drawn, "rect", { class: name, x: r(x0), y: r(y0), width: r(Math.max(1, x1 - x0)), height: r(Math.max(1, y1 - y0)) });
	},

	spans(layer) {
		const top = layer.row === null ? this.top : ABOVE + ROW * layer.row + 2;
		const bottom = layer.row === null ? this.bottom : ABOVE + ROW * (layer.row + 1) - 2;
		for (const [a, b] of layer.spans) {
			if (b >= this.range[0] && a <= this.range[1]) this.rect("span " + layer.class, this.x(a), top, this.x(b), bottom);
		}
	},

	marks(layer) {
		const inside = layer.at.filter((x) => x >= this.range[0] && x <= this.range[1]);
		this.path("line " + layer.class, inside.map((x) => "M" + r(this.x(x)) + " " + this.top + "V" + this.bottom).join(""));
	},

	level(layer) {
		this.path("line " + layer.class, "M" + LEFT + " " + r(this.y(layer.at)) + "H" + (this.width - RIGHT));
	},

	boxes(layer) {
		const chosen = state.rank === null ? null : new RegExp("rank " + Number(state.rank) + "(?!\\d)");
		layer.boxes.forEach((b, i) => {
			if (b[2] < this.range[0] || b[0] > this.range[1]) return;
			if (chosen && !chosen.test(layer.labels[i])) return;
			this.rect("box " + layer.class, this.x(b[0]), this.y(b[3]), this.x(b[2]), this.y(b[1]));
		});
	},

	/** What lies under a point, in words. */
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
					parts.push(l.labels[i] + ", offset " + quantity(b[1], "B") + ", " + quantity(b[3] - b[1], "B") + ", from " + clock(b[0], span) + ", " + quantity(b[2] - b[0], "s"));
				}
			} else if (l.points) {
				let best = null;
				for (const point of l.points) if (!best || Math.abs(point[0] - v) < Math.abs(best[0] - v)) best = point;
				if (best && Math.abs(best[0] - v) <= span / 60) parts.push(l.name + " " + quantity(best[1], plot.y.unit));
			}
		}
		return parts.join(" · ");
	},
};

// ---- heat maps

function Heat(heat, figure, run) {
	this.heat = heat;
	this.run = run;
	this.figure = figure;
	this.plot = { time: true };
	this.svg = figure.querySelector("svg:not(.ramp)");
	this.readout = figure.querySelector(".readout");
	this.whole = run.pictures.range;
	this.range = this.whole;
	this.width = 1000;
	this.left = LEFT;
	this.image = this.svg.querySelector("image");
	this.order = heat.rows.map((_, i) => i);
	const picture = new Image();
	picture.addEventListener("load", () => this.loaded(picture));
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
		const tools = html(this.figure, "div", { class: "tools" });
		this.figure.insertBefore(tools, this.svg);
		html(tools, "span", {}, "Rows by");
		for (const [name, key] of [["rank", 0], ["bytes", 2], ["end", 3]]) {
			button(tools, name, (event) => {
				all("button", tools).forEach((b) => b.setAttribute("aria-pressed", b === event.currentTarget));
				this.sort(key);
			}, { "aria-pressed": key === 0 });
		}
	},

	sort(key) {
		const rows = this.heat.rows, sign = key === 0 ? 1 : -1;
		this.order.sort((a, b) => sign * ((rows[a][key] ?? -Infinity) - (rows[b][key] ?? -Infinity)) || a - b);
		const sorted = document.createElement("canvas"), w = this.canvas.width;
		sorted.width = w;
		sorted.height = rows.length;
		const context = sorted.getContext("2d");
		this.order.forEach((row, i) => context.drawImage(this.canvas, 0, row, w, 1, 0, i, w, 1));
		this.image.setAttribute("href", sorted.toDataURL());
		const y = Number(this.image.getAttribute("y")), height = Number(this.image.getAttribute("height"));
		for (const tick of all("g.axes .tick", this.svg)) {
			const i = clamp(Math.floor((Number(tick.getAttribute("y")) - 4 - y) / height * rows.length), 0, rows.length - 1);
			tick.textContent = rows[this.order[i]][0];
		}
		const most = Math.max(...rows.map((r) => r[2])) || 1;
		let d = "M900 " + y;
		this.order.forEach((row, i) => { d += "H" + r(900 + 84 * rows[row][2] / most) + "V" + r(y + height * (i + 1) / rows.length); });
		this.svg.querySelector(".margin.side").setAttribute("d", d + "H900Z");
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
			make(times, "text", { class: "tick", "text-anchor": "middle", x: LEFT + (v - this.range[0]) / span * room, y }, text);
		}
		make(times, "text", { class: "label", "text-anchor": "middle", x: (LEFT + HEAT_RIGHT) / 2, y: y + 17 }, across.title);
	},

	at(px, py) {
		const { heat } = this, y = Number(this.image.getAttribute("y")), height = Number(this.image.getAttribute("height"));
		const t = this.range[0] + (px - LEFT) / (HEAT_RIGHT - LEFT) * (this.range[1] - this.range[0]);
		const column = Math.floor((t - heat.start) / heat.step), i = Math.floor((py - y) / height * heat.rows.length);
		if (!this.pixels || column < 0 || column >= heat.columns || i < 0 || i >= heat.rows.length) return clock(t, heat.step);
		const row = this.order[i], at = 4 * (row * heat.columns + column), [first, last, bytes] = heat.rows[row];
		let rate = "no bytes";
		if (this.pixels[at + 3] > 0) {
			let best = 0, least = Infinity;
			heat.palette.forEach((c, k) => {
				const d = Math.abs(c[0] - this.pixels[at]) + Math.abs(c[1] - this.pixels[at + 1]) + Math.abs(c[2] - this.pixels[at + 2]);
				if (d < least) [least, best] = [d, k];
			});
			rate = "about " + quantity(heat.most * 10 ** ((best / (heat.levels - 1) - 1) * heat.decades), "B/s");
		}
		const who = first === last ? "rank " + first : "ranks " + first + " to " + last;
		return [clock(heat.start + column * heat.step, heat.step), who, rate, quantity(bytes, "B") + " in all"].join(" · ");
	},
};

// ---- pointer and keys

function interactive(frame) {
	const { svg } = frame;
	const on = (name, listener) => svg.addEventListener(name, listener);
	let from = null, band = null;
	const place = (event) => {
		const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal, scale = view.width / box.width;
		return [clamp((event.clientX - box.left) * scale, frame.left, frame.right()), (event.clientY - box.top) * scale];
	};
	const time = (x) => frame.range[0] + (x - frame.left) / (frame.right() - frame.left) * (frame.range[1] - frame.range[0]);
	on("pointermove", (event) => {
		const [x, y] = place(event);
		frame.readout.textContent = frame.at(x, y);
		if (from === null) return;
		if (!band) band = make(svg, "rect", { class: "select", y: 0, height: svg.viewBox.baseVal.height });
		band.setAttribute("x", Math.min(x, from));
		band.setAttribute("width", Math.abs(x - from));
	});
	on("pointerleave", () => { if (from === null) frame.readout.textContent = ""; });
	if (!frame.plot.time) return;
	on("pointerdown", (event) => {
		if (event.button !== 0) return;
		from = place(event)[0];
		svg.setPointerCapture(event.pointerId);
	});
	on("pointerup", (event) => {
		const to = place(event)[0], start = from;
		from = null;
		if (band) band.remove();
		band = null;
		if (start !== null && Math.abs(to - start) > 5) writeState({ t: [time(Math.min(start, to)), time(Math.max(start, to))] });
	});
	on("pointercancel", () => {
		from = null;
		if (band) band.remove();
		band = null;
	});
	on("dblclick", () => writeState({ t: null }));
	on("keydown", (event) => {
		const [a, b] = frame.range, span = b - a, [low, high] = frame.whole;
		const move = (by) => { const d = clamp(by, low - a, high - b); return [a + d, b + d]; };
		const next = {
			ArrowLeft: () => move(-span / 5), ArrowRight: () => move(span / 5),
			"+": () => [a + span / 4, b - span / 4], "=": () => [a + span / 4, b - span / 4],
			"-": () => [Math.max(low, a - span / 2), Math.min(high, b + span / 2)],
			0: () => null, Escape: () => null,
		}[event.key];
		if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		const t = next();
		writeState({ t: t && t[0] <= low && t[1] >= high ? null : t });
		frame.readout.textContent = state.t ? clock(state.t[0], span) + " to " + clock(state.t[1], span) : "whole run";
	});
}

// ---- tables, cards, graph

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
				const down = th.getAttribute("aria-sort") === "descending" || (th.className !== "n" && th.getAttribute("aria-sort") !== "ascending");
				writeState({ sort: tableName(table) + "." + th.dataset.key + (down ? ".up" : "") });
			});
		}
		if (table.tBodies[0].rows.length > 12) filter(table.closest(".scroll"), all("tbody tr", table), "Filter rows");
	}
}

function filter(before, items, label, more) {
	const tools = html(before.parentNode, "div", { class: "tools" });
	before.parentNode.insertBefore(tools, before);
	const input = html(tools, "input", { type: "search", placeholder: label, "aria-label": label });
	const choice = more && html(tools, "select", { "aria-label": "Severity" });
	if (choice) for (const name of ["all", "critical", "warning", "info"]) html(choice, "option", { value: name }, name);
	const count = html(tools, "span", { "aria-live": "polite" });
	const update = () => {
		const words = input.value.toLowerCase(), level = choice ? choice.value : "all";
		let shown = 0;
		for (const item of items) {
			item.hidden = !item.textContent.toLowerCase().includes(words) || (level !== "all" && item.dataset.severity !== level);
			shown += item.hidden ? 0 : 1;
		}
		count.textContent = shown < items.length ? shown + " of " + items.length : "";
	};
	input.addEventListener("input", update);
	if (choice) choice.addEventListener("change", update);
}

function cards() {
	for (const list of all(".cards")) {
		const items = all(".card", list);
		if (items.length > 1) filter(list, items, "Filter findings", true);
		for (const card of items) {
			const tools = html(card, "div", { class: "tools" });
			button(tools, "Show its files and ranks", () => {
				const on = state.find === card.dataset.code;
				writeState({ find: on ? null : card.dataset.code, rank: on ? null : card.dataset.rank || null });
			});
		}
	}
}

/** Lights the card of a code, and the rows of its files. */
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
			const id = node.dataset.node, title = node.querySelector("title");
			const enter = () => { near(id); if (title) readout.textContent = title.textContent; };
			const leave = () => { near(null); readout.textContent = ""; };
			for (const name of ["pointerenter", "focus"]) node.addEventListener(name, enter);
			for (const name of ["pointerleave", "blur"]) node.addEventListener(name, leave);
		}
		const counts = [...new Set(links.map((l) => Number(l.dataset.count)))].sort((a, b) => a - b);
		if (counts.length < 3) continue;
		const tools = html(figure, "div", { class: "tools" });
		figure.insertBefore(tools, figure.firstChild);
		const label = html(tools, "label", {}, "Lines that occur at least ");
		const slider = html(label, "input", { type: "range", min: 0, max: counts.length - 1, value: 0 });
		const shown = html(label, "span", {}, " once");
		slider.addEventListener("input", () => {
			const least = counts[Number(slider.value)];
			shown.textContent = " " + least + " times";
			for (const l of links) l.style.display = Number(l.dataset.count) < least ? "none" : "";
		});
	}
}

function copies() {
	for (const code of all(".copy")) {
		const made = button(code.parentNode, "Copy", async () => {
			try {
				await navigator.clipboard.writeText(code.textContent);
				made.textContent = "Copied";
			} catch {
				getSelection().selectAllChildren(code);
				made.textContent = "Selected";
			}
		});
		code.after(" ", made);
	}
}

function navigation() {
	const nav = document.querySelector("nav");
	if (!nav) return;
	button(nav, "Whole run", () => writeState({ t: null }), { id: "whole", hidden: "" });
	button(nav, "Light or dark", () => {
		const dark = state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
		writeState({ theme: dark ? "light" : "dark" });
	});
}

function apply() {
	const root = document.documentElement;
	if (state.theme === "dark" || state.theme === "light") root.dataset.theme = state.theme;
	else delete root.dataset.theme;
	const several = data.runs.length > 1;
	all(".run").forEach((run, i) => { run.hidden = several && i + 1 !== state.run; });
	all(".toc").forEach((toc, i) => { toc.hidden = several && i + 1 !== state.run; });
	all(".runs a").forEach((a, i) => (i + 1 === state.run ? a.setAttribute("aria-current", "true") : a.removeAttribute("aria-current")));
	const whole = document.getElementById("whole");
	if (whole) whole.hidden = !state.t;
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
		if (figure) frames.push(new Frame(plot, figure, run));
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
addEventListener("hashchange", again);
addEventListener("popstate", again);
let waiting = 0;
addEventListener("resize", () => {
	cancelAnimationFrame(waiting);
	waiting = requestAnimationFrame(apply);
});
addEventListener("beforeprint", () => all(".card details").forEach((d) => { d.open = true; }));
document.body.dataset.ready = "1";
})();
