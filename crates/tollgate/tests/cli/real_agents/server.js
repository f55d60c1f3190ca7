// A server of one tool, for agents that can be given some: the smallest that the Model Context Protocol allows.
const answers = {
  initialize: (params) => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "probe", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "zebra_tool", description: "Does nothing.", inputSchema: { type: "object", properties: {} } }] }),
  ping: () => ({}),
};
let rest = "";
process.stdin.on("data", (bytes) => {
  const lines = (rest + bytes).split("\n");
  rest = lines.pop();
  for (const line of lines.filter((line) => line.trim())) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const answer = answers[method];
    const body = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: `no ${method}` } };
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...body }) + "\n");
  }
});
process.stdin.on("end", () => process.exit(0));
