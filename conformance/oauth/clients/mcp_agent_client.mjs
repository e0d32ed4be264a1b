// The library of MCP's second generation speaks all revisions: the newest by
// asking the server first, the others by the handshake.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { bearer, work } from './mcp_agent.mjs'

const newest = '2026-07-28'

await work(async ({ address, token, revision, forms }) => {
  const client = new Client({ name: 'conformance', version: '1.0.0' }, {
    capabilities: forms ? { elicitation: { form: {} } } : {},
    ...(revision === newest ? { versionNegotiation: { mode: { pin: newest } } } : { supportedProtocolVersions: [revision] }),
  })
  if (forms) client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { confirm: true } }))
  const transport = new StreamableHTTPClientTransport(address, bearer(token))
  await client.connect(transport)
  return { client, agreed: () => client.getNegotiatedProtocolVersion() }
})
