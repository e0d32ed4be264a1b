// The library of MCP's second generation, which checks iss and the issuer.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { assist } from './mcp_assistant.mjs'

await assist({ Client, StreamableHTTPClientTransport, UnauthorizedError }, (back) => back.searchParams)
