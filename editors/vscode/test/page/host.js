// The host of the harness: it answers nothing and remembers everything.

window.posted = [];
window.sent = 0;
window.addEventListener("message", () => (window.sent += 1));
window.acquireVsCodeApi = () => ({ postMessage: (message) => window.posted.push(message) });
