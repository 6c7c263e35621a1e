const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [365 * 86_400, "y"],
  [30 * 86_400, "mo"],
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
];

/** How long ago something was, in one short word. */
export function ago(then: Date, now: Date): string {
  const seconds = (now.getTime() - then.getTime()) / 1000;
  const step = STEPS.find(([size]) => seconds >= size);
  return step === undefined ? "now" : `${Math.floor(seconds / step[0])} ${step[1]}`;
}
