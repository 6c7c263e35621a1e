/** A component that is rendered again only when one of its properties is another one. */

import { Component, type ComponentChild } from "preact";

export abstract class Pure<P extends object, S extends object = Record<string, never>> extends Component<
  P,
  S
> {
  override shouldComponentUpdate(next: Readonly<P>, state: Readonly<S>): boolean {
    return differs(this.props, next) || differs(this.state, state);
  }

  abstract override render(): ComponentChild;
}

function differs(one: object, other: object): boolean {
  const names = Object.keys(other) as (keyof typeof other)[];
  return Object.keys(one).length !== names.length || names.some((name) => one[name] !== other[name]);
}
