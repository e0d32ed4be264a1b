// An assistant that knows nothing but the address of an MCP server. The library
// does all of the authorization; what is written here is what it leaves to its
// user: to remember, and to send the person to an address.
import { randomUUID } from 'node:crypto'
import { task, visit, endGrants, outlive, finish } from './talk.mjs'

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
  saved = 0

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
    this.saved++
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
}

// assist goes the whole way with one version of the library. codeOf gives what its
// finishAuth wants of the address that the browser came back to.
export async function assist({ Client, StreamableHTTPClientTransport, UnauthorizedError }, codeOf) {
  const memory = new Memory()
  const address = new URL('/mcp', task.mcp)
  const open = () => new StreamableHTTPClientTransport(address, { authProvider: memory })
  const start = () => new Client({ name: 'conformance-assistant', version: '1.0.0' })
  const callLists = async (client) => {
    const result = await client.callTool({ name: 'lists_list', arguments: {} })
    return result.isError !== true && result.structuredContent !== undefined
  }
  const unauthorized = (e) => {
    if (!(e instanceof UnauthorizedError)) throw e
    return false
  }
  const signIn = async (transport) => {
    const back = await visit(memory.asked.at(-1))
    memory.expectState(back)
    await transport.finishAuth(codeOf(back))
  }

  const refused = open()
  await start().connect(refused).catch(unauthorized)
  await signIn(refused)

  const client = start()
  const transport = open()
  await client.connect(transport)
  const server = client.getServerVersion()
  const { tools } = await client.listTools()
  const called = await callLists(client)
  const issued = memory.tokens()

  // An hour is four lifetimes of an access token. The library refreshes when a request is
  // refused, and asks the person only if it cannot.
  let calledForAnHour = true
  for (let i = 0; i < 4; i++) {
    await outlive()
    calledForAnHour &&= await callLists(client)
  }
  const refreshes = memory.saved - 1
  const rotated = memory.tokens().refresh_token !== issued.refresh_token
  const askedInAnHour = memory.asked.length

  await endGrants()
  const calledWithoutGrant = await callLists(client).catch(unauthorized)
  await signIn(transport)
  const calledAgain = await callLists(client)
  await client.close()
  finish({
    client_id: memory.clientInformation().client_id,
    resource: memory.asked[0].searchParams.get('resource'),
    scope: issued.scope,
    server: server.name,
    tools: tools.map((tool) => tool.name).includes('lists_list'),
    called,
    calledForAnHour: calledForAnHour && rotated,
    refreshes,
    askedInAnHour,
    calledWithoutGrant,
    calledAgain,
    asked: memory.asked.length,
  })
}
