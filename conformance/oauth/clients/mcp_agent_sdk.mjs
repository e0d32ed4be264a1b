// The library of MCP's first generation asks for the newest revision it knows and
// takes what the server answers, so an older one is asked for underneath it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { bearer, work } from './mcp_agent.mjs'

class AskingFor extends StreamableHTTPClientTransport {
  constructor(revision, ...rest) {
    super(...rest)
    this.revision = revision
  }
  send(message, options) {
    if (message.method !== 'initialize') return super.send(message, options)
    return super.send({ ...message, params: { ...message.params, protocolVersion: this.revision } }, options)
  }
}

await work(async ({ address, token, revision, forms }) => {
  const client = new Client({ name: 'conformance', version: '1.0.0' }, { capabilities: forms ? { elicitation: {} } : {} })
  if (forms) client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { confirm: true } }))
  const transport = new AskingFor(revision, address, bearer(token))
  await client.connect(transport)
  return { client, agreed: () => transport.protocolVersion }
})
