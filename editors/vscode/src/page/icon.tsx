/** An icon as a part of the view. */

import { iconHtml, type IconName } from "./icons";

export function Icon({ name }: { readonly name: IconName }) {
  return <span class="icon-box" dangerouslySetInnerHTML={{ __html: iconHtml(name) }} />;
}
