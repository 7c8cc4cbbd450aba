/** Computes the body mass index from a weight in kilograms and a height in metres or centimetres. */
function execute({ weight, height, height_unit }: { weight: number; height: number; height_unit: string }): number {
  if (!(weight > 0) || !(height > 0)) throw new Error("weight and height must be positive numbers");
  if (height_unit !== "m" && height_unit !== "cm") throw new Error("height_unit must be 'm' or 'cm'");
  const metres = height_unit === "cm" ? height / 100 : height;
  return weight / metres ** 2;
}
