// The id of a clause finds its clause: the theme would search for its parts as
// alternatives, and for everything behind a hyphen at the end.
const QUERY = 2; // the theme's SearchMessageType
const post = Worker.prototype.postMessage;

function withWholeIds(query) {
  return query.replace(/"[^"]*"|[a-z]+(?:-[a-z0-9]*)+/gi, (found) => {
    if (found.startsWith('"')) return found;
    const parts = found.split("-").filter(Boolean).map((part) => `+${part}`);
    return parts.join(" ") + (found.endsWith("-") ? "" : "*");
  });
}

Worker.prototype.postMessage = function postQuery(message, ...rest) {
  const isQuery = message?.type === QUERY && typeof message.data === "string";
  const sent = isQuery ? { ...message, data: withWholeIds(message.data) } : message;
  return post.call(this, sent, ...rest);
};
