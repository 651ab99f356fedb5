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

/// Splits edges over several layers by points of width 1, which the edges out of one box share; returns all boxes, the
/// short edges, and the chain of each edge.
function withPoints(boxes, pairs, layer) {
  const all = boxes.map((box, i) => ({...box, layer: layer[i]})), trunks = new Map(), short = new Map();
  const pointAt = (from, l) => {
    const key = from + '@' + l;
    if (!trunks.has(key)) {
      all.push({width: 1, height: 0, layer: l, isPoint: true});
      trunks.set(key, all.length - 1);
    }
    return trunks.get(key);
  };
  const chains = pairs.map(([from, to]) => {
    const chain = [from];
    for (let l = layer[from] + 1; l < layer[to]; l++) chain.push(pointAt(from, l));
    chain.push(to);
    for (let i = 1; i < chain.length; i++) short.set(chain[i - 1] + '>' + chain[i], [chain[i - 1], chain[i]]);
    return chain;
  });
  return {all, short: [...short.values()], chains};
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
    const weight = all[box].isPoint ? 4 : 1;
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

function placeColumns(rows, all, out, into) {
  rows.forEach(row => spread(row, all, row.map(() => 0)));
  const pull = (row, near) => spread(row, all, row.map(box => {
    const xs = near(box).map(other => all[other].x);
    return xs.length ? xs.reduce((a, b) => a + b) / xs.length : all[box].x;
  }));
  for (let sweep = 0; sweep < 12; sweep++) {
    rows.forEach(row => pull(row, box => into[box]));
    [...rows].reverse().forEach(row => pull(row, box => out[box]));
  }
  rows.forEach(row => pull(row, box => [...into[box], ...out[box]]));
}

function placeRows(rows, all) {
  let y = kMargin;
  rows.forEach(row => {
    const height = Math.max(...row.map(box => all[box].height), 8);
    row.forEach(box => { all[box].y = y + height / 2; all[box].rowHeight = height; });
    y += height + kGapY;
  });
  return y - kGapY + kMargin;
}

/// Boxes {width, height} and edges [from, to] (positions; no cycle): gives boxes their centre x, y, and for each edge a
/// list of points from the lower side of one to the upper side of the other.
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
  const left = Math.min(...all.map(box => box.x - box.width / 2)) - kMargin;
  all.forEach(box => { box.x -= left; });
  const width = Math.max(...all.map(box => box.x + box.width / 2)) + kMargin;
  const lines = chains.map(chain => chain.flatMap((box, i) => {
    const {x, y, height: h, rowHeight, isPoint} = all[box];
    if (isPoint) return [[x, y - rowHeight / 2], [x, y + rowHeight / 2]];
    return [[x, i ? y - h / 2 : y + h / 2]];
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
