// Which curves are looked at: how far back they go, and of which shard.
export const chosen = {span: "15m", shard: ""};

export const historyPath = proxy => `v1/history?span=${chosen.span}${proxy ? "&proxy=" + encodeURIComponent(proxy) : ""}`;
