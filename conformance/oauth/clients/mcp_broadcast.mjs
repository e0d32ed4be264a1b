// An agent on the TypeScript library that takes a message from draft to delivered: the same
// calls as the agent of the test in Go, whose results are reported one by one.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { bearer } from './mcp_agent.mjs'
import { task, finish } from './talk.mjs'

const client = new Client({ name: 'conformance', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(task.mcp), bearer(task.token)))

const seen = {}
for (const { name, as, args, take } of task.calls) {
  const given = { ...args }
  for (const [member, from] of Object.entries(take ?? {})) given[member] = from.reduce((value, step) => value[step], seen)
  const result = await client.callTool({ name, arguments: given })
  seen[as] = result.structuredContent
}
await client.close()
finish(seen)
