// SPDX-License-Identifier: MIT
// The report as the page needs it: look-ups by node, and the graphs of the views.
'use strict';

const report = JSON.parse(document.getElementById('report').textContent);

function bytes(n) {
  if (n >= 1 << 20) return (n / (1 << 20)).toFixed(1) + ' MiB';
  if (n >= 1 << 10) return (n / (1 << 10)).toFixed(1) + ' KiB';
  return n + ' B';
}
function time(ps) {
  if (ps === null || ps === undefined) return '';
  const us = ps / 1e6;
  return us >= 1e4 ? (us / 1e3).toFixed(1) + ' ms' : us.toFixed(us < 10 ? 2 : 1) + ' us';
}
function names(ids) { return ids.map(id => '%' + id).join(' '); }
function count(n, noun) { return n + ' ' + noun + (n === 1 ? '' : 's'); }
/// "%3+%7" is [3, 7].
function membersOf(group) { return group.split('+').map(name => Number(name.slice(1))); }

const stageNodes = new Map(report.stages.map(stage => [stage.name, stage.nodes]));
const lowered = stageNodes.get('rewrite') || [];
const realizeOf = new Map(report.realize.map(record => [record.node, record]));
const candidates = report.rounds.flatMap(r => r.candidates.map(c => ({round: r.round, ...c})));

const testsOfNode = new Map();
candidates.forEach(c => {
  c.left = membersOf(c.a);
  c.right = membersOf(c.b);
  [...c.left, ...c.right].forEach(node => {
    if (!testsOfNode.has(node)) testsOfNode.set(node, []);
    testsOfNode.get(node).push(c);
  });
});
const inlinedIn = new Map();
report.realize.forEach(r => r.into.forEach(host => { inlinedIn.set(host, (inlinedIn.get(host) || 0) + 1); }));

const kernelsOfMember = new Map();
report.kernels.forEach((kernel, k) => kernel.members.forEach(node => {
  kernelsOfMember.set(node, [...(kernelsOfMember.get(node) || []), k]);
}));

function union(lists) { return [...new Set(lists.flat())].sort((a, b) => a - b); }

/// Kernels that compute a node of the lowered graph.
function kernelsOf(node) {
  const record = realizeOf.get(node);
  const hosts = record && !record.realized ? record.into : [node];
  return union(hosts.map(host => kernelsOfMember.get(host) || []));
}

/// Kernels that compute some part of a traced node.
const kernelsOfSource = new Map();
lowered.forEach(n => {
  if (n.leaf) return;
  kernelsOfSource.set(n.source, union([kernelsOfSource.get(n.source) || [], kernelsOf(n.id)]));
});

function kindOf(n) {
  if (n.leaf) return 'leaf';
  const record = realizeOf.get(n.id);
  return record ? (record.realized ? 'realized' : 'inlined') : '';
}

function stageGraph(name) {
  const isLowered = name === 'rewrite';
  const nodes = stageNodes.get(name).map(n => ({
    key: n.id, title: '%' + n.id + ' ' + n.op, sub: n.type, output: n.output,
    kind: isLowered ? kindOf(n) : n.leaf ? 'leaf' : '',
    kernels: n.leaf ? [] : isLowered ? kernelsOf(n.id) : kernelsOfSource.get(name === 'trace' ? n.id : n.source) || [],
    detail: () => isLowered ? loweredDetail(n) : tracedDetail(n, name),
  }));
  const edges = stageNodes.get(name).flatMap(n => [...new Set(n.operands)].map(o => ({from: o, to: n.id})));
  return {nodes, edges};
}

/// Inputs and realized nodes that a realized node reads, through what is inlined in it.
function readsOf(node) {
  const reads = new Set(), seen = new Set(), work = [...lowered[node].operands];
  while (work.length) {
    const id = work.pop();
    if (seen.has(id)) continue;
    seen.add(id);
    const record = realizeOf.get(id);
    if (lowered[id].op === 'input' || (record && record.realized)) reads.add(id);
    else work.push(...lowered[id].operands);
  }
  return [...reads];
}

function bufferGraph() {
  const realized = report.realize.filter(r => r.realized).map(r => r.node);
  const shown = new Set(realized);
  const edges = realized.flatMap(node => readsOf(node).map(from => {
    shown.add(from);
    return {from, to: node, ...edgeDetail(from, node)};
  }));
  const nodes = lowered.filter(n => shown.has(n.id)).map(n => {
    const inlined = inlinedIn.get(n.id);
    return {
      key: n.id, title: '%' + n.id + ' ' + n.op + (inlined ? ' +' + inlined : ''), sub: n.type, output: n.output,
      kind: kindOf(n), kernels: n.leaf ? [] : kernelsOf(n.id), detail: () => loweredDetail(n),
    };
  });
  return {nodes, edges};
}

function kernelGraph() {
  const nodes = report.kernels.map((k, i) => ({
    key: 'k' + i, title: k.name.replace(/^tenon_/, ''), kind: 'realized', kernels: [i], output: false,
    sub: bytes(k.read_bytes) + ' in, ' + bytes(k.write_bytes) + ' out', detail: () => kernelDetail(k),
  }));
  const edges = new Map(), inputs = new Set();
  report.kernels.forEach((k, i) => k.members.forEach(member => readsOf(member).forEach(from => {
    const makers = kernelsOfMember.get(from) || [];
    if (makers.includes(i)) return;
    if (!makers.length) inputs.add(from);
    (makers.length ? makers.map(m => 'k' + m) : [from]).forEach(source => {
      const key = source + '>' + i;
      if (!edges.has(key)) edges.set(key, {from: source, to: 'k' + i, values: new Set()});
      edges.get(key).values.add(from);
    });
  })));
  edges.forEach(edge => { edge.detail = () => bufferDetail(edge); });
  const leaves = lowered.filter(n => inputs.has(n.id)).map(n => ({
    key: n.id, title: '%' + n.id + ' ' + n.op, sub: n.type, kind: 'leaf', kernels: [], detail: () => loweredDetail(n),
  }));
  return {nodes: [...leaves, ...nodes], edges: [...edges.values()]};
}

/// The values that one kernel hands to another.
function bufferDetail({from, to, values}) {
  const list = [...values], sum = list.reduce((total, id) => total + lowered[id].bytes, 0);
  const writer = typeof from === 'string' ? report.kernels[Number(from.slice(1))].name : 'an input';
  return {title: writer + ' to ' + report.kernels[Number(to.slice(1))].name,
    rows: [['bytes', bytes(sum)], ...list.map(id => ['%' + id, lowered[id].text])]};
}

/// Tests of pairs with a on one side and b on the other.
function testsOf(a, b) {
  return (testsOfNode.get(a) || []).filter(c =>
    (c.left.includes(a) && c.right.includes(b)) || (c.left.includes(b) && c.right.includes(a)));
}

function testRow(c) {
  return ['round ' + c.round, c.a + ' and ' + c.b + ': ' + c.verdict + (c.reason ? ', ' + c.reason : '') +
    (c.score ? ', ' + time(c.score) : '')];
}

function edgeDetail(from, to) {
  const tests = testsOf(from, to);
  const fused = kernelsOf(from).some(k => kernelsOf(to).includes(k));
  const verdict = lowered[from].leaf ? '' : fused ? 'fused' : tests.length ? 'rejected' : '';
  return {verdict, detail: () => ({
    title: '%' + to + ' reads %' + from,
    rows: [['value', lowered[from].text], ['bytes', bytes(lowered[from].bytes)], ...tests.map(testRow)],
    notes: lowered[from].leaf ? ['an input'] : [fused ? 'in one kernel: the value stays on chip' : 'goes through memory'],
  })};
}

function matchRows(isMine) {
  return report.rewrites.filter(isMine).map(r => [r.rule, r.before + (r.after.length ? ' became ' + names(r.after) : ' went')]);
}

function tracedDetail(n, stage) {
  const later = lowered.filter(other => other.source === (stage === 'trace' ? n.id : n.source) && !other.leaf);
  const rows = [['bytes', bytes(n.bytes)]];
  if (stage !== 'trace') rows.push(['traced op', '%' + n.source]);
  if (later.length) rows.push(['after rewriting', later.map(other => other.text).join('; ')]);
  return {title: n.text, rows: [...rows, ...matchRows(r => r.sources.includes(stage === 'trace' ? n.id : n.source))]};
}

function loweredDetail(n) {
  const record = realizeOf.get(n.id);
  const rows = [['bytes', bytes(n.bytes)], ['traced op', '%' + n.source]];
  if (!record) return {title: n.text, rows};
  rows.unshift(['decision', record.realized ? 'realized' : 'inlined into ' + names(record.into)], ['rule', record.rule]);
  rows.push(['reads, ops', record.reads + ', ' + record.ops], ['users', record.users],
    ['inlined cost', time(record.inline_cost_ps)], ['stored cost', time(record.store_cost_ps)],
    ['kernel', kernelsOf(n.id).map(k => report.kernels[k].name).join(', ') || 'none: it has no elements']);
  const tests = record.realized ? testsOfNode.get(n.id) || [] : [];
  return {title: n.text, rows: [...rows, ...tests.slice(0, 12).map(testRow)]};
}

function kernelDetail(k) {
  const rows = [['class', k.class], ['members', names(k.members)], ['reads', bytes(k.read_bytes)],
    ['writes', bytes(k.write_bytes)], ['tasks, phases', k.tasks + ', ' + k.phases], ['predicted', time(k.predicted_ps)]];
  if (k.measured_ps !== null) rows.push(['measured', time(k.measured_ps)]);
  return {title: k.name, rows: [...rows, ...k.members.map(m => ['%' + m, lowered[m] ? lowered[m].text : ''])]};
}
