/**
 * Brings an element to some markup with as few changes as can be.
 *
 * While an answer streams, its last block changes many times a second. Elements that stay what they are keep
 * the focus, the selection and the place they were scrolled to.
 */
export function morph(element: Element, html: string): void {
  const template = document.createElement("template");
  template.innerHTML = html;
  morphChildren(element, template.content);
}

function morphChildren(target: Node, wanted: Node): void {
  const old = [...target.childNodes];
  const fresh = [...wanted.childNodes];
  fresh.forEach((node, index) => {
    const place = old[index];
    if (place === undefined) {
      target.appendChild(node);
    } else if (!morphNode(place, node)) {
      target.replaceChild(node, place);
    }
  });
  for (const node of old.slice(fresh.length)) {
    target.removeChild(node);
  }
}

/** Whether the node could be made what is wanted. */
function morphNode(target: Node, wanted: Node): boolean {
  if (target instanceof Text && wanted instanceof Text) {
    if (target.data !== wanted.data) {
      growText(target, wanted.data);
    }
    return true;
  }
  if (!(target instanceof Element) || !(wanted instanceof Element) || target.tagName !== wanted.tagName) {
    return false;
  }
  if (target.outerHTML === wanted.outerHTML) {
    return true;
  }
  for (const name of target.getAttributeNames().filter((name) => !wanted.hasAttribute(name))) {
    target.removeAttribute(name);
  }
  for (const name of wanted.getAttributeNames()) {
    const value = wanted.getAttribute(name) ?? "";
    if (target.getAttribute(name) !== value) {
      target.setAttribute(name, value);
    }
  }
  morphChildren(target, wanted);
  return true;
}

/** A selection in a text survives when more is appended to it, and not when it is replaced. */
function growText(target: Text, data: string): void {
  if (data.startsWith(target.data)) {
    target.appendData(data.slice(target.data.length));
  } else {
    target.data = data;
  }
}
