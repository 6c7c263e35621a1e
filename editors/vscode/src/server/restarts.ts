/** When a server that ended by itself is started again: a few times, and then not any more by itself. */
export class Restarts {
  private ends: readonly number[] = [];

  /**
   * @param most how many ends in a period are answered with a restart.
   * @param period in milliseconds.
   */
  constructor(
    private readonly most = 4,
    private readonly period = 3 * 60_000,
  ) {}

  /** Notes an end of the server, at a time in milliseconds, and says whether it is to be started again. */
  allow(now: number): boolean {
    this.ends = [...this.ends.filter((end) => now - end < this.period), now];
    return this.ends.length <= this.most;
  }

  /** Forgets the past, because the user started the server. */
  forget(): void {
    this.ends = [];
  }
}
