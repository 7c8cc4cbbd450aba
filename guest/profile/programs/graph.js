// Classes, a binary heap, private fields, shortest paths, closures, generators, exceptions.
class Heap {
  #items = [];
  get size() {
    return this.#items.length;
  }
  push(cost, node) {
    const items = this.#items;
    items.push({ cost, node });
    let at = items.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (items[parent].cost <= items[at].cost) break;
      [items[parent], items[at]] = [items[at], items[parent]];
      at = parent;
    }
  }
  pop() {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length > 0) {
      items[0] = last;
      for (let at = 0; ; ) {
        let least = at;
        for (const child of [2 * at + 1, 2 * at + 2]) {
          if (child < items.length && items[child].cost < items[least].cost) least = child;
        }
        if (least === at) break;
        [items[least], items[at]] = [items[at], items[least]];
        at = least;
      }
    }
    return first;
  }
}

function* neighbours(node, width) {
  if (node % width > 0) yield node - 1;
  if (node % width < width - 1) yield node + 1;
  if (node >= width) yield node - width;
  if (node < width * (width - 1)) yield node + width;
}

function shortest(width, cost) {
  const best = new Array(width * width).fill(Infinity);
  best[0] = 0;
  const heap = new Heap();
  heap.push(0, 0);
  while (heap.size > 0) {
    const { cost: reached, node } = heap.pop();
    if (reached > best[node]) continue;
    for (const next of neighbours(node, width)) {
      const total = reached + cost(next);
      if (total < best[next]) {
        best[next] = total;
        heap.push(total, next);
      }
    }
  }
  return best[width * width - 1];
}

function execute() {
  const counter = (() => {
    let count = 0;
    return { add: (n) => (count += n), get: () => count };
  })();
  for (let round = 1; round <= 4; round++) counter.add(shortest(40, (node) => ((node * 31 * round) % 17) + 1));
  for (let i = 0; i < 3000; i++) {
    try {
      if (i % 3 === 0) throw new RangeError(`step ${i}`);
      counter.add(1);
    } catch (error) {
      counter.add(error.message.length);
    } finally {
      counter.add(1);
    }
  }
  return counter.get();
}
