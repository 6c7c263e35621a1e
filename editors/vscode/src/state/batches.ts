/** Gathers values for a moment, so that a fast answer does not become a message for every word. */
export class Batches<T> {
  private readonly waiting = new Map<string, T[]>();
  private readonly timers = new Map<string, NodeJS.Timeout>();

  /**
   * @param milliseconds how long a value waits at most for others of its key.
   * @param deliver gets what was gathered, in its order.
   */
  constructor(
    private readonly milliseconds: number,
    private readonly deliver: (key: string, values: readonly T[]) => void,
  ) {}

  /** Adds a value; the first one after a pause is delivered at once, so that nobody waits for a first word. */
  add(key: string, value: T): void {
    const gathered = this.waiting.get(key);
    if (gathered !== undefined) {
      gathered.push(value);
      return;
    }
    this.waiting.set(key, []);
    this.deliver(key, [value]);
    this.timers.set(
      key,
      setTimeout(() => {
        this.flush(key);
      }, this.milliseconds),
    );
  }

  /** Delivers what waits under a key. */
  flush(key: string): void {
    clearTimeout(this.timers.get(key));
    this.timers.delete(key);
    const gathered = this.waiting.get(key) ?? [];
    this.waiting.delete(key);
    if (gathered.length > 0) {
      this.deliver(key, gathered);
    }
  }

  /** Delivers all that waits. */
  flushAll(): void {
    for (const key of [...this.waiting.keys()]) {
      this.flush(key);
    }
  }

  /** Drops whatever waits. */
  dispose(): void {
    for (const timer of this.timers.values()) {
      clearTimeout(timer);
    }
    this.timers.clear();
    this.waiting.clear();
  }
}
