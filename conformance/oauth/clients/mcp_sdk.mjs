// The library of MCP's first generation. It does not look at iss.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { assist } from './mcp_assistant.mjs'

await assist({ Client, StreamableHTTPClientTransport, UnauthorizedError }, (back) => back.searchParams.get('code'))
