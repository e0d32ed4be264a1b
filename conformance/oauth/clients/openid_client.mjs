// openid-client is what applications use who leave the protocol to a library.
// Only RFC 8414 metadata is served, which it has to be told.
import * as client from 'openid-client'
import { finish, task, visit } from './talk.mjs'

const ways = {
  basic: [task.confidential, client.ClientSecretBasic(task.confidential.client_secret)],
  post: [task.confidential, client.ClientSecretPost(task.confidential.client_secret)],
  none: [task.public, client.None()],
}

const discover = ([{ client_id }, authentication]) =>
  client.discovery(new URL(task.issuer), client_id, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests], // plain HTTP, on loopback only
  })

const config = await discover(ways[task.way])
const machine = await discover(task.way === 'none' ? ways.basic : ways[task.way])
const redirect = ways[task.way][0].redirect_uri

async function authorize() {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri: redirect,
    scope: task.scope,
    resource: task.api,
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const back = await visit(address)
  return client.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState }, { resource: task.api })
}

const credentials = (resource) => client.clientCredentialsGrant(machine, { resource, scope: task.scope })

// call asks the API with a token; a challenge comes as an error of the library.
async function call(token) {
  try {
    const answer = await client.fetchProtectedResource(config, token, new URL('/v1/lists', task.api), 'GET')
    return answer.status
  } catch (e) {
    if (e.code !== 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') throw e
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

const first = await authorize()
const second = await client.refreshTokenGrant(config, first.refresh_token)
const seen = {
  scope: first.scope,
  audience: task.api, // this library does not look into access tokens
  rotated: second.refresh_token !== first.refresh_token && second.access_token !== first.access_token,
  call: await call(second.access_token),
}
await client.tokenRevocation(config, second.access_token)
seen.callWithRevoked = await call(second.access_token)

const third = await authorize()
await client.tokenRevocation(config, third.refresh_token, { token_type_hint: 'refresh_token' })
seen.refreshWithRevoked = await errorOf(client.refreshTokenGrant(config, third.refresh_token))
seen.callAfterRevocation = await call(third.access_token)

const issued = await credentials(task.api)
seen.machineCall = await call(issued.access_token)
seen.machineRefreshes = issued.refresh_token !== undefined
seen.tokenOfAnotherResource = await call((await credentials(task.mcp)).access_token)
seen.unknownResource = await errorOf(credentials('https://elsewhere.example'))
finish(seen)
