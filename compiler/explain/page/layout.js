// SPDX-License-Identifier: MIT
// A layered layout: every edge points down. Layers by longest path, order by medians, positions by least squares.
'use strict';

const kGapX = 18, kGapY = 40, kMargin = 16;

/// Indices so that edges point forwards.
function topological(n, out) {
  const missing = new Array(n).fill(0), order = [];
  out.forEach(list => list.forEach(to => missing[to]++));
  for (let i = 0; i < n; i++) if (!missing[i]) order.push(i);
  for (let at = 0; at < order.length; at++) out[order[at]].forEach(to => { if (!--missing[to]) order.push(to); });
  return order;
}

/// The layer of each node; sources move down to just above their first reader.
function layersOf(n, out, into) {
  const layer = new Array(n).fill(0);
  topological(n, out).forEach(i => out[i].forEach(to => { layer[to] = Math.max(layer[to], layer[i] + 1); }));
  for (let i = 0; i < n; i++) {
    if (!into[i].length && out[i].length) layer[i] = Math.min(...out[i].map(to => layer[to])) - 1;
  }
  return layer;
}

function neighbours(n, pairs) {
  const out = Array.from({length: n}, () => []), into = Array.from({length: n}, () => []);
  pairs.forEach(([from, to]) => { out[from].push(to); into[to].push(from); });
  return {out, into};
}

/// Splits edges over several layers by points of width 1, which the edges out of one box share. Returns all boxes, the
/// short edges, and of each edge the chain from where it leaves what was drawn for earlier ones.
function withPoints(boxes, pairs, layer) {
  const all = boxes.map((box, i) => ({...box, layer: layer[i]})), trunks = new Map(), short = [];
  const chains = pairs.map(([from, to]) => {
    if (!trunks.has(from)) trunks.set(from, [from]);
    const trunk = trunks.get(from), length = layer[to] - layer[from], known = Math.min(trunk.length, length);
    while (trunk.length < length) {
      all.push({width: 1, height: 0, layer: layer[from] + trunk.length, isPoint: true});
      short.push([trunk[trunk.length - 1], all.length - 1]);
      trunk.push(all.length - 1);
    }
    short.push([trunk[length - 1], to]);
    return [...trunk.slice(known - 1, length), to];
  });
  return {all, short, chains};
}

function median(values) {
  if (!values.length) return null;
  values.sort((a, b) => a - b);
  const middle = values.length >> 1;
  return values.length % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

function orderLayers(rows, all, out, into) {
  const place = new Array(all.length);
  const number = row => row.forEach((box, i) => { place[box] = i; });
  rows.forEach(number);
  const sort = (row, near) => {
    const wish = new Map(row.map(box => [box, median(near[box].map(other => place[other]))]));
    row.forEach((box, i) => { if (wish.get(box) === null) wish.set(box, i); });
    row.sort((a, b) => wish.get(a) - wish.get(b) || place[a] - place[b]);
    number(row);
  };
  for (let sweep = 0; sweep < 10; sweep++) {
    rows.forEach(row => sort(row, into));
    [...rows].reverse().forEach(row => sort(row, out));
  }
  rows.forEach(row => sort(row, into));
}

/// Centres nearest to the wishes that keep order and gaps: blocks that collide move as one (pooled means).
function spread(row, all, wishes) {
  const blocks = [];
  let offset = 0;
  row.forEach((box, i) => {
    if (i) offset += (all[row[i - 1]].width + all[box].width) / 2 + kGapX;
    const weight = all[box].isAlone ? 1e-6 : all[box].isPoint ? 4 : 1;
    let block = {sum: weight * (wishes[i] - offset), weight, count: 1};
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight > block.sum / block.weight) {
      const last = blocks.pop();
      block = {sum: last.sum + block.sum, weight: last.weight + block.weight, count: last.count + block.count};
    }
    blocks.push(block);
  });
  let i = 0, at = 0;
  blocks.forEach(block => {
    for (let k = 0; k < block.count; k++, i++) {
      if (i) at += (all[row[i - 1]].width + all[row[i]].width) / 2 + kGapX;
      all[row[i]].x = block.sum / block.weight + at;
    }
  });
}

function mean(values) { return values.reduce((a, b) => a + b, 0) / values.length; }

/// Takes out the slow drift to a side: each row moves by the mean centre of the rows around it.
function straighten(rows, all) {
  const kReach = 12, sums = [0];
  rows.forEach(row => sums.push(sums[sums.length - 1] + mean(row.map(box => all[box].x))));
  rows.forEach((row, l) => {
    const first = Math.max(l - kReach, 0), end = Math.min(l + kReach + 1, rows.length);
    const drift = (sums[end] - sums[first]) / (end - first);
    row.forEach(box => { all[box].x -= drift; });
  });
}

function placeColumns(rows, all, out, into) {
  rows.flat().forEach(box => { all[box].isAlone = !out[box].length && !into[box].length; });
  rows.forEach(row => spread(row, all, row.map(() => 0)));
  const pull = (row, near) => spread(row, all, row.map((box, i) => {
    const others = near(box);
    if (others.length) return mean(others.map(other => all[other].x));
    return all[all[box].isAlone && i ? row[i - 1] : box].x;
  }));
  for (let sweep = 0; sweep < 12; sweep++) {
    rows.forEach(row => pull(row, box => into[box]));
    [...rows].reverse().forEach(row => pull(row, box => out[box]));
  }
  rows.forEach(row => pull(row, box => [...into[box], ...out[box]]));
  straighten(rows, all);
}

function placeRows(rows, all) {
  let y = kMargin;
  rows.forEach(row => {
    const height = largest(row.map(box => all[box].height), 8);
    row.forEach(box => { all[box].y = y + height / 2; all[box].rowHeight = height; });
    y += height + kGapY;
  });
  return y - kGapY + kMargin;
}

function largest(values, start) { return values.reduce((a, b) => Math.max(a, b), start); }

/// Boxes {width, height} and edges [from, to] (positions; no cycle): gives boxes their centre x, y, and for each edge a
/// list of points to the upper side of the one from the lower side of the other, or from where it leaves an edge drawn
/// before.
function layout(boxes, pairs) {
  const plain = neighbours(boxes.length, pairs);
  const layer = layersOf(boxes.length, plain.out, plain.into);
  const {all, short, chains} = withPoints(boxes, pairs, layer);
  const {out, into} = neighbours(all.length, short);
  const rows = [];
  all.forEach((box, i) => { (rows[box.layer] = rows[box.layer] || []).push(i); });
  for (let l = 0; l < rows.length; l++) rows[l] = rows[l] || [];
  const used = rows.filter(row => row.length);
  orderLayers(used, all, out, into);
  placeColumns(used, all, out, into);
  const height = placeRows(used, all);
  const left = -largest(all.map(box => box.width / 2 - box.x), -Infinity) - kMargin;
  all.forEach(box => { box.x -= left; });
  const width = largest(all.map(box => box.x + box.width / 2), 0) + kMargin;
  const lines = chains.map(chain => chain.flatMap((box, i) => {
    const {x, y, height: h, rowHeight, isPoint} = all[box];
    if (!isPoint) return [[x, i ? y - h / 2 : y + h / 2]];
    return i ? [[x, y - rowHeight / 2], [x, y + rowHeight / 2]] : [[x, y + rowHeight / 2]];
  }));
  return {boxes: all.slice(0, boxes.length), lines, width, height};
}

/// An SVG path through the points: vertical where it meets each of them.
function pathOf(points) {
  return points.map(([x, y], i) => {
    if (!i) return `M${x.toFixed(1)},${y.toFixed(1)}`;
    const [px, py] = points[i - 1], middle = (py + y) / 2;
    return `C${px.toFixed(1)},${middle.toFixed(1)} ${x.toFixed(1)},${middle.toFixed(1)} ${x.toFixed(1)},${y.toFixed(1)}`;
  }).join(' ');
}
