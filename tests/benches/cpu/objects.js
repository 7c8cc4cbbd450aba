// Properties, methods, inheritance, spreading and destructuring.
class Shape {
  #name;
  constructor(name) {
    this.#name = name;
  }
  get name() {
    return this.#name;
  }
  area() {
    return 0;
  }
}

class Rectangle extends Shape {
  constructor(width, height) {
    super("rectangle");
    this.width = width;
    this.height = height;
  }
  area() {
    return this.width * this.height;
  }
}

class Circle extends Shape {
  constructor(radius) {
    super("circle");
    this.radius = radius;
  }
  area() {
    return 3 * this.radius * this.radius;
  }
}

function execute({ scale }) {
  const totals = {};
  for (let n = 0; n < 20_000 * scale; n++) {
    const shape = n % 2 ? new Rectangle(n % 10, n % 7) : new Circle(n % 5);
    totals[shape.name] = (totals[shape.name] ?? 0) + shape.area();
  }

  let sum = 0;
  for (let n = 0; n < 10_000 * scale; n++) {
    const point = { x: n, y: n + 1, z: { depth: n % 9 } };
    const { x, z: { depth }, ...rest } = { ...point, x: point.y };
    sum += x + depth + Object.keys(rest).length;
  }
  for (const [name, total] of Object.entries(totals)) sum += name.length + total;
  return sum;
}
