// A section is found by all words of a query: the theme would search for any of them.
// So does the id of a clause, whose parts are words.
const QUERY = 2; // the theme's SearchMessageType
const post = Worker.prototype.postMessage;

function withAllWords(query) {
  return query.replace(/"[^"]*"|[^\s"]+/g, (found) => {
    if (/^["+-]/.test(found)) return found;
    const parts = found.split(/[-_#.]+/).filter(Boolean).map((part) => `+${part}`);
    // The last part may still be typed.
    return parts.join(" ") + (/[-_#.*]$/.test(found) ? "" : "*");
  });
}

Worker.prototype.postMessage = function postQuery(message, ...rest) {
  const isQuery = message?.type === QUERY && typeof message.data === "string";
  const sent = isQuery ? { ...message, data: withAllWords(message.data) } : message;
  return post.call(this, sent, ...rest);
};
