/** Times that pass by themselves, so that nothing has to be sent every second. */

import { Component } from "preact";
import { duration } from "./words";

interface TickingProps {
  /** Milliseconds at the moment when this number came. */
  readonly from: number;
  readonly direction: 1 | -1;
}

/** A time that is counted up or down from the last number that was told. */
export class Ticking extends Component<TickingProps, { readonly now: number }> {
  private since = Date.now();
  private timer: ReturnType<typeof setInterval> | undefined;
  override state = { now: this.since };

  override componentDidMount(): void {
    this.timer = setInterval(() => {
      this.setState({ now: Date.now() });
    }, 1000);
  }

  override componentWillUnmount(): void {
    clearInterval(this.timer);
  }

  override componentDidUpdate({ from }: TickingProps): void {
    if (from !== this.props.from) {
      this.since = Date.now();
    }
  }

  override render({ from, direction }: TickingProps) {
    const passed = Math.max(0, this.state.now - this.since);
    return <span class="time">{duration(from + direction * passed)}</span>;
  }
}
