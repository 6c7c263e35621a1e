/**
 * Lets work be done at most once in an animation frame, and less often when it is slow.
 *
 * A page that takes 30 ms to draw an answer would have no time left for keys if it drew it sixty times a second.
 * After slow work as many frames are left out as it takes to spend no more than a part of the time with it.
 */
export class Frames {
  private isWanted = false;
  private notBefore = 0;

  /**
   * @param work what is done.
   * @param share the part of the time that it may take, from 0 to 1.
   */
  constructor(
    private readonly work: () => void,
    private readonly share = 0.4,
  ) {}

  /** Asks for the work to be done soon. */
  want(): void {
    if (!this.isWanted) {
      this.isWanted = true;
      requestAnimationFrame(this.run);
    }
  }

  private readonly run = () => {
    if (performance.now() < this.notBefore) {
      requestAnimationFrame(this.run);
      return;
    }
    this.isWanted = false;
    const began = performance.now();
    this.work();
    const ended = performance.now();
    this.notBefore = ended + (ended - began) * (1 / this.share - 1);
  };
}
