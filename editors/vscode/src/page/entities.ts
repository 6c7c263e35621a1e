/**
 * Stands in the page for the package of this name, of which the Markdown parser wants two functions: the browser
 * knows all named characters already, and their tables would be a quarter of the page.
 */

const area = document.createElement("textarea");

/** Gives the text that a reference such as `&copy;` stands for. A text area never makes elements of it. */
export function decodeHTML(reference: string): string {
  area.innerHTML = reference;
  return area.value;
}

/** The same for one whole reference; of an unknown name nothing is decoded, though it may begin like a known one. */
export function decodeHTMLStrict(reference: string): string {
  const text = decodeHTML(reference);
  return text.endsWith(";") && reference !== "&semi;" ? reference : text;
}
