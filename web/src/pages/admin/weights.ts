/** The slider moves by factors: 0.1, 0.2, 0.5, 1, 2, 5, 10 … each step about doubles the weight. */
export const WEIGHTS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

/** The place on the slider that is nearest to a weight. */
export function placeOf(weight: number): number {
  const distance = (each: number) => Math.abs(Math.log(each / weight));
  return WEIGHTS.reduce((best, each, index) => (distance(each) < distance(WEIGHTS[best]!) ? index : best), 0);
}

/** The share of the workers that a weight gives among these others while all have work. */
export function shareOf(weight: number, others: number[]): number {
  return weight / (weight + others.reduce((sum, each) => sum + each, 0));
}
