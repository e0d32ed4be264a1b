// Package rest is the public API: the operations of a [guardrails.Catalogue] as HTTP routes
// under /v1, and the public documents about them.
//
// # What this package contains
//
// The table of routes (routes.go), the one handler of all routes (call.go), the reading of
// arguments (arguments.go, body.go), the writing of results and errors (answer.go,
// problem.go, headers.go), and the OpenAPI document (openapi.go). Package pull serves the
// fetch host, package docs the documentation.
//
// # What it does not contain
//
// The package decides nothing about an operation: its scopes, arguments and results are
// declared in core and checked in guardrails. The package imports only core and guardrails:
// not storage, not oauth and not tools, the agent endpoint.
//
// # How a request is read
//
//   - Path parameters are percent-decoded exactly once, from the path as it was
//     sent: %2F stays inside its segment, %2540 means the text "%40", and a plus
//     sign is a plus sign.
//   - GET and DELETE take the other arguments from the query, each
//     parameter at most once; integers and booleans are converted as the input
//     schema says. A body is refused.
//   - POST, PUT and PATCH take the other arguments from a JSON object in the body, with the
//     content type application/json or one that ends in +json. A query is
//     refused. The body may repeat a path parameter with the same value only.
//   - A body needs a content type, may not be compressed, and has at most 1 MiB, or
//     what its route says.
//
// # What it requires of the HTTP server
//
// The handler must see the raw path, so no ServeMux that cleans paths may stand in front of
// it. The HTTP server must set ReadHeaderTimeout, ReadTimeout and MaxHeaderBytes, because a
// handler cannot. 64 KiB of headers are enough, because the longest credential has 8 KiB.
// Answers are small and written at once, so WriteTimeout may be short, but it must exceed
// the time limit of calls to the sending account. Imports and exports set deadlines of their own.
package rest
