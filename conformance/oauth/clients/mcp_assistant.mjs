// An assistant that knows nothing but the address of an MCP server. The library
// does all of the authorization; what is written here is what it leaves to its
// user: to remember, and to send the person to an address.
import { randomUUID } from 'node:crypto'
import { task, visit, endGrants, finish } from './talk.mjs'

// Memory is an OAuthClientProvider that keeps everything in this process.
class Memory {
  redirectUrl = task.redirect_uri
  clientMetadata = {
    client_name: 'Conformance assistant',
    redirect_uris: [task.redirect_uri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  // With an address the library uses it as the client's id; with neither an
  // address nor an id it registers.
  clientMetadataUrl = task.client_metadata_url
  #client = task.client_id && { client_id: task.client_id }
  #tokens
  #verifier
  #state
  #discovery
  asked = []

  state() {
    this.#state = randomUUID()
    return this.#state
  }
  clientInformation() {
    return this.#client
  }
  saveClientInformation(client) {
    this.#client = client
  }
  tokens() {
    return this.#tokens
  }
  saveTokens(tokens) {
    this.#tokens = tokens
  }
  saveCodeVerifier(verifier) {
    this.#verifier = verifier
  }
  codeVerifier() {
    return this.#verifier
  }
  saveDiscoveryState(discovery) {
    this.#discovery = discovery
  }
  discoveryState() {
    return this.#discovery
  }
  redirectToAuthorization(address) {
    this.asked.push(address)
  }
  invalidateCredentials(which) {
    if (which === 'tokens' || which === 'all') this.#tokens = undefined
  }
  expectState(back) {
    if (back.searchParams.get('state') !== this.#state) throw new Error('the state is another one')
  }
  // forgetAccess makes the next request fail as with an access token that is over.
  forgetAccess() {
    this.#tokens = { ...this.#tokens, access_token: 'over' }
  }
}

// assist goes the whole way with one version of the library. codeOf gives what its
// finishAuth wants of the address that the browser came back to.
export async function assist({ Client, StreamableHTTPClientTransport, UnauthorizedError }, codeOf) {
  const memory = new Memory()
  const address = new URL('/mcp', task.mcp)
  const open = () => new StreamableHTTPClientTransport(address, { authProvider: memory })
  const start = () => new Client({ name: 'conformance-assistant', version: '1.0.0' })
  const callLists = (client) => client.callTool({ name: 'lists_list', arguments: {} })
  const unauthorized = (e) => {
    if (!(e instanceof UnauthorizedError)) throw e
  }

  const refused = open()
  await start().connect(refused).catch(unauthorized)
  const back = await visit(memory.asked[0])
  memory.expectState(back)
  await refused.finishAuth(codeOf(back))

  const client = start()
  await client.connect(open())
  const server = client.getServerVersion()
  const { tools } = await client.listTools()
  const result = await callLists(client)
  const issued = memory.tokens()

  memory.forgetAccess()
  const afterRefresh = await callLists(client)
  const rotated = memory.tokens().refresh_token !== issued.refresh_token

  await endGrants()
  await callLists(client).catch(unauthorized)
  await client.close()
  finish({
    client_id: memory.clientInformation().client_id,
    resource: memory.asked[0].searchParams.get('resource'),
    scope: issued.scope,
    server: server.name,
    tools: tools.map((tool) => tool.name).includes('lists_list'),
    called: result.isError !== true && result.structuredContent !== undefined,
    calledAfterRefresh: afterRefresh.isError !== true && rotated,
    askedAgain: memory.asked.length === 2,
  })
}
