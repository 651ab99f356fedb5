// SPDX-License-Identifier: MIT
// node layout_check.js PAGE: every view of the page's graph is placed so that it can be read. No two boxes overlap,
// every edge ends below where it starts, nothing leaves the picture. Prints one line a view, or throws.
'use strict';
const assert = require('assert');
const page = require('fs').readFileSync(process.argv[2], 'utf8');
const between = (start, end) => page.slice(page.indexOf(start) + start.length, page.indexOf(end, page.indexOf(start)));

global.document = {getElementById: () => ({textContent: between('id="report">', '</script>')})};
const script = between('<script>', '// Draws the report');  // all that needs no browser
const {layout, views} = new Function(script + `
  return {layout, views: {trace: stageGraph('trace'), decompose: stageGraph('decompose'), rewrite: stageGraph('rewrite'),
                          lower: bufferGraph(), kernels: kernelGraph()}};`)();

for (const [name, {nodes, edges}] of Object.entries(views)) {
  const position = new Map(nodes.map((node, i) => [node.key, i]));
  const pairs = edges.map(e => [position.get(e.from), position.get(e.to)]);
  const placed = layout(nodes.map((node, i) => ({width: 60 + i % 7 * 20, height: 36})), pairs);
  const rows = new Map();
  placed.boxes.forEach(box => {
    assert(box.x - box.width / 2 >= 0 && box.x + box.width / 2 <= placed.width, `${name}: a box leaves the picture`);
    assert(box.y - box.height / 2 >= 0 && box.y + box.height / 2 <= placed.height, `${name}: a box leaves the picture`);
    rows.set(box.y, [...(rows.get(box.y) || []), box]);
  });
  rows.forEach(row => {
    row.sort((a, b) => a.x - b.x);
    for (let i = 1; i < row.length; i++) {
      assert(row[i].x - row[i - 1].x >= (row[i].width + row[i - 1].width) / 2, `${name}: two boxes overlap`);
    }
  });
  placed.lines.forEach((line, e) => {
    for (let i = 1; i < line.length; i++) assert(line[i][1] >= line[i - 1][1], `${name}: an edge goes up`);
    const [x, y] = line[line.length - 1], to = placed.boxes[pairs[e][1]];
    assert(x === to.x && y === to.y - to.height / 2, `${name}: an edge does not reach its node`);
  });
  assert(placed.width < 40 * 200, `${name}: ${placed.width} wide`);
  console.log(name, nodes.length, edges.length, Math.round(placed.width), Math.round(placed.height));
}
