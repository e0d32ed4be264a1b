// oauth4webapi checks every answer against its RFC and refuses what deviates, so
// that each step that returns here is a statement about the server.
import * as oauth from 'oauth4webapi'
import { finish, task, visit } from './talk.mjs'

const http = { [oauth.allowInsecureRequests]: true } // plain HTTP, on loopback only

const issuer = new URL(task.issuer)
const server = await oauth.processDiscoveryResponse(
  issuer,
  await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http }),
)
const api = new URL(task.api)
const resource = await oauth.processResourceDiscoveryResponse(api, await oauth.resourceDiscoveryRequest(api, http))

const ways = {
  basic: [task.confidential, oauth.ClientSecretBasic(task.confidential.client_secret)],
  post: [task.confidential, oauth.ClientSecretPost(task.confidential.client_secret)],
  none: [task.public, oauth.None()],
}
const [client, authentication] = ways[task.way]

async function authorize() {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const address = new URL(server.authorization_endpoint)
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: client.redirect_uri,
    scope: task.scope,
    resource: resource.resource,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  // Checks state and, because the server's metadata announces it, iss.
  const answer = oauth.validateAuthResponse(server, client, await visit(address), state)
  const response = await oauth.authorizationCodeGrantRequest(
    server, client, authentication, answer, client.redirect_uri, verifier,
    { additionalParameters: { resource: resource.resource }, ...http },
  )
  return oauth.processAuthorizationCodeResponse(server, client, response)
}

async function refresh(token) {
  const response = await oauth.refreshTokenGrantRequest(server, client, authentication, token, http)
  return oauth.processRefreshTokenResponse(server, client, response)
}

async function revoke(token) {
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, authentication, token, http))
}

async function credentials(target) {
  const [machine, secret] = task.way === 'none' ? ways.basic : ways[task.way]
  const response = await oauth.clientCredentialsGrantRequest(server, machine, secret, { resource: target, scope: task.scope }, http)
  return oauth.processClientCredentialsResponse(server, machine, response)
}

// call asks the API with a token; a challenge comes as an error of the library.
async function call(token) {
  try {
    const answer = await oauth.protectedResourceRequest(token, 'GET', new URL('/v1/lists', api), undefined, undefined, http)
    return answer.status
  } catch (e) {
    if (!(e instanceof oauth.WWWAuthenticateChallengeError)) throw e
    return `${e.status} ${e.cause[0].parameters.error}`
  }
}

async function errorOf(attempt) {
  try {
    await attempt
  } catch (e) {
    return e.error ?? String(e)
  }
  return 'none'
}

// asResource judges a token as a resource server would (RFC 9068).
async function asResource(token) {
  const request = new Request(api, { headers: { authorization: `Bearer ${token}` } })
  return oauth.validateJwtAccessToken(server, request, task.api, http)
}

const first = await authorize()
const claims = await asResource(first.access_token)
const second = await refresh(first.refresh_token)
const seen = {
  scope: first.scope,
  audience: claims.aud,
  rotated: second.refresh_token !== first.refresh_token && second.access_token !== first.access_token,
  call: await call(second.access_token),
}
await revoke(second.access_token)
seen.callWithRevoked = await call(second.access_token)

const third = await authorize()
await revoke(third.refresh_token)
seen.refreshWithRevoked = await errorOf(refresh(third.refresh_token))
seen.callAfterRevocation = await call(third.access_token)

const machine = await credentials(task.api)
seen.machineCall = await call(machine.access_token)
seen.machineRefreshes = machine.refresh_token !== undefined
seen.tokenOfAnotherResource = await call((await credentials(task.mcp)).access_token)
seen.unknownResource = await errorOf(credentials('https://elsewhere.example'))
finish(seen)
