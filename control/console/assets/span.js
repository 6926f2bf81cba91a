// What the charts show: how far back they go, which shard, which scale, and which part of the span.
export const chosen = {span: "15m", shard: "", scale: "linear", from: 0, to: 0}; // from and to are times in milliseconds; 0: the whole span

export const spans = {"15m": "15 min", "1h": "1 h", "24h": "24 h"};

export const historyPath = proxy => `v1/history?span=${chosen.span}${proxy ? "&proxy=" + encodeURIComponent(proxy) : ""}`;

// show selects a part of the span. A part that is too short to see is none.
export function show(from, to) { Object.assign(chosen, to - from >= 5000 ? {from, to} : {from: 0, to: 0}); }
