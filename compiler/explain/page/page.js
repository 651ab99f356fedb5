// SPDX-License-Identifier: MIT
// Draws the report: the graph of the chosen view, the tables, the memory timeline.
'use strict';

function make(name, attributes, ...children) { return fill(document.createElement(name), attributes, children); }
function draw(name, attributes, ...children) {
  return fill(document.createElementNS('http' + '://www.w3.org/2000/svg', name), attributes, children);
}
function fill(element, attributes, children) {
  Object.entries(attributes || {}).forEach(([key, value]) => element.setAttribute(key, value));
  element.append(...children);
  return element;
}
function byId(id) { return document.getElementById(id); }

// ---- colours ----

const kHues = [212, 28, 145, 275, 48, 185, 345, 95, 240, 10];
function colour(kernels) {
  if (!kernels.length) return {fill: '#f1f3f5', stroke: '#a9b3bd'};
  if (kernels.length > 1) return {fill: '#ffffff', stroke: '#6b7783'};
  const hue = kHues[kernels[0] % kHues.length], light = 90 - 5 * (Math.floor(kernels[0] / kHues.length) % 3);
  return {fill: `hsl(${hue} 55% ${light}%)`, stroke: `hsl(${hue} 38% 48%)`};
}

// ---- the graph ----

const kViews = [
  ['trace', 'What the calls recorded. Colour: the kernel that computes it in the end.', () => stageGraph('trace')],
  ['decompose', 'Composite ops taken apart into primitives.', () => stageGraph('decompose')],
  ['rewrite', 'After rewriting. Solid: realized when lowered; dashed: inlined into its readers. White: into several kernels.',
    () => stageGraph('rewrite')],
  ['lower', 'The buffers before fusion: what is realized, and which it reads; +n values are inlined in it. Green edges were ' +
    'fused, red ones were not; point at them for the scores.', () => bufferGraph()],
  ['kernels', 'After fusion: one box a kernel, one edge a buffer that goes through memory.', () => kernelGraph()],
];

const kMostBoxes = 1500;  // of the view shown first: more take seconds to place
let scale = 1, drawn = null;

function showDetail({title, rows, notes}) {
  const list = make('dl', {}, ...(rows || []).flatMap(([k, v]) => [make('dt', {}, k), make('dd', {}, String(v))]));
  byId('detail').replaceChildren(make('h3', {}, title), ...(notes || []).map(n => make('p', {}, n)), list);
}

function listen(element, detail) {
  element.addEventListener('mouseenter', () => { element.classList.add('hot'); showDetail(detail()); });
  element.addEventListener('mouseleave', () => element.classList.remove('hot'));
}

function drawNode(node, box) {
  const {fill: inside, stroke} = colour(node.kernels);
  const group = draw('g', {class: `node ${node.kind} ${node.output ? 'output' : ''}`,
      transform: `translate(${(box.x - box.width / 2).toFixed(1)},${(box.y - box.height / 2).toFixed(1)})`},
    draw('rect', {width: box.width, height: box.height, rx: node.kind === 'leaf' ? box.height / 2 : 5, fill: inside, stroke}),
    draw('text', {x: box.width / 2, y: 15, 'text-anchor': 'middle'}, node.title),
    draw('text', {x: box.width / 2, y: 28, 'text-anchor': 'middle', class: 'sub'}, node.sub));
  listen(group, node.detail);
  return group;
}

function drawEdge(edge, points) {
  const d = pathOf(points);
  const group = draw('g', {}, draw('path', {d, class: 'edge ' + (edge.verdict || ''), 'marker-end': 'url(#tip)'}));
  if (edge.detail) {
    group.append(draw('path', {d, class: 'touch'}));
    listen(group, edge.detail);
  }
  return group;
}

function tip() {
  return draw('defs', {}, draw('marker', {id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
    markerUnits: 'userSpaceOnUse', orient: 'auto'}, draw('path', {d: 'M0,1 L7,4 L0,7 z', fill: '#9aa5b1'})));
}

function widthOf(node) { return Math.max(7 * node.title.length, 6 * node.sub.length, 40) + 20; }

function drawGraph({nodes, edges}) {
  if (!nodes.length) return {svg: draw('svg', {width: 0, height: 0}), width: 1, height: 1, top: 0};
  const position = new Map(nodes.map((node, i) => [node.key, i]));
  const pairs = edges.map(e => [position.get(e.from), position.get(e.to)]);
  const {boxes, lines, width, height} = layout(nodes.map(n => ({width: widthOf(n), height: 36})), pairs);
  const svg = draw('svg', {viewBox: `0 0 ${width} ${height}`}, tip(), ...edges.map((e, i) => drawEdge(e, lines[i])),
    ...nodes.map((n, i) => drawNode(n, boxes[i])));
  const uppermost = boxes.reduce((a, b) => b.y < a.y ? b : a);
  return {svg, width, height, top: uppermost.x};
}

function zoom(to) {
  scale = Math.min(Math.max(to, .1), 3);
  drawn.svg.setAttribute('width', drawn.width * scale);
  drawn.svg.setAttribute('height', drawn.height * scale);
}

/// The whole width if it can be read then, else what can be read.
function fit() {
  zoom(Math.min(1.1, Math.max((byId('drawing').clientWidth - 2) / drawn.width, .5)));
  byId('drawing').classList.toggle('short', drawn.height * scale < 600);
  byId('drawing').scrollLeft = drawn.top * scale - byId('drawing').clientWidth / 2;
}

function show(name) {
  const [, note, graph] = kViews.find(view => view[0] === name);
  byId('views').querySelectorAll('button').forEach(b => b.setAttribute('aria-selected', b.textContent === name));
  byId('view-note').textContent = note;
  drawn = drawGraph(graph());
  byId('drawing').replaceChildren(drawn.svg);
  byId('detail').replaceChildren(make('p', {}, 'Point at a node or an edge for what was decided there.'));
  fit();
}

function dragToScroll(element) {
  let from = null;
  element.addEventListener('mousedown', e => { from = {x: e.clientX + element.scrollLeft, y: e.clientY + element.scrollTop}; });
  window.addEventListener('mouseup', () => { from = null; });
  window.addEventListener('mousemove', e => {
    if (from) element.scrollTo({left: from.x - e.clientX, top: from.y - e.clientY, behavior: 'instant'});
  });
  element.addEventListener('wheel', e => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    zoom(scale * (e.deltaY < 0 ? 1.15 : 1 / 1.15));
  }, {passive: false});
}

function startGraph() {
  kViews.forEach(([name]) => {
    const button = make('button', {role: 'tab'}, name);
    button.addEventListener('click', () => show(name));
    byId('views').append(button);
  });
  byId('zoom-in').addEventListener('click', () => zoom(scale * 1.25));
  byId('zoom-out').addEventListener('click', () => zoom(scale / 1.25));
  byId('zoom-fit').addEventListener('click', fit);
  dragToScroll(byId('drawing'));
  byId('legend').append(...report.kernels.map((k, i) => {
    const {fill: background, stroke} = colour([i]);
    return make('span', {}, make('i', {style: `background:${background};border-color:${stroke}`}), k.name);
  }));
}

// ---- tables ----

const kMostRows = 400;

/// A table that sorts by a click on a head. Columns: [head, value of a row, its text, class].
function table(holder, columns, rows, empty) {
  let sorted = rows, by = null, down = true, all = false;
  const render = () => {
    if (!rows.length) return holder.replaceChildren(make('div', {class: 'none'}, empty));
    const head = columns.map((column, c) => {
      const cell = make('th', {class: column[3] || ''}, column[0]);
      if (by === c) cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      cell.addEventListener('click', () => sort(c));
      return cell;
    });
    const body = (all ? sorted : sorted.slice(0, kMostRows)).map(row => make('tr', {}, ...columns.map(column => {
      const text = column[2] ? column[2](row) : String(column[1](row));
      return make('td', {class: typeof column[4] === 'function' ? column[4](row) : column[3] || ''}, text);
    })));
    holder.replaceChildren(make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...body)));
    if (!all && sorted.length > kMostRows) {
      const more = make('button', {}, `show all ${sorted.length}`);
      more.addEventListener('click', () => { all = true; render(); });
      holder.append(make('div', {class: 'more'}, `The first ${kMostRows} rows. `, more));
    }
  };
  const sort = c => {
    down = by === c ? !down : columns[c][3] === 'number';
    by = c;
    const value = columns[c][1];
    sorted = [...rows].sort((a, b) => {
      const x = value(a), y = value(b), order = x < y ? -1 : x > y ? 1 : 0;
      return down ? -order : order;
    });
    render();
  };
  render();
}

function holderOf(section) { return byId(section).querySelector('.table'); }

function realizeTable() {
  table(holderOf('realize'), [
    ['value', r => r.node, r => r.text, 'code'],
    ['decision', r => r.realized, r => r.realized ? 'realized' : 'inlined into ' + names(r.into)],
    ['rule', r => r.rule],
    ['reads', r => r.reads, null, 'number'],
    ['ops', r => r.ops, null, 'number'],
    ['users', r => r.users, null, 'number'],
    ['bytes in', r => r.bytes_in, r => bytes(r.bytes_in), 'number'],
    ['bytes out', r => r.bytes_out, r => bytes(r.bytes_out), 'number'],
    ['inlined cost', r => r.inline_cost_ps, r => time(r.inline_cost_ps), 'number'],
    ['stored cost', r => r.store_cost_ps, r => time(r.store_cost_ps), 'number'],
  ], report.realize, 'The program has inputs and constants only.');
}

/// A pair that may not fuse is not scored.
function isScored(c) { return c.score !== 0 || c.shared_bytes !== 0; }

function candidateTable() {
  const chosen = {verdict: '', round: '', text: ''};
  const render = () => table(holderOf('candidates'), [
    ['round', c => c.round],
    ['a', c => c.a, null, 'code'],
    ['b', c => c.b, null, 'code'],
    ['kind', c => c.kind],
    ['shared', c => c.shared_bytes, c => isScored(c) ? bytes(c.shared_bytes) : '', 'number'],
    ['score', c => c.score, c => isScored(c) ? time(c.score) : '', 'number'],
    ['same kind', c => c.same_kind, c => c.same_kind ? 'yes' : 'no'],
    ['distance', c => c.distance, null, 'number'],
    ['verdict', c => c.verdict, null, '', c => c.verdict],
    ['reason', c => c.reason],
  ], candidates.filter(c => (!chosen.verdict || c.verdict === chosen.verdict) && (!chosen.round || String(c.round) === chosen.round) &&
       (!chosen.text || [c.a, c.b, c.reason].join(' ').includes(chosen.text))),
  candidates.length ? 'No pair is left by these filters.' : 'No two kernels share a buffer.');
  const choice = (key, label, values) => {
    const select = make('select', {'aria-label': label}, make('option', {value: ''}, label),
      ...values.map(v => make('option', {value: v}, key === 'round' ? 'round ' + v : v)));
    select.addEventListener('change', () => { chosen[key] = select.value; render(); });
    return select;
  };
  const search = make('input', {type: 'search', placeholder: '%7, INDEX_MISMATCH ...'});
  search.addEventListener('input', () => { chosen.text = search.value; render(); });
  const tally = verdict => candidates.filter(c => c.verdict === verdict).length + ' ' + verdict;
  byId('filters').append(choice('verdict', 'all verdicts', [...new Set(candidates.map(c => c.verdict))]),
    choice('round', 'all rounds', report.rounds.map(r => String(r.round))), search,
    make('span', {class: 'stale'}, [...new Set(candidates.map(c => c.verdict))].map(tally).join(', ')));
  render();
}

function errorOf(k) {
  if (k.measured_ps === null || k.predicted_ps === null) return null;
  return 100 * (k.predicted_ps - k.measured_ps) / k.measured_ps;
}

function kernelTable() {
  const isMeasured = report.kernels.some(k => k.measured_ps !== null);
  table(holderOf('kernels'), [
    ['kernel', k => report.kernels.indexOf(k), k => k.name, 'code'],
    ['class', k => k.class],
    ['members', k => k.members.length, k => names(k.members)],
    ['read', k => k.read_bytes, k => bytes(k.read_bytes), 'number'],
    ['write', k => k.write_bytes, k => bytes(k.write_bytes), 'number'],
    ['tasks', k => k.tasks, null, 'number'],
    ['phases', k => k.phases, null, 'number'],
    ['predicted', k => k.predicted_ps, k => time(k.predicted_ps), 'number'],
    ...(isMeasured ? [
      ['measured', k => k.measured_ps, k => time(k.measured_ps), 'number'],
      ['error', errorOf, k => errorOf(k) === null ? '' : (errorOf(k) > 0 ? '+' : '') + errorOf(k).toFixed(0) + ' %', 'number'],
    ] : []),
  ], report.kernels, 'Nothing is left to compute.');
}

// ---- memory ----

/// Kernels to the right, arena addresses upwards: a value is a box from its first kernel to its last.
function timeline(values, arena) {
  const width = 1000, height = 240, left = 70, kernels = report.kernels.length;
  const x = k => left + (width - left - 10) * k / kernels, y = offset => height - 24 - (height - 40) * offset / arena;
  const svg = draw('svg', {viewBox: `0 0 ${width} ${height}`, width: '100%', style: 'max-width:1100px'});
  [0, arena / 2, arena].forEach(at => svg.append(
    draw('line', {x1: left, x2: width - 10, y1: y(at), y2: y(at), stroke: '#e3e7eb'}),
    draw('text', {x: left - 8, y: y(at) + 4, 'text-anchor': 'end', class: 'sub'}, bytes(at))));
  const step = Math.ceil(kernels / 30);
  for (let k = 0; k < kernels; k += step) {
    svg.append(draw('text', {x: (x(k) + x(k + 1)) / 2, y: height - 6, 'text-anchor': 'middle', class: 'sub'}, 'k' + k));
  }
  values.forEach(v => {
    const maker = kernelsOfMember.get(v.node) || [];
    const {fill: inside, stroke} = colour(maker.slice(0, 1));
    const box = {x: x(v.first_kernel) + 1, width: Math.max(x(v.last_kernel + 1) - x(v.first_kernel) - 2, 1),
      y: y(v.offset + v.bytes), height: Math.max(y(v.offset) - y(v.offset + v.bytes) - 1, 1)};
    const group = draw('g', {class: 'node'}, draw('title', {},
      `%${v.node}: ${bytes(v.bytes)} at ${v.offset}, kernels ${v.first_kernel} to ${v.last_kernel}`),
      draw('rect', {...box, rx: 2, fill: inside, stroke}));
    if (box.width > 34 && box.height > 12) {
      group.append(draw('text', {x: box.x + box.width / 2, y: box.y + box.height / 2 + 4, 'text-anchor': 'middle'}, '%' + v.node));
    }
    svg.append(group);
  });
  return svg;
}

function memory() {
  const {values, arena_bytes: arena} = report.memory;
  if (!values.length) {
    byId('memory-note').textContent = 'No temporaries: every value between kernels is virtual.';
    return;
  }
  const sum = values.reduce((total, v) => total + v.bytes, 0);
  byId('memory-note').textContent = `The arena takes ${bytes(arena)}, ${count(values.length, 'value')} that sum to ${bytes(sum)}: ` +
    'values that are not needed at once share addresses.';
  byId('timeline').append(timeline(values, arena));
  table(holderOf('memory'), [
    ['value', v => v.node, v => lowered[v.node] ? lowered[v.node].text : 'partial results', 'code'],
    ['offset', v => v.offset, null, 'number'],
    ['bytes', v => v.bytes, v => bytes(v.bytes), 'number'],
    ['first kernel', v => v.first_kernel, v => 'k' + v.first_kernel],
    ['last kernel', v => v.last_kernel, v => 'k' + v.last_kernel],
  ], values, '');
}

// ---- the rest ----

function flow() {
  byId('stages').append(...report.stages.map(s => make('div', {}, make('b', {}, s.name),
    make('span', {}, `${s.in} \u2192 ${s.out}` + (s.name === 'lower' ? ' buffers' : s.name === 'loops' ? ' kernels' : ' nodes')),
    make('span', {}, time(s.time_ps)))));
}

function summary() {
  const sum = key => report.kernels.reduce((total, k) => total + k[key], 0);
  const fact = (value, noun) => make('span', {}, make('b', {}, value), ' ' + noun);
  byId('key').textContent = report.key.graph;
  byId('summary').append(fact(report.kernels.length, report.kernels.length === 1 ? 'kernel' : 'kernels'),
    fact(bytes(sum('read_bytes')), 'read'), fact(bytes(sum('write_bytes')), 'written'),
    fact(bytes(report.memory.arena_bytes), 'arena'), fact(time(sum('predicted_ps')), 'predicted'));
  if (report.kernels.every(k => k.measured_ps !== null) && report.kernels.length)
    byId('summary').append(fact(time(sum('measured_ps')), 'measured'));
}

flow();
summary();
startGraph();
realizeTable();
candidateTable();
kernelTable();
memory();
table(holderOf('rewrites'), [
  ['stage', r => r.stage], ['rule', r => r.rule, null, 'short'], ['node', r => r.before, null, 'code'],
  ['became', r => r.after.length, r => r.after.length ? names(r.after) : 'nothing', 'code'],
  ['from traced ops', r => r.sources[0], r => names(r.sources), 'code'],
], report.rewrites, 'Every op is a primitive, and no rule matched.');
table(byId('searches'), [
  ['component', s => s.nodes.length, s => s.nodes.length ? names(s.nodes) : 'the whole graph', 'code'],
  ['search', s => s.method],
  ['why', s => s.reason],
  ['groups tried', s => s.evaluations, null, 'number'],
  ['by greedy', s => s.greedy_cost_ps, s => s.cost_ps ? time(s.greedy_cost_ps) : '', 'number'],
  ['found', s => s.cost_ps, s => s.cost_ps ? time(s.cost_ps) : '', 'number'],
], report.searches, 'No value may join another.');
table(holderOf('ingredients'), [
  ['ingredient', f => f.name], ['hash', f => f.hash, null, 'code'], ['value', f => f.value],
], report.key.ingredients, '');
const wanted = location.hash.match(/^#view=(\w+)$/);
const isLarge = report.realize.filter(r => r.realized).length > kMostBoxes;
show(wanted && kViews.some(view => view[0] === wanted[1]) ? wanted[1] : isLarge ? 'kernels' : 'lower');
document.body.dataset.drawn = byId('drawing').querySelectorAll('.node').length;
