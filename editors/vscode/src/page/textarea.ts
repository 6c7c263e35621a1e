/** Makes a text area as high as its text; the style sheet says how high it may become. */
export function fitHeight(area: HTMLTextAreaElement): void {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}
