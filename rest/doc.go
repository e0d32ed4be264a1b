// Package rest is the public API: the operations of a [guardrails.Catalogue] as
// HTTP routes under /v1, and the two documents that describe them.
//
// # What this package owns
//
// The table of routes (routes.go), the one handler of all routes (call.go), the reading of
// arguments (arguments.go, body.go), the writing of results and refusals (answer.go,
// problem.go, headers.go), and the OpenAPI document (openapi.go). The fetch host is in pull, the served
// documentation in docs.
//
// # What it does not
//
// It decides nothing about an operation: its scopes, arguments and results are declared in
// core and checked in guardrails. It imports no storage and neither of the other surfaces.
//
// # How a request is read
//
//   - Path parameters are percent-decoded exactly once, from the path as it was
//     sent: %2F stays inside its segment, %2540 means the text "%40", and a plus
//     sign is a plus sign.
//   - GET and DELETE take the rest of their arguments from the query, each
//     parameter at most once; integers and booleans are converted as the input
//     schema says. A body is refused.
//   - POST, PUT and PATCH take the rest from a JSON object in the body, with the
//     content type application/json or one that ends in +json. A query is
//     refused. A member of the path may be repeated with the same value only.
//   - A body needs a content type, may not be compressed, and has at most 1 MiB, or
//     what its route says.
//
// # What it expects of the HTTP server
//
// The handler must see the raw path: no ServeMux that cleans paths may stand in front of it. The server in front sets ReadHeaderTimeout, ReadTimeout and
// MaxHeaderBytes (64 KiB is plenty: the longest credential has 8), because a
// handler cannot. Answers are small and written at once, so WriteTimeout may be short, but it
// must exceed the sending account's deadline.
package rest
